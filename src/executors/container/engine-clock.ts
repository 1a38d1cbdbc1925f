import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import type { Time } from '../../platform/clock.ts'
import type { Engine } from './engine.ts'
import type { Inspected } from './observation.ts'

/** Returns the function that converts times of the engine's clock to database time, from the engine's present time. */
export async function readEngineTime(engine: Engine, time: Time): Promise<(engineMs: number) => Date> {
  const { SystemTime: now } = await engine.get<{ SystemTime: string }>('/info')
  engine.checkAnswer(!Number.isNaN(Date.parse(now)), '/info')
  const aheadMs = Date.parse(now) - time.nowMs()
  return (engineMs) => new Date(engineMs - aheadMs)
}

/**
 * The start time of a container, computed from the uptime at its start, so that setting a clock does not change it.
 * null: unknown. The process is another one if the engine runs in another machine or pid namespace: then its cgroup
 * does not name the container.
 */
export async function readStart({ Id: id, State: { Pid: pid } }: Inspected, time: Time): Promise<Date | null> {
  if (pid <= 0) return null
  const [stat, cgroup] = await Promise.all(
    ['stat', 'cgroup'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => null)),
  )
  if (!cgroup?.includes(id)) return null
  const ticks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[fieldOfStart]
  if (ticks === undefined) return null
  return new Date(time.nowMs() - (uptime() - Number(ticks) / ticksPerSecond) * 1000)
}

const fieldOfStart = 19
/** Clock ticks as Linux shows them to programs: always 100, whatever the tick rate of the kernel. */
const ticksPerSecond = 100
