import type { Lane } from '../../domain/lanes.ts'
import type { Ceilings, Held } from '../../domain/limits/in-use.ts'
import type { FreeNode } from '../../domain/machines/placement.ts'
import type { Reason } from '../../domain/reason.ts'
import { memoryMs } from '../../domain/scheduling.ts'
import type { Heard } from '../store.ts'
import { none } from './accounts.ts'
import { LaneBook } from './lane-book.ts'
import { LaneWindow, type Turn } from './lanes.ts'
import { isSameRoom, Machines, runOf } from './machines.ts'
import type {
  Change,
  Decisions,
  Eviction,
  Fraction,
  Hold,
  JobClass,
  LaneState,
  PastPreemption,
  PoolSettings,
  Running,
  Snapshot,
  Start,
  Waiting,
  WorldView,
} from './model.ts'
import { type Closure, Order } from './order.ts'
import { budgetMs } from './preemption.ts'
import { Touched } from './touched.ts'
import { isPreemptable } from './victims.ts'

/**
 * What the leader of a pool knows: loaded once, then kept up by what it hears. What `plan` gives away is gone from it at
 * once; `undo` and `lose` bring back what was not committed.
 */
export class PoolState implements WorldView {
  nowMs: number
  settings: PoolSettings
  order: Order
  readonly machines = new Machines()
  readonly lanes = new LaneBook()
  /** What readers are to be shown. */
  readonly touched = new Touched()
  preemptions: readonly PastPreemption[]
  /** Jobs that left the queue, while a hold of theirs is to be dropped. */
  private readonly gone = new Set<string>()
  /** When time alone may open what is closed. */
  lookAgainMs: number | null = null
  /** What takes back what was decided, by decisions. */
  private readonly inverses = new WeakMap<Decisions, (() => void)[]>()

  constructor(snapshot: Snapshot) {
    this.nowMs = snapshot.nowMs
    this.settings = snapshot.settings
    this.preemptions = [...snapshot.preemptions]
    this.machines.accounts.setWeights(snapshot.settings.weights)
    this.machines.setRules(snapshot.settings.rules)
    this.machines.setNodes(snapshot.nodes, snapshot.nowMs)
    for (const run of snapshot.running) this.machines.add(run)
    this.order = orderOf(this)
    for (const state of snapshot.lanes) {
      const window = this.addLane(state)
      window.load(state.waiting, state.first)
    }
    const owners = new Map(
      snapshot.lanes.flatMap(({ lane, first }) => first.map(({ jobId }) => [jobId, lane] as const)),
    )
    for (const hold of snapshot.holds) this.machines.putHold(hold, owners.get(hold.jobId))
    for (const window of this.lanes.values()) this.order.put(window, this.nowMs)
  }

  get holds(): ReadonlyMap<string, Hold> {
    return this.machines.holds
  }

  get nodes(): readonly FreeNode[] {
    return this.machines.nodes
  }

  get running(): ReadonlyMap<string, Running> {
    return this.machines.running
  }

  get ceilings(): Ceilings {
    return { pool: this.settings.pool, rules: this.settings.rules, tally: this.machines.tally }
  }

  has(laneId: string): boolean {
    return this.lanes.has(laneId)
  }

  runsOn(nodeId: string): Iterable<Running> {
    return this.machines.runsOn(nodeId)
  }

  share(account: string, change: Parameters<WorldView['share']>[1] = {}): Fraction {
    return this.machines.accounts.shareWith(account, change.extra ?? none, change.without ?? none)
  }

  hear({ nowMs, changes, lanes }: Heard): void {
    this.nowMs = Math.max(this.nowMs, nowMs)
    // Until now what was decided could be undone.
    for (const jobId of this.gone) if (!this.holds.has(jobId)) this.gone.delete(jobId)
    for (const lane of lanes) if (!this.lanes.has(lane.lane.id)) this.addLane(lane)
    for (const change of changes) this.apply(change)
    for (const change of changes) if (change.kind === 'LEFT') this.forgetIfOver(change.laneId)
  }

  /** The first entries of lanes as they were read after everything that was heard. */
  refill(first: ReadonlyMap<string, readonly Waiting[]>): void {
    for (const [laneId, entries] of first) {
      const window = this.lanes.get(laneId)
      if (!window) continue
      window.refill(entries)
      this.order.put(window, this.nowMs)
      this.forgetIfOver(laneId)
    }
  }

  /** It starts. */
  start(decisions: Decisions, { window, entry }: Turn, given: Omit<Start, 'lane' | 'entry'>): void {
    this.take(decisions, { window, entry })
    if (this.holds.has(entry.jobId)) this.dropHold(decisions, entry.jobId)
    const start = { lane: window.lane, entry, ...given }
    this.add(runOf(start, this.nowMs))
    this.inverted(decisions, () => this.end(entry.runId))
    decisions.starts.push(start)
  }

