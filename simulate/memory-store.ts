import { Fenced } from '../src/domain/leadership.ts'
import { isHolding } from '../src/domain/state.ts'
import type { Committed, KnownLanes, ReceivedChanges, Store } from '../src/scheduler/plan/leader-store.ts'
import type { Change, Decisions, Eviction, Start } from '../src/scheduler/plan/model.ts'
import { toLeaf } from '../src/scheduler/plan/share-tree.ts'
import { listBreaches, listEvictedTooOften, listExcessiveLosses, listFutileRotations } from './breaches.ts'
import type { SimulatedJob } from './jobs.ts'
import { areFree, type Memory } from './memory.ts'

/**
 * The tables in memory as one leader sees them, with the same guarantees as on PostgreSQL (src/scheduler/stored), so
 * that the real planner and its loop can run over them a million times. Writes of a leader after the end of its epoch
 * are refused.
 */
export function createMemoryStore(memory: Memory, epoch: number): Store {
  const fence = () => {
    if (memory.epoch !== epoch) throw new Fenced(`Epoch ${epoch} is over`)
  }
  /** true: the next publication replaces the views of the previous leader. */
  let replaces = true
  return {
    async load() {
      fence()
      replaces = true
      memory.openGates()
      memory.told = []
      memory.heardMs = memory.nowMs
      return memory.snapshot()
    },
    async changes(known) {
      fence()
      return hear(memory, known)
    },
    async first(laneIds) {
      const byLane = Map.groupBy(memory.open(), ({ lane }) => lane.id)
      return new Map(laneIds.map((id) => [id, memory.first(byLane.get(id) ?? [])]))
    },
    async commit(decisions, revision) {
      fence()
      return revision === memory.settings.revision ? commit(memory, decisions) : { kind: 'stale' }
    },
    async publish(views) {
      fence()
      if (replaces) for (const rows of Object.values(memory.views)) rows.clear()
      replaces = false
      show(memory.views.lanes, views.lanes)
      show(memory.views.plans, views.plans)
      show(memory.views.accounts, views.accounts)
    },
  }
}

function show<Row>(shown: Map<string, Row>, changed: ReadonlyMap<string, Row | null>): void {
  for (const [key, row] of changed)
    if (row === null) shown.delete(key)
    else shown.set(key, row)
}

// ── changes ──

/** Opens entries that are due and returns the changes since the last call: each present run, node and setting once. */
function hear(memory: Memory, known: KnownLanes): ReceivedChanges {
  const nextDueMs = memory.openGates()
  const { told, nowMs } = memory
  memory.told = []
  memory.heardMs = nowMs
  const lanes = new Map<string, ReceivedChanges['lanes'][number]>()
  const entries: Change[] = []
  const others = new Map<string, Change>()
  for (const one of told)
    switch (one.kind) {
      case 'JOINED': {
        const lane = memory.jobs.get(one.jobId)?.lane
        if (lane?.id === one.entry.laneId && !known.has(lane.id))
          lanes.set(lane.id, { lane, userName: lane.userId, team: null })
        if (known.has(one.entry.laneId) || lanes.has(one.entry.laneId))
          entries.push({ kind: 'JOINED', entry: one.entry })
        break
      }
      case 'LEFT':
        entries.push({ kind: 'LEFT', jobId: one.jobId, laneId: one.entry.laneId })
        break
      case 'RUN':
        others.set(one.runId, runChange(memory, one.runId))
        break
      case 'NODES':
        others.set('nodes', { kind: 'NODES', nodes: memory.freeNodes() })
        break
      case 'SETTINGS':
        others.set('settings', { kind: 'SETTINGS', settings: memory.settings })
        break
      default:
        one satisfies never
    }
  return { nowMs, changes: [...entries, ...others.values()], lanes: [...lanes.values()], nextDueMs, more: false }
}

function runChange(memory: Memory, runId: string): Change {
  const job = memory.runs.get(runId)
  if (job && isHolding(job.state)) return { kind: 'RUN', runId, running: memory.runningOf(job) }
  const isSpared = memory.preemptions.every(({ victimRunId }) => victimRunId !== runId)
  return { kind: 'RUN', runId, running: null, isSpared }
}

// ── committing ──

function commit(memory: Memory, decisions: Decisions): Committed {
  const lost: string[] = []
  const wins: [SimulatedJob, Start][] = []
  for (const start of decisions.starts) {
    const job = queued(memory, start.entry)
    if (job) wins.push([job, start])
    else lost.push(start.entry.jobId)
  }
  // The constraints of the tables would refuse these placements.
  const given = wins.flatMap(([, { placements }]) => placements)
  if (!areFree(memory, given)) return { kind: 'conflict' }
  const dropped = new Set(decisions.dropped)
  for (const [job, start] of wins) {
    memory.breaches.push(...listBreaches(memory, { job, start, dropped }))
    begin(memory, job, start)
  }
  for (const { entry } of decisions.refused) {
    const job = queued(memory, entry)
    if (job) memory.move(job, { to: 'FAILED', reason: 'INTERACTIVE_QUOTA' })
  }
  for (const jobId of decisions.dropped) memory.holds.delete(jobId)
  for (const eviction of decisions.evictions) if (!evict(memory, eviction)) lost.push(eviction.claimant.jobId)
  return { kind: 'committed', lost, sinceMs: new Map(wins.map(([{ id, run }]) => [id, run.sinceMs])) }
}

function queued(memory: Memory, { jobId, runId }: Start['entry']): SimulatedJob | undefined {
  const job = memory.jobs.get(jobId)
  return job?.state === 'QUEUED' && job.run.id === runId ? job : undefined
}

function begin(memory: Memory, job: SimulatedJob, { placements, wonTier, backfilledOn }: Start): void {
  memory.move(job, { to: 'STARTING', reason: null })
  memory.begin(job, placements)
  Object.assign(job.run, { placements, wonTier, backfilledOn, sinceMs: memory.nowMs, place: memory.nextSequence() })
}

/** false: the claimant does not wait any more, so no run is evicted for it. */
function evict(memory: Memory, { claimant, hold, victims }: Eviction): boolean {
  const claiming = memory.jobs.get(claimant.jobId)
  if (claiming?.state !== 'QUEUED') {
    for (const { running } of victims) memory.tellRun(running.runId)
    return false
  }
  memory.holds.set(claimant.jobId, hold)
  for (const { running, tier } of victims) {
    const job = memory.runs.get(running.runId)
    if (!job || job.run.leaves !== null || (job.state !== 'STARTING' && job.state !== 'RUNNING')) continue
    job.run.leaves = 'ASKED'
    const lostMs = job.run.startedMs === null ? 0 : memory.nowMs - job.run.startedMs
    const past = { atMs: memory.nowMs, tier, claimantJobId: claimant.jobId, victimJobId: job.id }
    const leaves = { claimant: toLeaf(claiming.lane), victim: toLeaf(job.lane) }
    if (tier === 1 || tier === 2) memory.breaches.push(...listExcessiveLosses(memory, job, lostMs))
    memory.preemptions.push({ ...past, ...leaves, victimRunId: running.runId, lostMs })
    if (tier === 1 || tier === 2) memory.breaches.push(...listEvictedTooOften(memory, job.id))
    if (tier === 2) memory.breaches.push(...listFutileRotations(memory))
    memory.tellRun(running.runId)
  }
  return true
}
