import type { ClassOrBand } from './classes.ts'
import type { Ledger } from './ledger.ts'
import type { Decisions } from './model.ts'
import type { PoolState } from './state.ts'

/** The state, and the ledger for decisions about it. */
export interface Planned {
  state: PoolState
  ledger: Ledger
}

/**
 * One round of decisions: planned together, committed in one transaction. A pass of the planner repeats rounds until
 * no decision is left.
 */
export interface Round extends Planned {
  decisions: Decisions
  /** Classes with a chosen set of victims: at most one eviction per class and round. */
  evicting: Set<ClassOrBand>
  /** Number of jobs by class without nodes beside the hold. */
  backfills: Map<ClassOrBand, number>
  /** No job is evicted, held or refused, and the round is undone. */
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
