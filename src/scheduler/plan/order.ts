import { type Ceilings, hasModelLimits, type LimitReached, limitReached } from '../../domain/limits/in-use.ts'
import type { Reason } from '../../domain/reason.ts'
import type { Accounts } from './accounts.ts'
import { ClassQueue } from './class-queue.ts'
import { type ClassOrBand, isForGpus } from './classes.ts'
import { Heap } from './heap.ts'
import type { LaneWindow } from './lane-window.ts'
import { type JobClass, jobClasses, type PoolSettings } from './model.ts'
import { fairShare, interactivePolicy, type OrderingPolicy, priority } from './policy.ts'
import type { Touched } from './touched.ts'

export interface Closure {
  lane: LaneWindow
  jobId: string
  reason: Reason
  consideredMs: number
  forCapacity: boolean
  forThisRound: boolean
}

export const lots = { capacity: 'CAPACITY', unsatisfiable: 'UNSATISFIABLE' } as const

/** Jobs of capacity reservations have their own queue, which other jobs cannot block. */
type QueueName = ClassOrBand | 'RESERVED'

const queueNameOf = ({ class: ofClass, lane }: LaneWindow): QueueName =>
  ofClass !== 'INTERACTIVE' && lane.reservationId !== null ? 'RESERVED' : ofClass

/**
 * The order in which jobs are considered. Interactive jobs come first and do not block others. Then come the first
 * lanes of each class, unless a blocked head closed the class. Under FAIR_SHARE a head closes its own class. Under
 * PRIORITY it closes every class that uses the same machines, for the jobs behind it, since a smaller job must not pass
 * one of higher priority. Jobs of a capacity reservation do not close a class and are not blocked: a head may wait for
 * nodes that are reserved for them.
 */
export class Order {
  readonly closures = new Map<JobClass, Closure>()
  /** true: resources changed since the owners of holds were last considered. */
  hasMoved = true
  private weighs = false
  readonly dry = new Set<LaneWindow>()
  private readonly settings: PoolSettings
  private readonly touched: Touched
  private readonly policy: OrderingPolicy
  private readonly queues: ReadonlyMap<QueueName, ClassQueue>
  private readonly timers = new Heap<LaneWindow>((a, b) => (a.dueMs ?? Infinity) < (b.dueMs ?? Infinity))
  private readonly lotsOf = new Map<string, Set<string>>()

  constructor(settings: PoolSettings, { accounts, touched }: { accounts: Accounts; touched: Touched }) {
    this.settings = settings
    this.touched = touched
    this.policy = settings.policy === 'FAIR_SHARE' ? fairShare(accounts) : priority(settings.starvationThresholdMs)
    const ordered = (['RESERVED', ...jobClasses] as const).map((name) => [name, new ClassQueue(this.policy)] as const)
    this.queues = new Map<QueueName, ClassQueue>([['INTERACTIVE', new ClassQueue(interactivePolicy)], ...ordered])
  }

  put(lane: LaneWindow, nowMs: number): void {
    this.touched.lane(lane)
    if (lane.dry) this.dry.add(lane)
    else this.dry.delete(lane)
    const before = lane.effective
    lane.dueMs = lane.class === 'INTERACTIVE' ? null : this.policy.age(lane, nowMs)
    if (lane.effective > before) this.unpark(lane)
    this.queueOf(lane).put(lane)
    if (lane.dueMs === null) this.timers.remove(lane)
    else this.timers.put(lane)
  }

  forget(lane: LaneWindow): void {
    this.touched.lane(lane)
    this.dry.delete(lane)
    this.timers.remove(lane)
    this.queueOf(lane).remove(lane)
  }

  age(nowMs: number): LaneWindow[] {
    const risen: LaneWindow[] = []
    for (;;) {
      const lane = this.timers.first
      if (!lane || (lane.dueMs ?? Infinity) > nowMs) return risen
      this.put(lane, nowMs)
      risen.push(lane)
    }
  }

  get needs(): string[] {
    return [...this.dry].map(({ lane }) => lane.id)
  }

  get nextMs(): number | null {
    return this.timers.first?.dueMs ?? null
  }

  next(): LaneWindow | undefined {
    const interactive = this.queues.get('INTERACTIVE')?.first
    if (interactive) return interactive
    const reserved = this.queues.get('RESERVED')?.first
    const open = [...jobClasses.flatMap((name) => this.openFirst(name) ?? []), ...(reserved ? [reserved] : [])]
    return open.reduce<LaneWindow | undefined>((a, b) => (a && this.policy.compare(a, b) <= 0 ? a : b), undefined)
  }

  isBefore(a: LaneWindow, b: LaneWindow): boolean {
    if ((a.class === 'INTERACTIVE') !== (b.class === 'INTERACTIVE')) return a.class === 'INTERACTIVE'
    return (a.class === 'INTERACTIVE' ? interactivePolicy : this.policy).compare(a, b) < 0
  }

