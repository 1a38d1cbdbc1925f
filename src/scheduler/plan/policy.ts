import { effectivePriority, nextRiseMs } from '../../domain/ageing.ts'
import type { Accounts } from './accounts.ts'
import { compareFractions } from './fractions.ts'
import { compareHeads, type LaneWindow } from './lane-window.ts'

/** Orders lanes by their heads. The order inside a lane never changes. */
export interface OrderingPolicy {
  /** The group of the lane. Lanes of one group keep their order when the use of other groups changes. */
  groupOf(lane: LaneWindow): string
  /** Returns a negative number if `a` comes before `b`. Both lanes have a head. */
  compare(a: LaneWindow, b: LaneWindow): number
  /** Updates the priority of the head. Returns the time at which waiting raises the priority again; null: never. */
  age(lane: LaneWindow, nowMs: number): number | null
}

/** Orders interactive jobs, under every policy. */
export const interactivePolicy: OrderingPolicy = { groupOf: () => '', compare: compareHeads, age: () => null }

/**
 * The account with the smallest share comes first. Among equal shares, the account whose last start is longest ago
 * comes first.
 */
export const fairShare = (accounts: Accounts): OrderingPolicy => ({
  groupOf: ({ lane }) => lane.account,
  compare(a, b) {
    const [one, other] = [a.lane.account, b.lane.account]
    if (one === other) return compareHeads(a, b)
    return (
      compareFractions(accounts.share(one), accounts.share(other)) ||
      accounts.service.compare(one, other) ||
      compareHeads(a, b)
    )
  },
  age: () => null,
})

/** The highest priority comes first, where waiting raises priorities (domain/ageing.ts). */
export const priority = (thresholdMs: number): OrderingPolicy => ({
  groupOf: () => '',
  compare: (a, b) => b.effective - a.effective || compareHeads(a, b),
  age(window, nowMs) {
    const { lane, head } = window
    const { priority: band, overridden } = lane
    const ageing = { band, overridden, open: head !== undefined, sinceMs: head?.sinceMs ?? 0 }
    window.effective = effectivePriority(ageing, { nowMs, thresholdMs })
    return nextRiseMs(ageing, { nowMs, thresholdMs })
  },
})
