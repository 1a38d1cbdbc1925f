import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import type { Time } from '../../platform/clock.ts'
import type { Engine } from './engine.ts'
import type { Inspected } from './observation.ts'

/** From moments of the engine's clock to moments of the database's: the engine is asked what time it has now. */
export async function readEngineTime(engine: Engine, time: Time): Promise<(engineMs: number) => Date> {
  const { SystemTime: now } = await engine.get<{ SystemTime: string }>('/info')
  const aheadMs = Date.parse(now) - time.nowMs()
  return (engineMs) => new Date(engineMs - aheadMs)
}

/**
 * When a container began, by seconds since the machine started: a clock that is set does not change them. null: its process
 * is not of this machine, or over.
 */
export async function readStart({ State: { Pid: pid } }: Inspected, time: Time): Promise<Date | null> {
  if (pid <= 0) return null
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  const ticks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[fieldOfStart]
  if (ticks === undefined) return null
  return new Date(time.nowMs() - (uptime() - Number(ticks) / ticksPerSecond) * 1000)
}

/** Counted from the state of the process, the first field behind its name. */
const fieldOfStart = 19
/** Linux tells user space 100, whatever the kernel counts with. */
const ticksPerSecond = 100
