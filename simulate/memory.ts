import type { Lane } from '../src/domain/lanes.ts'
import { none, type ResourceAmounts, sumAmounts } from '../src/domain/machines/amounts.ts'
import { clearRuns } from '../src/domain/machines/machines.ts'
import { type FreeNode, type Placement, takeResources } from '../src/domain/machines/placement.ts'
import { isFinal, isHolding } from '../src/domain/state.ts'
import { windowSize } from '../src/scheduler/plan/lane-window.ts'
import type { Views } from '../src/scheduler/plan/leader-store.ts'
import type {
  Hold,
  LaneState,
  PastPreemption,
  PoolSettings,
  Running,
  Snapshot,
  Waiting,
} from '../src/scheduler/plan/model.ts'
import { toLeaf } from '../src/scheduler/plan/share-tree.ts'
import { moveJob, type SimulatedJob, type SimulatedMove } from './jobs.ts'

/** The changes that triggers of the tables write for the leader. */
export type Told =
  | { kind: 'JOINED' | 'LEFT'; jobId: string; entry: Waiting }
  | { kind: 'RUN'; runId: string }
  | { kind: 'NODES' }
  | { kind: 'SETTINGS' }

type Shown = {
  [Part in keyof Views]: Map<string, Exclude<Views[Part] extends ReadonlyMap<string, infer Row> ? Row : never, null>>
}

interface Use {
  runId: string
  leaf: string
  amounts: ResourceAmounts
  sinceMs: number
  /** null: the run still holds resources. */
  untilMs: number | null
}

export class Memory {
  nowMs = 1_000_000_000
  /** The time of the last changes that the leader has read. */
  heardMs = 0
  epoch = 0
  /** Jobs that are not over. */
  readonly jobs = new Map<string, SimulatedJob>()
  readonly holds = new Map<string, Hold>()
  preemptions: (PastPreemption & { victimRunId: string; lostMs: number })[] = []
  nodes: FreeNode[]
  settings: PoolSettings
  /** Invariants that a write violated, checked at the time of the write. */
  readonly breaches: string[] = []
  readonly views: Shown = { lanes: new Map(), plans: new Map(), accounts: new Map() }
  told: Told[] = []
  readonly uses: Use[] = []
  readonly runs = new Map<string, SimulatedJob>()
  #ids = 0
  #sequence = 0

  constructor(settings: PoolSettings, nodes: readonly FreeNode[]) {
    this.settings = settings
    this.nodes = [...nodes]
  }

  newId(kind: string): string {
    this.#ids += 1
    return `${kind}_${this.#ids}`
  }

  nextSequence(): number {
    this.#sequence += 1
    return this.#sequence
  }

  // ── what happens to jobs ──

  add(job: SimulatedJob): void {
    this.jobs.set(job.id, job)
    this.runs.set(job.run.id, job)
    if (job.state === 'QUEUED') this.#enter(job)
  }

  move(job: SimulatedJob, move: SimulatedMove): void {
    const held = isHolding(job.state)
    const { run } = job
    if (job.state === 'QUEUED') {
      this.#leave(job)
      this.holds.delete(job.id)
    }
    moveJob(job, move, () => this.newId('run'))
    if (held) this.tellRun(run.id)
    if (held && (job.run !== run || !isHolding(job.state))) this.#endUse(run.id)
    if (job.run !== run) {
      this.runs.delete(run.id)
      this.runs.set(job.run.id, job)
    }
    if (job.state === 'QUEUED') this.#enter(job)
    if (!isFinal(job.state)) return
    this.runs.delete(job.run.id)
    this.jobs.delete(job.id)
  }

  shift(job: SimulatedJob, lane: Lane): void {
    if (job.state === 'QUEUED') this.#leave(job)
    job.lane = lane
    if (job.state === 'QUEUED') this.#enter(job)
  }

  changeNodes(nodes: readonly FreeNode[]): void {
    this.nodes = [...nodes]
    this.told.push({ kind: 'NODES' })
    this.changeSettings({})
  }

  changeSettings(settings: Partial<PoolSettings>): void {
    this.settings = { ...this.settings, ...settings, revision: this.settings.revision + 1 }
    this.told.push({ kind: 'SETTINGS' })
  }

  begin(job: SimulatedJob, placements: readonly Placement[]): void {
    const amounts = sumAmounts(placements)
    this.uses.push({ runId: job.run.id, leaf: toLeaf(job.lane), amounts, sinceMs: this.nowMs, untilMs: null })
  }

