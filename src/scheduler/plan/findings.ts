import type { LimitReached } from '../../domain/limits/in-use.ts'
import type { Reason } from '../../domain/reason.ts'
import type { LaneWindow } from './lane-window.ts'
import type { JobClass } from './model.ts'
import type { Closure } from './order.ts'
import type { PoolState } from './state.ts'

/**
 * A finding says why the head of a lane cannot start: its lane is parked, or it closes its class. A finding is not a
 * decision: it is neither committed nor undone, and lasts until its cause changes.
 */

/** Parks the lane until the cause that the lot names changes. */
export function park(state: PoolState, window: LaneWindow, { lot, reason }: { lot: string; reason: Reason }): void {
  state.order.park(window, lot)
  explain(state, window, reason)
}

export function parkOnLimit(
  state: PoolState,
  window: LaneWindow,
  { limit, reason }: { limit: LimitReached; reason: Reason },
): void {
  state.order.parkOnLimit(window, limit)
  explain(state, window, reason)
}

/** Makes the class wait behind the head of this lane. */
export function addClosure(state: PoolState, jobClass: JobClass, closure: Closure): void {
  state.order.close(jobClass, closure)
  explain(state, closure.lane, null)
}

function explain(state: PoolState, window: LaneWindow, reason: Reason | null): void {
  state.touched.lane(window)
  window.reason = reason
  window.consideredMs = state.nowMs
}