  closedBy(lane: LaneWindow): Closure | undefined {
    if (lane.class === 'INTERACTIVE' || lane.lane.reservationId !== null) return undefined
    const closures = jobClasses.flatMap((name) => this.closureFor(name, lane) ?? [])
    return closures.find(({ lane: closing }) => closing !== lane && this.policy.compare(closing, lane) < 0)
  }

  /** Under PRIORITY: the lanes, in order, of a higher configured priority behind a head that was raised by waiting. */
  outranking(): LaneWindow[] {
    if (this.settings.policy !== 'PRIORITY') return []
    const raised = [...this.closures.values()].filter(({ lane }) => lane.effective > lane.lane.priority)
    if (raised.every(({ forCapacity }) => !forCapacity)) return []
    const behind = jobClasses.flatMap((name) => [...(this.queues.get(name)?.lanes ?? [])])
    return behind
      .filter(
        (lane) => !this.isParked(lane) && lane.lane.priority > (this.closedBy(lane)?.lane.lane.priority ?? Infinity),
      )
      .toSorted((a, b) => this.policy.compare(a, b))
  }

  reopen(): void {
    if (this.weighs) this.release(lots.capacity)
    this.weighs = false
    for (const [name, { forThisRound }] of this.closures) if (forThisRound) this.closures.delete(name)
  }

  parkOnLimit(lane: LaneWindow, { code, key, asked }: LimitReached): void {
    const lot = `${code} ${asked} ${key}`
    this.lotsOf.set(key, (this.lotsOf.get(key) ?? new Set()).add(lot))
    this.queueOf(lane).park(lane, lot)
  }

  touchSwitched(): void {
    for (const queue of this.queues.values()) for (const lane of queue.switched()) this.touched.lane(lane)
  }

  isParked(lane: LaneWindow): boolean {
    return this.queueOf(lane).sleeps(lane)
  }

  park(lane: LaneWindow, lot: string): void {
    this.queueOf(lane).park(lane, lot)
  }

  /** The head moved ahead in the order, so a hold may no longer block it. */
  unpark(lane: LaneWindow): void {
    this.queueOf(lane).leaveLot(lane, lots.capacity)
  }

  /** Call when runs ended: resources were freed, and the use in these limit scopes fell. */
  freed(scopes: readonly string[]): void {
    this.closures.clear()
    this.hasMoved = true
    this.release(lots.capacity)
    for (const scope of scopes) {
      const waiting = this.lotsOf.get(scope) ?? []
      this.lotsOf.delete(scope)
      for (const lot of waiting) for (const queue of this.queues.values()) queue.wake(lot)
    }
  }

  /**
   * Call when runs started: heads that are now stopped by a limit, or by the maximum fraction for non-preemptable jobs,
   * no longer close their class.
   */
  taken({ ceilings, isPart }: { ceilings: Ceilings; isPart: boolean }): void {
    const ofModels = hasModelLimits(ceilings)
    for (const [name, { forCapacity, lane }] of this.closures) {
      const { preemptable, shape } = lane.lane
      const ofDevices = shape.exclusive || (ofModels && shape.gpu > 0)
      const isForLess = forCapacity && ((isPart && !preemptable) || ofDevices)
      if (isForLess || limitReached(ceilings, lane.counted)) this.closures.delete(name)
    }
    this.hasMoved = true
  }

  /** Call when preemption may have become possible: the next round considers each job again. */
  reconsiderForPreemption(): void {
    this.weighs = true
    for (const closure of this.closures.values()) if (closure.forCapacity) closure.forThisRound = true
  }

  release(lot: string): void {
    for (const queue of this.queues.values()) for (const lane of queue.release(lot)) this.touched.lane(lane)
  }

  /** Runs `change`, which changes the use of an account, and moves its lanes in the order. */
  moving<T>(account: string, change: () => T): T {
    this.touched.account(account)
    const moves = [...this.queues.values()].map((queue) => queue.setAside(account))
    const result = change()
    for (const move of moves) move()
    return result
  }

  private openFirst(name: JobClass): LaneWindow | undefined {
    const lane = this.queues.get(name)?.first
    return lane && jobClasses.every((other) => !this.closureFor(other, lane)) ? lane : undefined
  }

  private closureFor(name: JobClass, lane: LaneWindow): Closure | undefined {
    const closure = this.closures.get(name)
    if (!closure || this.queues.get(name)?.first !== closure.lane || closure.lane.head?.jobId !== closure.jobId)
      return undefined
    if (name === lane.class) return closure
    const reaches =
      this.settings.policy === 'PRIORITY' && closure.forCapacity && isForGpus(name) === isForGpus(lane.class)
    return reaches && this.policy.compare(closure.lane, lane) < 0 ? closure : undefined
  }

  private queueOf(lane: LaneWindow): ClassQueue {
    const name = queueNameOf(lane)
    const queue = this.queues.get(name)
    if (!queue) throw new Error(`Unknown queue ${name}`)
    return queue
  }
}
