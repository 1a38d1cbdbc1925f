import type { Lane } from '../../domain/lanes.ts'
import type { Ceilings } from '../../domain/limits/limit-reached.ts'
import { none, sumAmounts } from '../../domain/machines/amounts.ts'
import { clearRuns } from '../../domain/machines/machines.ts'
import type { FreeNode } from '../../domain/machines/placement.ts'
import { preemptionMemoryMs } from '../../domain/scheduling.ts'
import { toNumber } from './fractions.ts'
import { LaneWindow, type QueuedJob } from './lane-window.ts'
import { LanesByAccount } from './lanes-by-account.ts'
import { Machines, type RunMove } from './machines.ts'
import type {
  Fraction,
  Hold,
  LaneState,
  PastPreemption,
  PlannedStart,
  PoolSettings,
  Running,
  Snapshot,
  WorldView,
} from './model.ts'
import { Order } from './order.ts'
import { budgetMs } from './preemption.ts'
import { getSharePath, listPathTo, toLeaf } from './share-tree.ts'
import { isStartLate } from './submit-ahead.ts'
import { Touched } from './touched.ts'
import { computeRipeMs, isPreemptable } from './victims.ts'

/**
 * The state of a pool: loaded once, then updated by changes (hearing.ts) and decisions (ledger.ts). Each method changes
 * one fact in all parts (machines, holds, shares, lanes, order, rows for readers), so callers need not know the parts.
 */
export class PoolState implements WorldView {
  nowMs: number
  settings: PoolSettings
  order: Order
  readonly machines = new Machines()
  readonly lanes = new LanesByAccount()
  readonly touched = new Touched()
  preemptions: readonly PastPreemption[]
  readonly left = new Set<string>()
  lookAgainMs: number | null = null

  constructor(snapshot: Snapshot) {
    this.nowMs = snapshot.nowMs
    this.settings = snapshot.settings
    this.preemptions = [...snapshot.preemptions]
    const { accounts } = this.machines
    accounts.setWeights(snapshot.settings.weights)
    accounts.setHalfLife(snapshot.settings.shareHalfLifeMs)
    accounts.past.nowMs = snapshot.nowMs
    for (const [leaf, use] of snapshot.decayedUse) accounts.putPast(leaf, use)
    this.machines.setRules(snapshot.settings.rules)
    this.machines.setNodes(snapshot.nodes, snapshot.nowMs)
    for (const { leaf, amounts } of snapshot.served) accounts.serve(listPathTo(leaf), amounts)
    this.order = orderOf(this)
  }

  /** Yields after each step, so that the caller can pause. */
  *fill({ running, lanes, holds }: Pick<Snapshot, 'running' | 'lanes' | 'holds'>): Generator<void, void> {
    for (const [at, run] of running.entries()) {
      this.machines.add(run)
      if (at % entriesPerStep === 0) yield
    }
    const owners = new Map(lanes.flatMap(({ lane, first }) => first.map(({ jobId }) => [jobId, lane] as const)))
    for (const hold of holds) this.machines.putHold(hold, owners.get(hold.jobId))
    for (const [at, state] of lanes.entries()) {
      const window = this.addLane(state)
      window.load(state.waiting, state.first)
      this.order.put(window, this.nowMs)
      if (at % entriesPerStep === 0) yield
    }
  }

  /** A copy that shares entries and runs, because they are immutable. */
  get copy(): Snapshot {
    const { accounts } = this.machines
    return {
      nowMs: this.nowMs,
      settings: this.settings,
      nodes: this.nodes.map((node) => clearRuns(node)),
      lanes: [...this.lanes.values()].map(({ copy }) => copy),
      running: [...this.running.values()],
      holds: [...this.holds.values()],
      preemptions: this.preemptions,
      // A copy needs only the relative order.
      served: accounts.served.map((leaf) => ({ leaf, amounts: none })),
      decayedUse: accounts.decayedUses,
    }
  }

  // ── the world, as the other parts of the planner see it ──

  get holds(): ReadonlyMap<string, Hold> {
    return this.machines.holds
  }