  #endUse(runId: string): void {
    const use = this.uses.findLast((one) => one.runId === runId)
    if (use) use.untilMs = this.nowMs
  }

  tellRun(runId: string): void {
    this.told.push({ kind: 'RUN', runId })
  }

  /** Opens entries whose gates are all open. Returns the time at which the next time gate opens. */
  openGates(): number | null {
    let nextMs: number | null = null
    for (const job of this.jobs.values()) {
      if (job.state !== 'QUEUED' || job.open) continue
      if (job.eligibleMs > this.nowMs) nextMs = Math.min(nextMs ?? job.eligibleMs, job.eligibleMs)
      else if (this.#gatesOpen(job)) {
        job.open = true
        this.#tell('JOINED', job)
      }
    }
    return nextMs
  }

  #gatesOpen({ eligibleMs, after }: SimulatedJob): boolean {
    return eligibleMs <= this.nowMs && after.every((id) => !this.jobs.has(id))
  }

  #enter(job: SimulatedJob): void {
    job.open = this.#gatesOpen(job)
    if (job.open) this.#tell('JOINED', job)
  }

  #leave(job: SimulatedJob): void {
    if (job.open) this.#tell('LEFT', job)
  }

  #tell(kind: 'JOINED' | 'LEFT', job: SimulatedJob): void {
    this.told.push({ kind, jobId: job.id, entry: this.entryOf(job) })
  }

  // ── reading ──

  entryOf({ id, run, bid, turn, eligibleMs, lane }: SimulatedJob): Waiting {
    const counted = this.settings.policy === 'FAIR_SHARE' || lane.interactive ? bid : 0
    return {
      jobId: id,
      laneId: lane.id,
      runId: run.id,
      run: run.number,
      bid: counted,
      sequence: turn,
      sinceMs: eligibleMs,
    }
  }

  open(): SimulatedJob[] {
    return [...this.jobs.values()].filter(({ state, open }) => state === 'QUEUED' && open)
  }

  holding(): SimulatedJob[] {
    return [...this.jobs.values()].filter(({ state }) => isHolding(state))
  }

  runningOf({ id, lane, state, run }: SimulatedJob): Running {
    if (!isHolding(state)) throw new Error(`${id} is ${state}`)
    return {
      runId: run.id,
      jobId: id,
      run: run.number,
      lane,
      state,
      placements: run.placements,
      sinceMs: run.sinceMs,
      startedMs: run.startedMs,
      leaving: run.leaves !== null,
      backfilledOn: run.backfilledOn,
      wonTier: run.wonTier,
      lostMs: this.lostBefore(id, run.id),
    }
  }

  /** Run time that earlier runs of the job lost to preemptions. */
  lostBefore(jobId: string, runId: string): number {
    let lostMs = 0
    for (const one of this.preemptions) if (one.victimJobId === jobId && one.victimRunId !== runId) lostMs += one.lostMs
    return lostMs
  }

  freeNodes(): FreeNode[] {
    const nodes = this.nodes.map(clearRuns)
    const byId = new Map(nodes.map((node) => [node.id, node]))
    for (const { run } of this.holding())
      for (const placement of run.placements) {
        const node = byId.get(placement.nodeId)
        if (node) takeResources(node, placement)
      }
    return nodes
  }

  snapshot(): Snapshot {
    return {
      nowMs: this.nowMs,
      settings: this.settings,
      nodes: this.freeNodes(),
      lanes: this.#lanes(),
      running: this.holding()
        .sort((a, b) => a.run.sinceMs - b.run.sinceMs || a.run.place - b.run.place)
        .map((job) => this.runningOf(job)),
      holds: [...this.holds.values()],
      preemptions: [...this.preemptions],
      served: this.uses,
      decayedUse: this.#decayedUse(),
    }
  }

  #decayedUse(): Map<string, ResourceAmounts> {
    const decayed = new Map<string, ResourceAmounts>()
    const { shareHalfLifeMs } = this.settings
    if (shareHalfLifeMs === null) return decayed
    const weightAt = (atMs: number) => 2 ** ((atMs - this.nowMs) / shareHalfLifeMs)
    for (const { leaf, amounts, sinceMs, untilMs } of this.uses) {
      const weight = weightAt(untilMs ?? this.nowMs) - weightAt(sinceMs)
      const { cpu, memory, gpu } = decayed.get(leaf) ?? none
      decayed.set(leaf, {
        cpu: cpu + weight * amounts.cpu,
        memory: memory + weight * amounts.memory,
        gpu: gpu + weight * amounts.gpu,
      })
    }
    return decayed
  }

  #lanes(): LaneState[] {
    const byLane = Map.groupBy(this.open(), ({ lane }) => lane.id)
    return [...byLane.values()].flatMap((jobs) => {
      const lane = jobs[0]?.lane
      return lane ? [{ lane, userName: lane.userId, team: null, waiting: jobs.length, first: this.first(jobs) }] : []
    })
  }

  first(jobs: readonly SimulatedJob[]): Waiting[] {
    const entries = jobs.map((job) => this.entryOf(job))
    return entries.sort((a, b) => b.bid - a.bid || a.sequence - b.sequence).slice(0, windowSize)
  }
}

/** true: the nodes have enough free resources for all placements together. */
export function areFree(memory: Memory, placements: readonly Placement[]): boolean {
  if (placements.length === 0) return true
  const nodes = new Map(memory.freeNodes().map((node) => [node.id, node]))
  return placements.every((placement) => {
    const node = nodes.get(placement.nodeId)
    if (!node) return false
    const hasDevices = placement.gpuIds.every((id) => node.devices.find(({ index }) => index === id)?.free)
    const hasFabric = !placement.infiniband || node.infinibandFree
    takeResources(node, placement)
    return hasDevices && hasFabric && node.freeCpu >= 0 && node.freeMemory >= 0
  })
}
