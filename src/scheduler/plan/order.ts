import {
  type Ceilings,
  findLimitReached,
  hasModelLimits,
  type LimitReached,
} from '../../domain/limits/limit-reached.ts'
import type { Placement } from '../../domain/machines/placement.ts'
import type { Accounts } from './accounts.ts'
import { EvictionSearches } from './eviction-searches.ts'
import { Heap } from './heap.ts'
import { LaneQueue } from './lane-queue.ts'
import type { LaneWindow } from './lane-window.ts'
import type { PlannedStart, PoolSettings } from './model.ts'
import { createFairShare, createPriority, interactivePolicy, type OrderingPolicy } from './ordering-policies.ts'
import type { Touched } from './touched.ts'

/** Keys of lots for lanes that wait for resources: alone, or with all lanes that fit on the same nodes. */
export const lots = {
  unsatisfiable: 'UNSATISFIABLE',
  alone: 'ALONE',
  alike: ({ kind }: LaneWindow) => `${alike}${kind}`,
}
const alike = 'ALIKE '

/**
 * The order in which jobs are considered: interactive jobs first. A job that does not fit gets a planned start, as long
 * as it is among the first; the jobs behind it are considered as well. Planned starts are made again when resources
 * become free and when the order changes.
 */
export class Order {
  readonly plans = new Map<string, PlannedStart & { window: LaneWindow }>()
  /** Nodes whose resources changed, so that a waiting job may fit now; null: all nodes. */
  improved: Set<string> | null = null
  /** true: resources changed since the owners of holds were last considered. */
  hasMoved = true
  private weighs = false
  readonly searches = new EvictionSearches()
  readonly toRefill = new Set<LaneWindow>()
  private readonly touched: Touched
  private readonly policy: OrderingPolicy
  private readonly interactive = new LaneQueue(interactivePolicy)
  private readonly batch: LaneQueue
  private readonly queues: readonly LaneQueue[]
  private readonly timers = new Heap<LaneWindow>((a, b) => (a.dueMs ?? Infinity) < (b.dueMs ?? Infinity))
  private readonly lotsOf = new Map<string, Set<string>>()

  constructor(settings: PoolSettings, { accounts, touched }: { accounts: Accounts; touched: Touched }) {
    this.touched = touched
    this.policy =
      settings.policy === 'FAIR_SHARE' ? createFairShare(accounts) : createPriority(settings.starvationThresholdMs)
    this.batch = new LaneQueue(this.policy)
    this.queues = [this.interactive, this.batch]
  }

  put(lane: LaneWindow, nowMs: number): void {
    this.touched.lane(lane)
    if (lane.needsRefill) this.toRefill.add(lane)
    else this.toRefill.delete(lane)
    const before = lane.effective
    lane.dueMs = lane.lane.interactive ? null : this.policy.age(lane, nowMs)
    if (lane.effective > before) this.unpark(lane)
    this.queueOf(lane).put(lane)
    if (lane.dueMs === null) this.timers.remove(lane)
    else this.timers.put(lane)
  }

  forget(lane: LaneWindow): void {
    this.touched.lane(lane)
    this.toRefill.delete(lane)
    this.timers.remove(lane)
    this.queueOf(lane).remove(lane)
  }

  age(nowMs: number): void {
    for (;;) {
      const lane = this.timers.first
      if (!lane || (lane.dueMs ?? Infinity) > nowMs) return
      this.put(lane, nowMs)
    }
  }

  get needs(): string[] {
    return [...this.toRefill].map(({ lane }) => lane.id)
  }

  get nextMs(): number | null {
    return this.timers.first?.dueMs ?? null
  }

  next(): LaneWindow | undefined {
    return this.interactive.first ?? this.batch.first
  }

  isBefore(a: LaneWindow, b: LaneWindow): boolean {
    if (a.lane.interactive !== b.lane.interactive) return a.lane.interactive
    return (a.lane.interactive ? interactivePolicy : this.policy).compare(a, b) < 0
  }

  // ── planned starts ──

  plan(window: LaneWindow, start: PlannedStart): void {
    this.plans.set(start.entry.jobId, { ...start, window })
  }

  /** true: a job behind the head of this lane has a planned start. */
  isBeforePlan(lane: LaneWindow): boolean {
    for (const { window, entry } of this.plans.values())
      if (window.head?.jobId !== entry.jobId || this.isBefore(lane, window)) return true
    return false
  }

