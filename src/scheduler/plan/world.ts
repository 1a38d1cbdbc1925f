import { drain } from './drain.ts'
import { applyChanges, applyStart, refill } from './hearing.ts'
import type { ReceivedChanges, ViewChanges } from './leader-store.ts'
import { Ledger } from './ledger.ts'
import type { Snapshot, Start, Verdict, Waiting } from './model.ts'
import { PoolState } from './state.ts'
import { type Candidate, tryOut } from './trial.ts'
import { PublishedRows } from './views.ts'

export class World {
  readonly state: PoolState
  readonly ledger: Ledger
  private readonly shown = new PublishedRows()

  constructor(snapshot: Snapshot) {
    this.state = new PoolState(snapshot)
    this.ledger = new Ledger(this.state)
  }

  hear(heard: ReceivedChanges): void {
    applyChanges(this.state, heard)
  }

  refill(first: ReadonlyMap<string, readonly Waiting[]>): void {
    refill(this.state, first)
  }

  started(start: Start, sinceMs: number): void {
    applyStart(this.state, start, sinceMs)
  }

  tryOut(candidate: Candidate): Verdict {
    return tryOut(this, candidate)
  }

  views(): ViewChanges {
    return this.shown.changes(this.state)
  }
}

export const createWorld = (snapshot: Snapshot): World => drain(buildWorld(snapshot))

/** Yields between steps, because a large pool takes a while. */
export function* buildWorld(snapshot: Snapshot): Generator<void, World> {
  const world = new World(snapshot)
  yield* world.state.fill(snapshot)
  return world
}
