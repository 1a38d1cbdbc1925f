import type { ClassOrBand } from './classes.ts'
import type { Ledger } from './ledger.ts'
import type { Decisions } from './model.ts'
import type { PoolState } from './state.ts'

export interface Planned {
  state: PoolState
  ledger: Ledger
}

/** Decisions that are planned together and committed in one transaction. */
export interface Round extends Planned {
  decisions: Decisions
  /** Classes for which this round evicts runs: at most one eviction per class and round. */
  evicting: Set<ClassOrBand>
  /** Number of jobs that did not fit beside the drain hold of their class. */
  backfills: Map<ClassOrBand, number>
  isRehearsal: boolean
}

export const newRound = ({ state, ledger }: Planned, isRehearsal: boolean): Round => ({
  state,
  ledger,
  decisions: {
    starts: [],
    evictions: [],
    holds: { put: [], drop: [] },
    refused: [],
    needs: [],
    considered: 0,
    nextMs: null,
  },
  evicting: new Set(),
  backfills: new Map(),
  isRehearsal,
})
