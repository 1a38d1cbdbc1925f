import { compareHeads, type LaneWindow } from './lane-window.ts'

/** Decides which lane is first. A policy compares only heads: the order inside a lane never changes. */
export interface OrderingPolicy {
  /** Lanes of one group keep their order when the use of other groups changes. */
  groupOf(lane: LaneWindow): string
  /** Negative: `a` comes before `b`. Both have a head. */
  compare(a: LaneWindow, b: LaneWindow): number
  /** Updates the priority of the head; returns when time changes it next, null: never. */
  age(lane: LaneWindow, nowMs: number): number | null
}

/** The order of interactive jobs under every policy. */
export const interactivePolicy: OrderingPolicy = {
  groupOf: () => '',
  compare: compareHeads,
  age: () => null,
}