  /** It ends before it began. */
  refuse(decisions: Decisions, turn: Turn, info: string): void {
    this.take(decisions, turn)
    decisions.refused.push({ entry: turn.entry, info })
  }

  evict(decisions: Decisions, lane: Lane, eviction: Eviction): void {
    const { hold, victims } = eviction
    for (const { running } of victims) {
      this.replace(running, { ...running, leaving: true })
      this.inverted(decisions, () => this.replace(this.running.get(running.runId), running))
    }
    const before = this.preemptions
    const claimantJobId = hold.jobId
    const more = victims.map(({ running: { jobId: victimJobId }, tier }) => ({ victimJobId, tier }))
    this.preemptions = [...before, ...more.map((one) => ({ atMs: this.nowMs, claimantJobId, ...one }))]
    this.inverted(decisions, () => {
      this.preemptions = before
    })
    this.keep(decisions, hold, lane)
    decisions.evictions.push(eviction)
  }

  /** Nodes are drained for a head. */
  drain(decisions: Decisions, lane: Lane, hold: Hold): void {
    this.keep(decisions, hold, lane)
    decisions.holds.put.push(hold)
  }

  dropHold(decisions: Decisions, jobId: string): void {
    const lane = this.machines.ownerOf(jobId)
    const hold = this.letGo(jobId)
    if (!hold) return
    decisions.holds.put = decisions.holds.put.filter((put) => put.jobId !== jobId)
    decisions.holds.drop.push(jobId)
    this.inverted(decisions, () => this.putHold(hold, lane))
  }

  /**
   * Jobs with a hold, if more or less is held than before: they have a room of their own, whoever is before them and whatever is
   * closed.
   */
  dueHolders(): Turn[] {
    if (!this.order.hasMoved) return []
    this.order.hasMoved = false
    return [...this.holds.keys()].flatMap((jobId) => {
      const window = this.lanes.get(this.machines.ownerOf(jobId)?.id ?? '')
      const entry = window?.find(jobId)
      return window && entry ? [{ window, entry }] : []
    })
  }

  /** Jobs that have a hold and wait no more. */
  get overHolds(): string[] {
    return [...this.gone].filter((jobId) => this.holds.has(jobId))
  }

  /** Started elsewhere: submitted and started in one transaction. */
  started(start: Start): void {
    this.lanes.get(start.lane.id)?.takeUnseen(start.entry)
    this.add(runOf(start, this.nowMs))
  }

  /** Nothing of it was committed. */
  undo(decisions: Decisions): void {
    for (const inverse of this.inverses.get(decisions)?.toReversed() ?? []) inverse()
    this.inverses.delete(decisions)
  }

  /** Somebody moved these jobs before they could start, or before others were told to leave for them. */
  lose(jobIds: readonly string[], { starts }: Decisions): void {
    const lost = new Set(jobIds)
    for (const jobId of lost) this.letGo(jobId)
    for (const { entry, lane } of starts) {
      if (!lost.has(entry.jobId)) continue
      this.end(entry.runId)
      this.lanes.get(lane.id)?.lose(entry.jobId)
      this.reorder(lane.id)
    }
  }

  /** Time has passed: heads that waited long enough rise, and what time keeps closed opens. */
  age(): void {
    if (this.machines.tryAgain(this.nowMs)) this.rebuild()
    this.order.age(this.nowMs)
    if (this.lookAgainMs !== null && this.nowMs >= this.lookAgainMs) this.order.freed([])
    const sinceMs = this.nowMs - Math.max(memoryMs(this.settings), budgetMs)
    if ((this.preemptions[0]?.atMs ?? this.nowMs) < sinceMs)
      this.preemptions = this.preemptions.filter(({ atMs }) => atMs >= sinceMs)
  }

  /** Until what the lot is about changes. */
  park(window: LaneWindow, lot: string, reason: Reason): void {
    this.order.park(window, lot)
    this.explain(window, reason)
  }

  parkOnLimit(window: LaneWindow, held: Held, reason: Reason): void {
    this.order.parkOnLimit(window, held)
    this.explain(window, reason)
  }

  /** Its class waits behind it. */
  close(jobClass: JobClass, closure: Closure): void {
    this.order.close(jobClass, closure)
    this.explain(closure.lane, null)
  }

  private explain(window: LaneWindow, reason: Reason | null): void {
    this.touched.lane(window)
    window.reason = reason
    window.consideredMs = this.nowMs
  }

  private apply(change: Change): void {
    switch (change.kind) {
      case 'JOINED':
        this.join(change.entry)
        return
      case 'LEFT':
        this.lanes.get(change.laneId)?.leave(change.jobId)
        this.gone.add(change.jobId)
        if (this.holds.has(change.jobId)) this.order.freed([]) // its lane was parked for that
        this.reorder(change.laneId)
        return
      case 'RUN':
        this.hearRun(change.runId, change.running)
        return
      case 'NODES':
        this.setNodes(change.nodes)
        return
      case 'SETTINGS':
        this.setSettings(change.settings)
        return
      default:
        change satisfies never
    }
  }

