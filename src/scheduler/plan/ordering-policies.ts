import { computeEffectivePriority, findNextRiseMs } from '../../domain/ageing.ts'
import type { Accounts } from './accounts.ts'
import { compareHeads, type LaneWindow } from './lane-window.ts'
import { findPartingNodes } from './share-tree.ts'

/** Orders lanes by their heads. The order inside a lane never changes. */
export interface OrderingPolicy {
  /** Returns the path by which the lane is sorted. Lanes of one node keep their order when other nodes change. */
  pathOf(lane: LaneWindow): readonly string[]
  /** Returns a negative number if `a` comes before `b`. Both lanes have a head. */
  compare(a: LaneWindow, b: LaneWindow): number
  /** Updates the priority of the head. Returns the time at which waiting raises the priority again; null: never. */
  age(lane: LaneWindow, nowMs: number): number | null
}

export const interactivePolicy: OrderingPolicy = { pathOf: () => [], compare: compareHeads, age: () => null }

/**
 * At the first nodes of the tree that differ, the one with the smallest share comes first. Among equal shares, the one
 * whose last start is longest ago comes first. Bids order the jobs of one person, and nodes without any start so far.
 */
export const createFairShare = (accounts: Accounts): OrderingPolicy => ({
  pathOf: ({ path }) => path,
  compare(a, b) {
    const parting = findPartingNodes(a.path, b.path)
    if (!parting) return compareHeads(a, b)
    return accounts.compare(...parting) || compareHeads(a, b)
  },
  age: () => null,
})

/** The highest priority comes first, where waiting raises priorities (domain/ageing.ts). */
export const createPriority = (thresholdMs: number): OrderingPolicy => ({
  pathOf: () => [],
  compare: (a, b) => b.effective - a.effective || compareHeads(a, b),
  age(window, nowMs) {
    const { lane, head } = window
    const { priority: band, overridden } = lane
    const ageing = { band, overridden, open: head !== undefined, sinceMs: head?.sinceMs ?? 0 }
    window.effective = computeEffectivePriority(ageing, { nowMs, thresholdMs })
    return findNextRiseMs(ageing, { nowMs, thresholdMs })
  },
})
