import type { ClassOrBand } from './classes.ts'
import type { Ledger } from './ledger.ts'
import type { Decisions } from './model.ts'
import type { PoolState } from './state.ts'

/** What a round works on: the state, and the ledger that takes its decisions. */
export interface Planned {
  state: PoolState
  ledger: Ledger
}

/**
 * One round of decisions: planned at once, committed in one transaction. A pass of the planner is as many rounds as it
 * takes until nothing is left to decide.
 */
export interface Round extends Planned {
  decisions: Decisions
  /** Classes with a chosen set of victims: at most one eviction per class and round. */
  evicting: Set<ClassOrBand>
  /** Number of jobs by class for which no nodes were found beside the hold. */
  backfills: Map<ClassOrBand, number>
  /** Nothing is evicted, held or refused, and all of it is taken back. */
  isRehearsal: boolean
}

export const newRound = ({ state, ledger }: Planned, isRehearsal: boolean): Round => ({
  state,
  ledger,
  decisions: noDecisions(),
  evicting: new Set(),
  backfills: new Map(),
  isRehearsal,
})

const noDecisions = (): Decisions => ({
  starts: [],
  evictions: [],
  holds: { put: [], drop: [] },
  refused: [],
  needs: [],
  considered: 0,
  nextMs: null,
})