  get plans(): ReadonlyMap<string, PlannedStart> {
    return this.order.plans
  }

  get nodes(): readonly FreeNode[] {
    return this.machines.nodes
  }

  get nextEnds(): Float64Array {
    return this.machines.nextEnds
  }

  get running(): ReadonlyMap<string, Running> {
    return this.machines.running
  }

  get ceilings(): Ceilings {
    return { pool: this.settings.pool, rules: this.settings.rules, tally: this.machines.tally }
  }

  runsOn(nodeId: string): readonly Running[] {
    return this.machines.runsOn(nodeId)
  }

  occupancy(node: string, change: Parameters<WorldView['occupancy']>[1] = {}): Fraction {
    return this.machines.accounts.occupancy(node, change.extra ?? none, change.without ?? none)
  }

  outranks({ priority }: Lane, { lane }: PlannedStart): boolean {
    return this.settings.policy === 'PRIORITY' && priority > lane.priority
  }

  /** true: a node of the path holds more than its part, by its weight and those of the siblings with waiting jobs. */
  isOverShare(path: readonly string[]): boolean {
    const { accounts } = this.machines
    let part = 1
    return path.some((node, depth) => {
      const held = toNumber(this.occupancy(node)) * accounts.weightOf(node)
      if (held === 0) return false
      part *= accounts.weightOf(node) / this.sumWeights(path[depth - 1] ?? '')
      return held > part + tolerance
    })
  }

  /** Adds up the weights of the nodes below `above` that have waiting jobs. Few nodes have a weight other than 1. */
  private sumWeights(above: string): number {
    const below = this.lanes.below.get(above) ?? new Set()
    let sum = below.size
    for (const [node, weight] of this.settings.weights) if (below.has(node)) sum += weight - 1
    return sum
  }

  share(node: string): Fraction {
    return this.machines.accounts.share(node)
  }

  // ── lanes ──

  addLane(state: Omit<LaneState, 'waiting' | 'first'>): LaneWindow {
    const window = new LaneWindow(state)
    this.lanes.set(state.lane.id, window)
    return window
  }

  reorder(laneId: string): void {
    const window = this.lanes.get(laneId)
    if (window) this.order.put(window, this.nowMs)
  }

  forgetIfOver(laneId: string): void {
    const window = this.lanes.get(laneId)
    if (!window?.isOver) return
    this.order.forget(window)
    this.lanes.delete(laneId)
  }

  // ── runs ──

  addRun(run: Running): void {
    this.order.moving(getSharePath(run.lane), () => this.machines.add(run))
    this.tookResources(run)
  }

  /** Adds the run and counts the start for its account. Returns a function that undoes the count after the end of the run. */
  startRun(run: Running): () => void {
    const path = getSharePath(run.lane)
    const { accounts } = this.machines
    const takeBack = this.order.moving(path, () => {
      this.machines.add(run)
      return accounts.serve(path, sumAmounts(run.placements))
    })
    this.tookResources(run)
    return () => this.order.moving(path, takeBack)
  }

  private tookResources(run: Running): void {
    const isPart = this.settings.nonPreemptableFraction < 1 && !run.lane.preemptable
    this.order.taken({ ceilings: this.ceilings, isPart })
    this.forgetPlansOf(run)
    this.weigh()
  }

  /** Drops planned starts of the account under FAIR_SHARE, because a start moves the other jobs of the account back. */
  private forgetPlansOf({ jobId, lane }: Running): void {
    const isFair = this.settings.policy === 'FAIR_SHARE'
    for (const [owner, plan] of this.plans)
      if (owner === jobId || (isFair && getSharePath(plan.lane)[0] === getSharePath(lane)[0])) {
        this.order.replan()
        return
      }
  }

  endRun(runId: string): void {
    const run = this.machines.running.get(runId)
    if (run)
      this.order.freed(
        this.order.moving(getSharePath(run.lane), () => this.machines.remove(run)),
        run.placements,
      )
  }

