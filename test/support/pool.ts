import type { Lane } from '../../src/domain/lanes.ts'
import type { FreeNode, Placement } from '../../src/domain/machines/placement.ts'
import type { Shape } from '../../src/domain/shape.ts'
import { Machines } from '../../src/scheduler/plan/machines.ts'
import type {
  Hold,
  PastPreemption,
  PlannedStart,
  PoolSettings,
  Running,
  Waiting,
  WorldView,
} from '../../src/scheduler/plan/model.ts'
import { type EvictionPlan, planPreemption } from '../../src/scheduler/plan/preemption.ts'
import { unlimited } from '../../src/scheduler/plan/rations.ts'
import { lane as makeLane, makeRunning, settings as makeSettings } from './planning.ts'

/** A pool in memory for tests of parts of the planner: the test places the runs. */
export class TestPool implements WorldView {
  nowMs = 1_000_000_000
  readonly settings: PoolSettings
  readonly machines = new Machines()
  readonly holds = new Map<string, Hold>()
  readonly plans = new Map<string, PlannedStart>()
  readonly preemptions: PastPreemption[] = []
  private jobs = 0

  constructor(nodes: readonly FreeNode[], settings: Partial<PoolSettings> = {}) {
    this.settings = makeSettings({ policy: 'FAIR_SHARE', ...settings })
    this.machines.accounts.setWeights(this.settings.weights)
    this.machines.accounts.setHalfLife(this.settings.shareHalfLifeMs)
    this.machines.accounts.past.nowMs = this.nowMs
    this.machines.setNodes(nodes, this.nowMs)
  }

  /** Advances the time. If past use counts, shares change only by this. */
  moveTime(ms: number): void {
    this.nowMs += ms
    const { accounts } = this.machines
    accounts.past.nowMs = this.nowMs
    for (const account of accounts.due(() => this.machines.meanAgeMs(this.nowMs))) accounts.renew(account)
  }

  get nodes() {
    return this.machines.nodes
  }
  get nextEnds() {
    return this.machines.nextEnds
  }
  get running() {
    return this.machines.running
  }
  runsOn(nodeId: string) {
    return this.machines.runsOn(nodeId)
  }
  occupancy(account: string, { extra, without }: Parameters<WorldView['occupancy']>[1] = {}) {
    return this.machines.accounts.occupancy(account, extra, without)
  }
  outranks() {
    return false
  }
  share(account: string) {
    return this.machines.accounts.share(account)
  }

  /** Adds runs. By default each starts a second after the previous one. */
  run(lane: Lane, on: readonly On[], more: Partial<Running> = {}): Running {
    const number = ++this.jobs
    const { cpuMillis, memoryBytes, infiniband } = lane.shape
    const placements = on.map(([nodeId, gpuIds = []], replica): Placement => {
      const takes = { cpuMillis, memoryBytes, infiniband, interactive: lane.interactive }
      return { nodeId, node: nodeId, replica, gpuIds, ...takes }
    })
    const ids = { runId: `run_${number}`, jobId: `job_${String(number).padStart(6, '0')}`, run: 1 }
    const sinceMs = this.nowMs - 10_000_000 + number * 1000
    const running = makeRunning(lane, ids, { placements, sinceMs, startedMs: null, ...more })
    this.machines.add(running)
    return running
  }

  /** Lists the runs that would be evicted for a job of this lane. */
  evict(of: Lane, more: Partial<Waiting> = {}): EvictionPlan | null {
    const jobId = more.jobId ?? 'job_claimant'
    const entry = { jobId, laneId: of.id, runId: 'run_claimant', run: 1, bid: 0, sequence: 1, sinceMs: 0, ...more }
    return planPreemption(this, { lane: of, entry, ration: unlimited })
  }
}

/** A node and its devices. */
export type On = readonly [nodeId: string, gpuIds?: readonly number[]]

export interface LaneAsks extends Partial<Omit<Lane, 'shape'>> {
  gpu?: number
  cpu?: number
  shape?: Partial<Shape>
}

let lanes = 0

export function lane(account: string, { gpu = 0, cpu = 1, shape: asks = {}, ...more }: LaneAsks = {}): Lane {
  return makeLane(`lane_${++lanes}`, {
    userId: `user_${account}`,
    account,
    preemptable: more.restartable === true,
    shape: { gpu, cpuMillis: cpu * 1000, ...asks },
    ...more,
  })
}

export const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
