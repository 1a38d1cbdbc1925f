import { compareHeads, type LaneWindow } from './lanes.ts'
import type { OrderingPolicy } from './policy.ts'

const boost = 10
const boostedMax = 30

/**
 * The higher level first, then who submitted first. Waiting raises a head by 10 for every threshold it has waited, up to
 * 30; what somebody set instead of the level neither rises nor falls.
 */
export function priority(thresholdMs: number): OrderingPolicy {
  return {
    groupOf: () => '',
    compare: (a, b) => b.effective - a.effective || compareHeads(a, b),
    age(window, nowMs) {
      const { lane, head } = window
      const steps = head ? boostsOf(window, { sinceMs: head.sinceMs, nowMs, thresholdMs }) : 0
      window.effective = steps === 0 ? lane.priority : Math.min(boostedMax, lane.priority + steps * boost)
      const rises = head && thresholdMs > 0 && !lane.overridden && window.effective < boostedMax
      return rises ? head.sinceMs + (steps + 1) * thresholdMs : null
    },
  }
}

function boostsOf(
  { lane }: LaneWindow,
  { sinceMs, nowMs, thresholdMs }: { sinceMs: number; nowMs: number; thresholdMs: number },
): number {
  if (thresholdMs <= 0 || lane.overridden || lane.priority >= boostedMax) return 0
  return Math.max(0, Math.floor((nowMs - sinceMs) / thresholdMs))
}
