import { availableParallelism, loadavg } from 'node:os'

/** One thing that goes wrong, again and again under a seed, and what must hold. It rejects when that did not hold. */
export interface Scenario {
  name: string
  run(context: {
    seed: number
    seconds: number
    /** In the size that is promised; else in one that takes a minute. */
    isFull: boolean
    log(line: string): void
  }): Promise<void>
}

/** Thrown by a scenario that cannot run here; the message names what is absent. */
export class Skipped extends Error {
  override name = 'Skipped'
}

/** Processes for each core that a scenario makes itself. */
const ownLoad = 2

/**
 * A limit of a quiet machine, as long as it takes on one that has more to do; whole milliseconds, as timers want them.
 */
export function here(ms: number): number {
  const [load = 0] = loadavg()
  return Math.ceil(ms * Math.max(1, load / (ownLoad * availableParallelism())))
}
