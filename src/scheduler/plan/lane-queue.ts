import { Heap } from './heap.ts'
import type { LaneWindow } from './lane-window.ts'
import { OrderedLanes } from './ordered-lanes.ts'
import type { OrderingPolicy } from './ordering-policies.ts'

/**
 * Lanes in order. Lanes that are blocked by the same cause (a limit, missing capacity) are parked in the *lot*
 * of that cause, in order. When the cause changes, the lot wakes: its first lane competes with the other lanes. If that
 * lane still cannot start, no lane of the lot can, and the lot sleeps again.
 */

interface Lot {
  key: string
  line: OrderedLanes
  /** true: the lot slept at the last call of `switched`. */
  slept: boolean
}

export class LaneQueue {
  private readonly policy: OrderingPolicy
  private readonly main: OrderedLanes
  private readonly lots = new Map<string, Lot>()
  private readonly where = new Map<LaneWindow, Lot | null>()
  private readonly byGroup = new Map<string, Set<OrderedLanes>>()
  /** The main queue and the lots that are awake; all have at least one lane. */
  private readonly awake: Heap<OrderedLanes>

  constructor(policy: OrderingPolicy) {
    this.policy = policy
    this.main = new OrderedLanes(policy)
    this.awake = new Heap(
      (a, b) => a.first !== undefined && b.first !== undefined && policy.compare(a.first, b.first) < 0,
    )
  }

  get first(): LaneWindow | undefined {
    return this.awake.first?.first
  }

  /** Moves the lane to the position of its head. Removes a lane without a head. */
  put(lane: LaneWindow): void {
    if (!lane.head) {
      this.remove(lane)
      return
    }
    const lot = this.where.get(lane) ?? null
    this.where.set(lane, lot)
    const line = lot?.line ?? this.main
    this.enter(line, lane)
    if (!lot || this.awake.has(line)) this.awake.put(line)
  }

  remove(lane: LaneWindow): void {
    const lot = this.where.get(lane)
    if (lot === undefined) return
    this.where.delete(lane)
    const line = lot?.line ?? this.main
    this.quit(line, lane)
    if (line.first) {
      if (this.awake.has(line)) this.awake.put(line)
      return
    }
    this.awake.remove(line)
    if (lot) this.lots.delete(lot.key)
  }

  /** Moves the lane to the lot `key`, which sleeps because its cause blocks all its lanes. */
  park(lane: LaneWindow, key: string): void {
    const before = this.where.get(lane)
    if (before?.key === key) {
      this.awake.remove(before.line)
      return
    }
    this.remove(lane)
    const lot = this.lots.get(key) ?? { key, line: new OrderedLanes(this.policy), slept: true }
    this.awake.remove(lot.line)
    this.lots.set(key, lot)
    this.enter(lot.line, lane)
    this.where.set(lane, lot)
  }

  sleeps(lane: LaneWindow): boolean {
    const lot = this.where.get(lane)
    return lot != null && !this.awake.has(lot.line)
  }

  isIn(lane: LaneWindow, key: string): boolean {
    return this.where.get(lane)?.key === key
  }

  /** Returns the first lane of the lot; undefined: the lot is awake or empty. */
  sleeper(key: string): LaneWindow | undefined {
    const lot = this.lots.get(key)
    return lot && !this.awake.has(lot.line) ? lot.line.first : undefined
  }

  wake(key: string): void {
    const lot = this.lots.get(key)
    if (lot) this.awake.put(lot.line)
  }

  wakeAll(prefix: string): void {
    for (const lot of this.lots.values()) if (lot.key.startsWith(prefix)) this.awake.put(lot.line)
  }

  leaveLot(lane: LaneWindow, keys: readonly string[]): void {
    if (keys.includes(this.where.get(lane)?.key ?? '')) this.remove(lane)
  }

  /** Moves all lanes of the lot back to the main queue, so that each lane is considered. Returns them. */
  release(key: string): readonly LaneWindow[] {
    const lanes = this.lots.get(key)?.line.all() ?? []
    for (const lane of lanes) {
      this.remove(lane)
      this.put(lane)
    }
    return lanes
  }

  switched(): LaneWindow[] {
    const switched: LaneWindow[] = []
    for (const lot of this.lots.values()) {
      const sleeps = !this.awake.has(lot.line)
      if (sleeps !== lot.slept) switched.push(...lot.line.all())
      lot.slept = sleeps
    }
    return switched
  }

  /**
   * Call before shares of this path change. Takes the queues with lanes below the first node of the path out of the
   * heap. The returned function reorders these lanes and puts the queues back.
   */
  setAside(path: readonly string[]): () => void {
    const lines = [...(this.byGroup.get(path[0] ?? '') ?? [])]
    const offered = lines.filter((line) => this.awake.has(line))
    for (const line of offered) this.awake.remove(line)
    return () => {
      for (const line of lines) line.move(path)
      for (const line of offered) this.awake.put(line)
    }
  }

  private enter(line: OrderedLanes, lane: LaneWindow): void {
    line.put(lane)
    const [group = ''] = this.policy.pathOf(lane)
    const lines = this.byGroup.get(group) ?? new Set()
    this.byGroup.set(group, lines.add(line))
  }

  private quit(line: OrderedLanes, lane: LaneWindow): void {
    line.remove(lane)
    const [group = ''] = this.policy.pathOf(lane)
    const lines = this.byGroup.get(group)
    if (!lines || line.hasGroup(group)) return
    lines.delete(line)
    if (lines.size === 0) this.byGroup.delete(group)
  }
}
