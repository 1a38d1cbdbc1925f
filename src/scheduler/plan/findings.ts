import type { LimitReached } from '../../domain/limits/limit-reached.ts'
import type { Reason } from '../../domain/reason.ts'
import type { LaneWindow } from './lane-window.ts'
import { lots } from './order.ts'
import { computeRation, unlimited } from './rations.ts'
import type { PoolState } from './state.ts'

/**
 * A finding is the reason why the head of a lane cannot start. The planner then parks the lane. A finding is not
 * committed or undone; it lasts until its cause changes.
 */

export function parkLane(state: PoolState, window: LaneWindow, { lot, reason }: { lot: string; reason: Reason }): void {
  state.order.park(window, lot)
  explainWait(state, window, reason)
}

/**
 * `alone`: parks only this lane. Lanes with a limit of a GPU model and interactive lanes are always parked alone. The
 * others of the same kind are parked together: if the first may evict no runs, neither may those behind it, whose shares
 * are greater.
 */
export function parkForCapacity(
  state: PoolState,
  window: LaneWindow,
  { reason, alone }: { reason: Reason; alone: boolean },
): void {
  parkLane(state, window, { lot: alone || isAlone(state, window) ? lots.alone : lots.alike(window), reason })
}

export const isAlone = (state: PoolState, window: LaneWindow): boolean =>
  window.lane.interactive || computeRation(state, window) !== unlimited

export function parkOnLimit(
  state: PoolState,
  window: LaneWindow,
  { limit, reason }: { limit: LimitReached; reason: Reason },
): void {
  state.order.parkOnLimit(window, limit)
  explainWait(state, window, reason)
}

function explainWait(state: PoolState, window: LaneWindow, reason: Reason): void {
  state.touched.lane(window)
  window.reason = reason
  window.consideredMs = state.nowMs
}
