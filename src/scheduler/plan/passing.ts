import type { ClassOrBand } from './classes.ts'
import type { Decisions } from './model.ts'
import type { PoolState } from './state.ts'

export interface Pass {
  state: PoolState
  decisions: Decisions
  /** Classes for one of whose jobs somebody was told to leave: one plan of that kind per class and pass. */
  evicting: Set<ClassOrBand>
  /** Jobs that found no place beside the hold of their class. */
  backfills: Map<ClassOrBand, number>
  isRehearsal: boolean
}