  private join(entry: Waiting): void {
    const window = this.lanes.get(entry.laneId)
    if (!window) throw new Error(`The job ${entry.jobId} joined the lane ${entry.laneId}, which nobody knows`)
    // Its LEFT was heard already, or is about an entry that was never counted.
    if (this.machines.running.has(entry.runId) && !window.hasTaken(entry)) return
    window.join(entry)
    this.gone.delete(entry.jobId)
    const hold = this.holds.get(entry.jobId)
    if (hold) this.putHold(hold, window.lane)
    this.reorder(entry.laneId)
  }

  private hearRun(runId: string, running: Running | null): void {
    const known = this.machines.running.get(runId)
    if (known?.leaving && running && !running.leaving) this.spare(known)
    if (known && running && isSameRoom(known, running)) {
      this.replace(known, running)
      return
    }
    this.end(runId)
    if (running) this.add(running)
  }

  /** It was told to leave, and stays after all: as if it had never been told. */
  private spare({ jobId }: Running): void {
    const at = this.preemptions.findLastIndex(({ victimJobId }) => victimJobId === jobId)
    this.preemptions = this.preemptions.filter((_, index) => index !== at)
  }

  private take(decisions: Decisions, { window, entry }: Turn): void {
    window.take(entry)
    this.order.put(window, this.nowMs)
    this.inverted(decisions, () => {
      window.putBack(entry)
      this.order.put(window, this.nowMs)
    })
  }

  private keep(decisions: Decisions, hold: Hold, lane: Lane): void {
    const before = this.holds.get(hold.jobId)
    this.putHold(hold, lane)
    if (before) this.order.freed([])
    // Beside nodes that are drained others are tried in another way.
    this.order.closures.clear()
    this.order.hasMoved = true
    this.inverted(decisions, () => (before ? this.putHold(before, lane) : this.letGo(hold.jobId)))
  }

  private putHold(hold: Hold, lane: Lane | undefined): void {
    const account = lane?.account ?? ''
    this.order.moving(account, () => this.machines.putHold(hold, lane))
  }

  private letGo(jobId: string): Hold | undefined {
    const lane = this.machines.ownerOf(jobId)
    const hold = this.order.moving(lane?.account ?? '', () => this.machines.dropHold(jobId))
    if (hold) this.order.freed([])
    return hold
  }

  private inverted(decisions: Decisions, inverse: () => void): void {
    const inverses = this.inverses.get(decisions) ?? []
    inverses.push(inverse)
    this.inverses.set(decisions, inverses)
  }

  private replace(known: Running | undefined, running: Running): void {
    this.order.moving(running.lane.account, () => {
      if (known) this.machines.replace(known, running)
      else this.machines.add(running)
    })
    if (known?.leaving !== running.leaving || (known && isPreemptable(known)) !== isPreemptable(running)) this.weigh()
  }

  private add(run: Running): void {
    this.order.moving(run.lane.account, () => this.machines.add(run))
    const isPart = this.settings.nonPreemptableFraction < 1 && !run.lane.preemptable
    this.order.taken({ ceilings: this.ceilings, isPart })
    this.weigh()
  }

  /** Others may have to leave for a head now who had not to before, or are many enough: the next pass asks. */
  private weigh(): void {
    this.order.hasMoved = true
    const { policy, preemptLowerPriority } = this.settings
    if (this.machines.preemptable > 0 && (policy === 'FAIR_SHARE' || preemptLowerPriority)) this.order.weighAgain()
  }

  private end(runId: string): void {
    const run = this.machines.running.get(runId)
    if (run) this.order.freed(this.order.moving(run.lane.account, () => this.machines.remove(run)))
  }

  private setNodes(nodes: readonly FreeNode[]): void {
    this.machines.setNodes(nodes, this.nowMs)
    this.rebuild()
  }

  private setSettings(settings: PoolSettings): void {
    this.settings = settings
    this.machines.accounts.setWeights(settings.weights)
    this.machines.setRules(settings.rules)
    this.rebuild()
  }

  /** Everybody is looked at anew. */
  private rebuild(): void {
    this.touched.everything()
    this.order = orderOf(this)
    for (const window of this.lanes.values()) this.order.put(window, this.nowMs)
  }

  private addLane(state: Omit<LaneState, 'waiting' | 'first'>): LaneWindow {
    const window = new LaneWindow(state)
    this.lanes.set(state.lane.id, window)
    return window
  }

  private reorder(laneId: string): void {
    const window = this.lanes.get(laneId)
    if (window) this.order.put(window, this.nowMs)
  }

  private forgetIfOver(laneId: string): void {
    const window = this.lanes.get(laneId)
    if (!window?.isOver) return
    this.order.forget(window)
    this.lanes.delete(laneId)
  }
}

const orderOf = ({ settings, machines: { accounts }, touched }: PoolState) => new Order(settings, { accounts, touched })
