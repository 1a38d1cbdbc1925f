import { compareHeads, type LaneWindow } from './lane-window.ts'

/** Decides which lane is first. A policy compares heads of lanes only: inside a lane the order never changes. */
export interface OrderingPolicy {
  /** Lanes of one group keep their order when other groups use more or less. */
  groupOf(lane: LaneWindow): string
  /** Negative: `a` comes before `b`. Both have a head. */
  compare(a: LaneWindow, b: LaneWindow): number
  /** Updates the head for this moment; returns when time alone will change it again, null: never. */
  age(lane: LaneWindow, nowMs: number): number | null
}

/** The order of interactive jobs under every policy. */
export const interactivePolicy: OrderingPolicy = {
  groupOf: () => '',
  compare: compareHeads,
  age: () => null,
}
