import { isAtOrBelow } from '../src/domain/accounts.ts'
import { findLimitReached } from '../src/domain/limits/limit-reached.ts'
import { place } from '../src/domain/machines/placement.ts'
import { listClosedNodes } from '../src/domain/machines/reservation-window.ts'
import { isFinal, isHolding } from '../src/domain/state.ts'
import type { Hold } from '../src/scheduler/plan/model.ts'
import { getSharePath, isAccount } from '../src/scheduler/plan/share-tree.ts'
import type { PoolPlan } from './actions.ts'
import { computeTally, refusesRuns, toCounted } from './breaches.ts'
import type { SimulatedJob } from './jobs.ts'
import { areFree, type Memory } from './memory.ts'

/** Invariants that are checked after every step, about a million times per run of the simulator. */
export function listBroken(memory: Memory, plan: PoolPlan): string[] {
  const broken = [...memory.breaches]
  for (const job of memory.jobs.values())
    if (isInconsistent(job)) broken.push(`${job.id} is off: ${JSON.stringify(job)}`)
  for (const { jobId } of memory.holds.values())
    if (memory.jobs.get(jobId)?.state !== 'QUEUED') broken.push(`The hold of ${jobId} has no owner who waits`)
  return [...broken, ...listDoubleUses(memory), ...listExceededQuotas(memory, plan)]
}

/** true: the state of the job contradicts its run, or the job holds resources without a complete placement. */
function isInconsistent({ state, run, lane, ended }: SimulatedJob): boolean {
  const copies = isHolding(state) ? lane.shape.copies : 0
  return (
    run.state !== state || isFinal(state) || run.placements.length !== copies || ended.some((other) => !isFinal(other))
  )
}

/** Lists devices with two runs, nodes with more resources in use than they have, and users with two interactive runs. */
function listDoubleUses(memory: Memory): string[] {
  const seen = new Set<string>()
  const twice: string[] = []
  const once = (what: string) => {
    if (seen.has(what)) twice.push(`${what} twice`)
    seen.add(what)
  }
  const free = new Map(memory.nodes.map(({ id, cpuMillis, memoryBytes }) => [id, { cpuMillis, memoryBytes }]))
  for (const { state, lane, run } of memory.jobs.values()) {
    if (lane.interactive && isHolding(state)) once(`${lane.userId}, interactive,`)
    for (const { nodeId, node, gpuIds, cpuMillis, memoryBytes } of run.placements) {
      for (const gpu of gpuIds) once(`GPU ${gpu} of ${node}`)
      const left = free.get(nodeId)
      if (!left) continue
      left.cpuMillis -= cpuMillis
      left.memoryBytes -= memoryBytes
      if (left.cpuMillis < 0 || left.memoryBytes < 0) twice.push(`The node ${node} gives more than it has`)
    }
  }
  return twice
}

function listExceededQuotas(memory: Memory, { quotas }: PoolPlan): string[] {
  return quotas
    .filter(({ type }) => type === 'CONCURRENT_JOBS')
    .flatMap(({ scope, key, limit }) => {
      let alive = 0
      for (const { lane } of memory.jobs.values())
        if (scope === 'USER' ? lane.userId === key : isAtOrBelow(lane.account, key ?? '')) alive++
      return alive > limit ? [`${key} has ${alive} jobs, and may have ${limit}`] : []
    })
}

// ── when the leader is idle ──

/** Lists jobs whose victims have all ended, but which have neither started nor a reason to wait. */
export function listUnusedHolds(memory: Memory): string[] {
  return [...memory.holds.values()]
    .filter((hold) => isFree(memory, hold))
    .filter(({ jobId }) => {
      const job = memory.jobs.get(jobId)
      return job !== undefined && !isKept(memory, job)
    })
    .map(({ jobId }) => `Others left for ${jobId}, and it does not start`)
}

function isFree(memory: Memory, { placements }: Hold): boolean {
  const takesRuns = (id: string) =>
    memory.nodes.some((node) => node.id === id && node.state === 'READY' && !refusesRuns(memory, node))
  return placements.every(({ nodeId }) => takesRuns(nodeId)) && areFree(memory, placements)
}

function isKept(memory: Memory, job: SimulatedJob): boolean {
  const { settings, nowMs } = memory
  const { reservationId, interactive, userId } = job.lane
  if (!job.open) return true
  if (interactive && memory.holding().some(({ lane }) => lane.interactive && lane.userId === userId)) return true
  const reservation = settings.reservations.find(({ id }) => id === reservationId)
  if (reservationId !== null && (!reservation || reservation.startsMs > nowMs || reservation.endsMs <= nowMs))
    return true
  if (settings.rules.some(({ model }) => model !== null)) return true
  const ceilings = { pool: settings.pool, rules: settings.rules, tally: computeTally(memory) }
  return findLimitReached(ceilings, toCounted(job)) !== null
}

