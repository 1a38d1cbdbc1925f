import { availableParallelism, loadavg } from 'node:os'

/** A fault, repeated under a seed, and what must hold. The promise rejects if that does not hold. */
export interface Scenario {
  name: string
  run(context: {
    seed: number
    seconds: number
    /** true: the promised size; false: a size that takes a minute. */
    isFull: boolean
    log(line: string): void
  }): Promise<void>
}

/** Thrown by a scenario that cannot run here; the message names what is missing. */
export class Skipped extends Error {
  override name = 'Skipped'
}

/** Number of processes per core that a scenario itself starts. */
const ownLoad = 2

/** Scales a time limit of an idle machine by the load of this one. Returns whole milliseconds, which timers need. */
export function scaleByLoad(ms: number): number {
  const [load = 0] = loadavg()
  return Math.ceil(ms * Math.max(1, load / (ownLoad * availableParallelism())))
}
