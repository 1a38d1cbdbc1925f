import { compareHeads, type LaneWindow } from './lane-window.ts'

/** Which lane is first. A policy compares heads of lanes only: inside a lane the order never changes. */
export interface OrderingPolicy {
  /** Lanes of a group keep their order among each other whatever other groups use. */
  groupOf(lane: LaneWindow): string
  /** Negative: `a` is before `b`. Both have a head. */
  compare(a: LaneWindow, b: LaneWindow): number
  /** The head as it stands at this moment; answers when time alone will change that, null: never. */
  age(lane: LaneWindow, nowMs: number): number | null
}

/** Interactive jobs under either policy. */
export const interactivePolicy: OrderingPolicy = {
  groupOf: () => '',
  compare: compareHeads,
  age: () => null,
}
