import type { Domain } from '../../domain/domain.ts'
import { countMachines, type MachineCounts } from '../../domain/machines/counts.ts'
import { createLoop, type Loop } from '../../platform/loop.ts'

/** Numbers of existing objects of kinds with few objects, which bound the cost of a list. */
export type Existing = Readonly<MachineCounts>

/** Used before the first count: a list costs as much as one object. */
export const initialCounts: Existing = {
  pools: 1,
  submissionQueues: 1,
  nodesPerPool: 1,
  gpus: 1,
  gpusPerNode: 1,
}

const pollMs = 30_000

/** Counts objects periodically, so that computing the cost of a document needs no SQL statement. */
export class ExistingCounts {
  readonly #loop: Loop
  #counts = initialCounts

  constructor({ db, clock, log }: Domain) {
    const runOnce = async () => {
      this.#counts = await countMachines(db.sql)
    }
    this.#loop = createLoop({ name: 'existing counts', pollMs, runOnce, clock, log })
  }

  get counts(): Existing {
    return this.#counts
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }
}
