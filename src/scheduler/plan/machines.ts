import type { Lane } from '../../domain/lanes.ts'
import { type Amount, type Counted, countHolding, type LimitRule } from '../../domain/limits/limit-reached.ts'
import { addAmounts, none, sumAmounts } from '../../domain/machines/amounts.ts'
import { clearRuns } from '../../domain/machines/machines.ts'
import {
  countFree,
  type FreeNode,
  freeResources,
  indexMachines,
  type Placement,
  takeResources,
} from '../../domain/machines/placement.ts'
import { Accounts } from './accounts.ts'
import type { Hold, Running, Start } from './model.ts'
import { getSharePath, isAccount } from './share-tree.ts'

/**
 * The machines of the pool and the runs on them. Free amounts are computed as the nodes minus the known runs, so a run
 * counts exactly from its start to its end, even if another process decided them.
 */
export class Machines {
  /** Sorted by start. */
  readonly running = new Map<string, Running>()
  readonly holds = new Map<string, Hold>()
  readonly accounts = new Accounts()
  readonly tally = new Map<string, Amount>()
  nodes: FreeNode[] = []
  freeGpus = new Int32Array()
  /** Lower bounds of the next end on each node, in the order of their names; NaN: its runs changed. */
  nextEnds = new Float64Array()
  /** Amounts that non-preemptable batch jobs hold or have holds for. */
  unpreemptable = none
  readonly runsOf = new Map<string, number>()
  /** Number of runs whose placements a preemption freed. */
  won = 0
  /** Number of later runs of jobs, which may have lost work to preemption. */
  hurt = 0
  preemptable = 0
  /** Number of runs that a job may evict because they were backfilled on its planned nodes. */
  backfilled = 0
  readonly owners = new Map<string, Lane>()
  private readonly byNode = new Map<string, readonly Running[]>()
  private readonly models = new Map<string, readonly string[]>()
  private byId = new Map<string, FreeNode>()
  private backingOff: readonly FreeNode[] = []
  private indexOf = (_nodeId: string): number | undefined => undefined
  private rules: readonly LimitRule[] = []

  setNodes(nodes: readonly FreeNode[], nowMs: number): void {
    this.nodes = nodes.map((node) => asOf(nowMs, clearRuns(node)))
    this.byId = new Map(this.nodes.map((node) => [node.id, node]))
    this.backingOff = this.nodes.filter(({ backOff }) => backOff)
    this.accounts.setCapacity(this.nodes)
    const inOrder = indexMachines(this.nodes)
    this.indexOf = inOrder.indexOf
    this.freeGpus = Int32Array.from(inOrder.nodes, countFree)
    this.nextEnds = new Float64Array(this.nodes.length).fill(Number.NaN)
    for (const run of this.running.values()) {
      this.move(run.placements, takeResources)
      this.countProbe(run, 1)
    }
  }

  meanAgeMs(nowMs: number): number {
    let sum = 0
    for (const { sinceMs } of this.running.values()) sum += nowMs - sinceMs
    return sum / Math.max(1, this.running.size)
  }

  get nextTryMs(): number | null {
    const moments = this.backingOff.flatMap(({ backOff }) => (backOff?.isOver === false ? [backOff.untilMs] : []))
    return moments.length > 0 ? Math.min(...moments) : null
  }

  /** Opens nodes whose back-off is over. Returns whether there were any. */
  tryAgain(nowMs: number): boolean {
    const { nextTryMs } = this
    if (nextTryMs === null || nextTryMs > nowMs) return false
    this.setNodes(this.nodes, nowMs)
    return true
  }

  setRules(rules: readonly LimitRule[]): void {
    this.rules = rules
    this.tally.clear()
    for (const run of this.running.values()) this.count(run, 1)
  }

  /** Returns the limit scopes in which the run counts. */
  add(run: Running): readonly string[] {
    this.running.set(run.runId, run)
    this.models.set(run.runId, this.modelsOf(run.placements))
    for (const nodeId of nodesUnder(run)) this.byNode.set(nodeId, [...this.runsOn(nodeId), run])
    this.move(run.placements, takeResources)
    this.countProbe(run, 1)
    this.countUnpreemptable(run, 1)
    this.countKinds(run, 1)
    if (!run.leaving) this.accounts.change(getSharePath(run.lane), run.placements, 1)
    return this.count(run, 1)
  }

  /** Replaces a run at its position in the order of starts, by which victims are chosen. */
  replace(known: Running, run: Running): void {
    this.withdraw(known)
    this.add(run)
  }

  /** Moves runs: first frees the resources of all of them, then takes the new resources. */
  exchange(moves: readonly RunMove[]): void {
    for (const { known } of moves) this.withdraw(known)
    for (const { running } of moves) this.add(running)
  }

  remove(run: Running): readonly string[] {
    this.running.delete(run.runId)
    return this.withdraw(run)
  }

  private withdraw(run: Running): readonly string[] {
    for (const nodeId of nodesUnder(run))
      this.byNode.set(
        nodeId,
        this.runsOn(nodeId).filter((one) => one !== run),
      )
    this.move(run.placements, freeResources)
    this.countProbe(run, -1)
    this.countUnpreemptable(run, -1)
    this.countKinds(run, -1)
    if (!run.leaving) this.accounts.change(getSharePath(run.lane), run.placements, -1)
    const scopes = this.count(run, -1)
    this.models.delete(run.runId)
    return scopes
  }

