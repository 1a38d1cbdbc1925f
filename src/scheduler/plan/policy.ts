import { compareHeads, type LaneWindow } from './lane-window.ts'

/** Who is first. It sees heads of lanes alone: inside a lane the order never changes. */
export interface OrderingPolicy {
  /** Lanes of a group keep their order among each other whatever the others use. */
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