  /** Drops all planned starts, and considers the jobs that wait for resources again. */
  replan(): void {
    for (const { placements } of this.plans.values()) this.improve(placements)
    this.plans.clear()
    this.release(lots.alone)
    for (const queue of this.queues) queue.wakeAll(alike)
  }

  private improve(on: readonly Placement[]): void {
    for (const { nodeId } of on) this.improved?.add(nodeId)
  }

  /** Call this after all jobs that may start were considered. */
  settle(): void {
    this.improved = new Set()
  }

  /** true: the lane did not fit before, and was woken together with all lanes of its kind. */
  isWoken(lane: LaneWindow): boolean {
    return this.queueOf(lane).isIn(lane, lots.alike(lane))
  }

  /** Finds a lane of the same kind before this lane that does not fit. */
  findBlockedAlike(lane: LaneWindow): LaneWindow | undefined {
    const sleeper = this.queueOf(lane).sleeper(lots.alike(lane))
    return sleeper && !this.isBefore(lane, sleeper) && !this.isBeforePlan(lane) ? sleeper : undefined
  }

  // ── parking ──

  /** Call this at the start of a round. */
  reopen(nowMs: number): void {
    const all = this.weighs || nowMs >= (this.searches.nextMs ?? Infinity)
    this.searches.begin(nowMs, { hasMoved: this.hasMoved, all })
    if (!all) return
    this.weighs = false
    this.improved = null
    this.replan()
  }

  parkOnLimit(lane: LaneWindow, { code, key, asked }: LimitReached): void {
    const lot = `${code} ${asked} ${key}`
    this.lotsOf.set(key, (this.lotsOf.get(key) ?? new Set()).add(lot))
    this.queueOf(lane).park(lane, lot)
  }

  park(lane: LaneWindow, lot: string): void {
    this.queueOf(lane).park(lane, lot)
  }

  /** Call this when the lane has a new head or moved ahead, so it may fit now. */
  unpark(lane: LaneWindow): void {
    this.queueOf(lane).leaveLot(lane, [lots.alone, lots.alike(lane)])
  }

  isParked(lane: LaneWindow): boolean {
    return this.queueOf(lane).sleeps(lane)
  }

  touchSwitched(): void {
    for (const queue of this.queues) for (const lane of queue.switched()) this.touched.lane(lane)
  }

  /** Call this when runs ended, which freed resources on these nodes (null: unknown) and in these limit scopes. */
  freed(scopes: readonly string[], on: readonly Placement[] | null = null): void {
    this.hasMoved = true
    if (on) this.improve(on)
    else this.improved = null
    this.replan()
    for (const scope of scopes) {
      const waiting = this.lotsOf.get(scope) ?? []
      this.lotsOf.delete(scope)
      for (const lot of waiting) for (const queue of this.queues) queue.wake(lot)
    }
  }

  /**
   * Call when runs started: a job that is now stopped by a limit, or by the maximum fraction for non-preemptable jobs,
   * gives up its planned start.
   */
  taken({ ceilings, isPart }: { ceilings: Ceilings; isPart: boolean }): void {
    this.hasMoved = true
    const ofModels = hasModelLimits(ceilings)
    for (const { window } of this.plans.values()) {
      const { preemptable, shape } = window.lane
      const ofDevices = shape.exclusive || (ofModels && shape.gpu > 0)
      if ((isPart && !preemptable) || ofDevices || findLimitReached(ceilings, window.counted)) {
        this.replan()
        return
      }
    }
  }

  /** Call this when a preemption may have become possible. The next round considers each job again. */
  reconsiderForPreemption(): void {
    this.weighs = true
  }

  private release(lot: string): void {
    for (const queue of this.queues) for (const lane of queue.release(lot)) this.touched.lane(lane)
  }

  /** Runs `change`, which changes the shares of nodes of this path, and moves their lanes in the order. */
  moving<T>(path: readonly string[], change: () => T): T {
    this.touched.nodes(path)
    const moves = this.queues.map((queue) => queue.setAside(path))
    const result = change()
    for (const move of moves) move()
    return result
  }

  private queueOf(lane: LaneWindow): LaneQueue {
    return lane.lane.interactive ? this.interactive : this.batch
  }
}
