import type { LimitReached } from '../../domain/limits/in-use.ts'
import type { Reason } from '../../domain/reason.ts'
import type { LaneWindow } from './lane-window.ts'
import type { PoolState } from './state.ts'

/**
 * A finding is the reason why the head of a lane cannot start. The planner then parks the lane, or the head closes its
 * class. A finding is not committed or undone; it lasts until its cause changes.
 */

export function parkLane(state: PoolState, window: LaneWindow, { lot, reason }: { lot: string; reason: Reason }): void {
  state.order.park(window, lot)
  explainWait(state, window, reason)
}

export function parkOnLimit(
  state: PoolState,
  window: LaneWindow,
  { limit, reason }: { limit: LimitReached; reason: Reason },
): void {
  state.order.parkOnLimit(window, limit)
  explainWait(state, window, reason)
}

export function explainWait(state: PoolState, window: LaneWindow, reason: Reason | null): void {
  state.touched.lane(window)
  window.reason = reason
  window.consideredMs = state.nowMs
}
