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
  isRehearsal: boolean
}

export const createRound = ({ state, ledger }: Planned, isRehearsal: boolean): Round => ({
  state,
  ledger,
  decisions: { starts: [], evictions: [], dropped: [], refused: [], needs: [], considered: 0, nextMs: null },
  isRehearsal,
})