/**
 * Lists jobs that are first in a lane of a capacity reservation and have not started although the reserved nodes have
 * enough free resources that no planned start keeps.
 */
export function listUnusedReservations(memory: Memory): string[] {
  const { settings, holds: kept } = memory
  if (settings.nonPreemptableFraction < 1 || kept.size > 0) return []
  const nodes = memory.freeNodes()
  const lanes = Map.groupBy(memory.open(), ({ lane }) => lane.id)
  return [...lanes.values()]
    .flatMap((jobs) => memory.first(jobs)[0] ?? [])
    .flatMap(({ jobId }) => memory.jobs.get(jobId) ?? [])
    .filter((job) => {
      const own = settings.reservations.find(({ id }) => id === job.lane.reservationId)
      const mine = nodes.filter(({ id, name }) => own?.nodes.includes(name) && !isPlanned(memory, job, id))
      return own && !isKept(memory, job) && place(job.lane.shape, mine, { interactive: job.lane.interactive })
    })
    .map(({ id }) => `${id} waits, and its reservation has room`)
}

/**
 * Lists jobs that wait although they would delay no job before them: their resources are free on a node on which
 * nothing is kept, or on planned nodes until after their end.
 */
export function listIdleJobs(memory: Memory): string[] {
  const { settings, holds, nowMs } = memory
  if (settings.nonPreemptableFraction < 1) return []
  const nodes = memory.freeNodes().filter((node) => !refusesRuns(memory, node))
  const held = new Set([...holds.values()].flatMap(({ placements }) => placements.map(({ nodeId }) => nodeId)))
  return memory.open().flatMap((job) => {
    if (holds.has(job.id) || job.lane.reservationId !== null || isKept(memory, job)) return []
    const { runSeconds, shape, interactive } = job.lane
    const closed = listClosedNodes(settings.reservations, { atMs: nowMs, runSeconds })
    const open = nodes.filter(({ id, name }) => !closed.has(name) && !held.has(id) && !isPlanned(memory, job, id))
    return place(shape, open, { interactive }) ? [`${job.id} waits, and would delay no job before it`] : []
  })
}

/** true: another job has a planned start on the node before this job would end. */
function isPlanned({ views, nowMs }: Memory, { id: jobId, lane: { runSeconds } }: SimulatedJob, id: string): boolean {
  const endsMs = runSeconds === null ? Number.POSITIVE_INFINITY : nowMs + runSeconds * 1_000
  return [...views.plans].some(
    ([owner, { placements, expectedMs }]) =>
      owner !== jobId && placements.some(({ nodeId }) => nodeId === id) && (expectedMs === null || endsMs > expectedMs),
  )
}

export function listViewErrors(memory: Memory): string[] {
  const { lanes, accounts } = memory.views
  const byLane = Map.groupBy(memory.open(), ({ lane }) => lane.id)
  const names = new Set(
    [...memory.holding(), ...memory.open()].flatMap(({ lane }) => getSharePath(lane).filter(isAccount)),
  )
  const count = (jobs: readonly SimulatedJob[], name: string) =>
    jobs.filter(({ lane }) => isAtOrBelow(lane.account, name)).length
  return [
    ...[...lanes.keys()].filter((id) => !byLane.has(id)).map((id) => `The lane ${id} is shown, and no job waits in it`),
    ...[...byLane].flatMap(([id, jobs]) => {
      const row = lanes.get(id)
      const head = memory.first(jobs)[0]
      const isSo = row?.waiting === jobs.length && row.headJobId === head?.jobId && row.headSequence === head.sequence
      return isSo
        ? []
        : [`The lane ${id} has ${jobs.length} with ${head?.jobId} first, and shows ${JSON.stringify(row)}`]
    }),
    ...[...accounts.keys()].filter((name) => !names.has(name)).map((name) => `The account ${name} is shown`),
    ...[...names].flatMap((name) => {
      const row = accounts.get(name)
      const has = { running: count(memory.holding(), name), queued: count(memory.open(), name) }
      return row?.running === has.running && row.queued === has.queued
        ? []
        : [`The account ${name} has ${JSON.stringify(has)}, and shows ${JSON.stringify(row)}`]
    }),
  ]
}