  putHold(hold: Hold, lane: Lane | undefined): void {
    this.dropHold(hold.jobId)
    this.holds.set(hold.jobId, hold)
    if (!lane) return
    this.owners.set(hold.jobId, lane)
    this.promise(hold, 1)
  }

  dropHold(jobId: string): Hold | undefined {
    const hold = this.holds.get(jobId)
    if (!hold) return undefined
    this.promise(hold, -1)
    this.holds.delete(jobId)
    this.owners.delete(jobId)
    return hold
  }

  /** Returns a new list after each change of the runs on the node, so callers can cache by the list. */
  runsOn(nodeId: string): readonly Running[] {
    return this.byNode.get(nodeId) ?? noRuns
  }

  modelsOf(placements: readonly Placement[]): string[] {
    return placements.flatMap(({ nodeId, gpuIds }) => {
      const devices = this.byId.get(nodeId)?.devices ?? []
      return gpuIds.flatMap((id) => devices.find(({ index }) => index === id)?.model ?? [])
    })
  }

  private move(placements: readonly Placement[], how: typeof takeResources): void {
    for (const placement of placements) {
      const node = this.byId.get(placement.nodeId)
      if (!node) continue
      how(node, placement)
      const at = this.indexOf(node.id)
      if (at === undefined) continue
      this.freeGpus[at] = countFree(node)
      this.nextEnds[at] = Number.NaN
    }
  }

  /**
   * The first start on a node after its back-off is a probe. Nodes of a delegated backend back off together, and one
   * probe is enough for all.
   */
  private countProbe({ placements, sinceMs }: Running, one: 1 | -1): void {
    if (this.backingOff.length === 0) return
    const on = new Set(placements.map(({ nodeId }) => nodeId))
    for (const { id, backOff, others } of this.backingOff)
      if (backOff && sinceMs >= backOff.untilMs && (others || on.has(id))) backOff.probes += one
  }

  private countKinds({ lane, wonTier, run, backfilledOn }: Running, one: 1 | -1): void {
    for (const node of getSharePath(lane).filter(isAccount)) {
      const runs = (this.runsOf.get(node) ?? 0) + one
      if (runs > 0) this.runsOf.set(node, runs)
      else this.runsOf.delete(node)
    }
    if (wonTier !== null) this.won += one
    if (run > 1) this.hurt += one
    if (backfilledOn !== null) this.backfilled += one
    if (lane.preemptable || lane.restartable) this.preemptable += one
  }

  /** The resources of victims count as used by the job that evicted them. */
  private promise({ jobId, placements }: Hold, sign: 1 | -1): void {
    const lane = this.owners.get(jobId)
    if (!lane) return
    this.accounts.change(getSharePath(lane), placements, sign)
    this.countUnpreemptable({ lane, placements }, sign)
  }

  private countUnpreemptable({ lane, placements }: Pick<Running, 'lane' | 'placements'>, sign: 1 | -1): void {
    if (lane.preemptable || lane.interactive) return
    this.unpreemptable = addAmounts(this.unpreemptable, sumAmounts(placements), sign)
  }

  private count({ runId, lane, placements }: Running, jobs: 1 | -1): readonly string[] {
    const { userId, teamId, queue, project, shape } = lane
    const gpu = shape.exclusive ? sumAmounts(placements).gpu : shape.gpu * shape.copies
    const job: Counted = { userId, userName: '', teamId, team: null, queue, project, gpu }
    return countHolding(this.tally, this.rules, { ...job, jobs, models: this.models.get(runId) ?? [] })
  }
}

export interface RunMove {
  known: Running
  running: Running
}

const asOf = (nowMs: number, node: FreeNode): FreeNode =>
  node.backOff ? { ...node, backOff: { ...node.backOff, isOver: node.backOff.untilMs <= nowMs } } : node

export function makeRun({ lane, entry, placements, wonTier, backfilledOn }: Start, sinceMs: number): Running {
  const { runId, jobId, run } = entry
  return {
    runId,
    jobId,
    run,
    lane,
    state: 'STARTING',
    placements,
    sinceMs,
    startedMs: null,
    leaving: false,
    backfilledOn,
    wonTier,
    lostMs: 0,
  }
}

const noRuns: readonly Running[] = []

const nodesUnder = ({ placements }: Running): Iterable<string> => new Set(placements.map(({ nodeId }) => nodeId))

/** Ignores `provisional`, the mark that the backend has not confirmed the node. */
export const isSamePlacement = (a: Running, b: Running): boolean =>
  a.placements.length === b.placements.length &&
  a.placements.every((placement, at) => {
    const other = b.placements[at]
    return other !== undefined && keyOf(placement) === keyOf(other)
  })

const keyOf = ({ nodeId, cpuMillis, memoryBytes, gpuIds, infiniband, interactive }: Placement): string =>
  [nodeId, cpuMillis, memoryBytes, gpuIds.toSorted((a, b) => a - b), infiniband, interactive].join('/')
