import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import type { Time } from '../../platform/clock.ts'
import type { Engine } from './engine.ts'
import type { Inspected } from './observation.ts'

/** Converts moments of the engine's clock to database time, by the engine's present time. */
export async function readEngineTime(engine: Engine, time: Time): Promise<(engineMs: number) => Date> {
  const { SystemTime: now } = await engine.get<{ SystemTime: string }>('/info')
  engine.checkAnswer(!Number.isNaN(Date.parse(now)), '/info')
  const aheadMs = Date.parse(now) - time.nowMs()
  return (engineMs) => new Date(engineMs - aheadMs)
}

/** When a container began, by the time since the machine started, which setting a clock does not change. null: unknown. */
export async function readStart({ State: { Pid: pid } }: Inspected, time: Time): Promise<Date | null> {
  if (pid <= 0) return null
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  const ticks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[fieldOfStart]
  if (ticks === undefined) return null
  return new Date(time.nowMs() - (uptime() - Number(ticks) / ticksPerSecond) * 1000)
}

const fieldOfStart = 19
/** Linux shows 100 to user space, for every tick rate of the kernel. */
const ticksPerSecond = 100
