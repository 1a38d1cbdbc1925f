import type { ViewChanges } from '../store.ts'
import type { Snapshot, Verdict } from './model.ts'
import { PoolState } from './state.ts'
import { type Candidate, tryOut } from './trial.ts'
import { Shown } from './views.ts'

export type { Candidate } from './trial.ts'

/** What the leader of a pool keeps for a term. Decisions over it: pass.ts. */
export class World extends PoolState {
  private readonly shown = new Shown()

  /** What would become of the job at its ordinary place, now; nothing is changed. */
  tryOut(candidate: Candidate): Verdict {
    return tryOut(this, candidate)
  }

  /** Rows that changed since the last call. */
  views(): ViewChanges {
    return this.shown.changes(this)
  }
}

export const createWorld = (snapshot: Snapshot): World => new World(snapshot)
