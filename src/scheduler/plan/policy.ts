import { effectivePriority, nextRiseMs } from '../../domain/ageing.ts'
import type { Accounts } from './accounts.ts'
import { compareFractions } from './fractions.ts'
import { compareHeads, type LaneWindow } from './lane-window.ts'

/** Decides which lane is first. The order inside a lane never changes. */
export interface OrderingPolicy {
  /** Lanes of one group keep their order when the use of other groups changes. */
  groupOf(lane: LaneWindow): string
  /** Negative: `a` comes before `b`. Both have a head. */
  compare(a: LaneWindow, b: LaneWindow): number
  /** Updates the priority of the head; returns when time changes it next, null: never. */
  age(lane: LaneWindow, nowMs: number): number | null
}

/** The order of interactive jobs under every policy. */
export const interactivePolicy: OrderingPolicy = { groupOf: () => '', compare: compareHeads, age: () => null }

/** The account with the smallest share first, of equal ones the account that was served longest ago. */
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

/** The higher priority first, raised by waiting (domain/ageing.ts). */
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