  replaceRun(known: Running | undefined, running: Running): void {
    this.order.moving(getSharePath(running.lane), () => {
      if (known) this.machines.replace(known, running)
      else this.machines.add(running)
    })
    if (known && isStartLate(this, known) && !isStartLate(this, running)) this.order.freed([]) // Jobs may be early again.
    if (known?.leaving !== running.leaving && this.plans.size > 0) this.order.replan()
    const isVictim = known && isPreemptable(known)
    if (
      known?.leaving !== running.leaving ||
      computeRipeMs(known) !== computeRipeMs(running) ||
      isVictim !== isPreemptable(running)
    )
      this.weigh()
  }

  moveRuns(moves: readonly RunMove[]): void {
    if (moves.length === 0) return
    const leaves = new Set(moves.map(({ running }) => toLeaf(running.lane)))
    const exchange = [...leaves].reduce<() => void>(
      (change, leaf) => () => this.order.moving(listPathTo(leaf), change),
      () => this.machines.exchange(moves),
    )
    exchange()
    this.order.freed([])
  }

  private weigh(): void {
    this.order.hasMoved = true
    const { policy, preemptLowerPriority } = this.settings
    const { preemptable, backfilled } = this.machines
    if (preemptable > 0 && (policy === 'FAIR_SHARE' || preemptLowerPriority || backfilled > 0))
      this.order.reconsiderForPreemption()
  }

  // ── holds ──

  putHold(hold: Hold, lane: Lane | undefined): void {
    this.order.moving(lane ? getSharePath(lane) : [], () => this.machines.putHold(hold, lane))
  }

  dropHold(jobId: string): Hold | undefined {
    const lane = this.machines.owners.get(jobId)
    const hold = this.order.moving(lane ? getSharePath(lane) : [], () => this.machines.dropHold(jobId))
    if (hold) this.order.freed([])
    return hold
  }

  get endedHolds(): string[] {
    return [...this.left].filter((jobId) => this.holds.has(jobId))
  }

  /** Lists owners of holds if resources changed since the last call. They may start regardless of the order. */
  takeOwnersDue(): QueuedJob[] {
    if (!this.order.hasMoved) return []
    this.order.hasMoved = false
    return [...this.holds.keys()].flatMap((jobId) => {
      const window = this.lanes.get(this.machines.owners.get(jobId)?.id ?? '')
      const entry = window?.find(jobId)
      return window && entry ? [{ window, entry }] : []
    })
  }

  // ── changes that affect every lane ──

  setNodes(nodes: readonly FreeNode[]): void {
    this.machines.setNodes(nodes, this.nowMs)
    this.rebuild()
  }

  setSettings(settings: PoolSettings): void {
    this.settings = settings
    this.machines.accounts.setWeights(settings.weights)
    this.machines.accounts.setHalfLife(settings.shareHalfLifeMs)
    this.machines.setRules(settings.rules)
    this.rebuild()
  }

  age(): void {
    const { accounts } = this.machines
    accounts.past.nowMs = this.nowMs
    const due = accounts.due(() => this.machines.meanAgeMs(this.nowMs))
    for (const node of due) this.order.moving(listPathTo(node), () => accounts.renew(node))
    if (due.length > 0) this.order.hasMoved = true
    if (due.length > 0 && this.plans.size > 0) this.order.replan()
    if (this.machines.tryAgain(this.nowMs)) this.rebuild()
    this.order.age(this.nowMs)
    if (this.lookAgainMs !== null && this.nowMs >= this.lookAgainMs) this.order.freed([])
    const sinceMs = this.nowMs - Math.max(preemptionMemoryMs(this.settings), budgetMs)
    if ((this.preemptions[0]?.atMs ?? this.nowMs) < sinceMs)
      this.preemptions = this.preemptions.filter(({ atMs }) => atMs >= sinceMs)
  }

  private rebuild(): void {
    this.touched.everything()
    this.order = orderOf(this)
    for (const window of this.lanes.values()) this.order.put(window, this.nowMs)
  }
}

/** Tolerance for rounding errors of shares. */
const tolerance = 1e-6
const entriesPerStep = 250

const orderOf = ({ settings, machines: { accounts }, touched }: PoolState) => new Order(settings, { accounts, touched })
