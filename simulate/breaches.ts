import {
  type Amount,
  type Counted,
  countHolding,
  findLimitReached,
  findModelLimitReached,
  type LimitReached,
} from '../src/domain/limits/limit-reached.ts'
import type { BackOff, FreeNode } from '../src/domain/machines/machines.ts'
import type { PastPreemption, Start } from '../src/scheduler/plan/model.ts'
import { findPartingNodes, listPathTo } from '../src/scheduler/plan/share-tree.ts'
import type { SimulatedJob } from './jobs.ts'
import type { Memory } from './memory.ts'

/** Lists violated invariants that must hold when a start is written, even if the decision is older. */
export const listBreaches = (memory: Memory, written: Written): string[] => [
  ...listExceededLimits(memory, written),
  ...listWrongPlacements(memory, written),
]

interface Written {
  job: SimulatedJob
  start: Start
  /** Jobs whose holds the same decision drops. */
  dropped: ReadonlySet<string>
}

export const toCounted = ({ lane }: SimulatedJob, placements?: Start['placements']): Counted => ({
  userId: lane.userId,
  userName: lane.userId,
  teamId: null,
  team: null,
  queue: lane.queue,
  project: lane.project,
  gpu:
    placements && lane.shape.exclusive
      ? placements.reduce((sum, { gpuIds }) => sum + gpuIds.length, 0)
      : lane.shape.gpu * lane.shape.copies,
  exclusive: lane.shape.exclusive,
})

export function computeTally(memory: Memory): Map<string, Amount> {
  const tally = new Map<string, Amount>()
  for (const other of memory.holding()) {
    const models = modelsOf(memory, other.run.placements)
    countHolding(tally, memory.settings.rules, { ...toCounted(other, other.run.placements), jobs: 1, models })
  }
  return tally
}

function listExceededLimits(memory: Memory, { job, start }: Written): string[] {
  const held = findForbiddingLimit(memory, job, start.placements)
  return held ? [`${job.id} started beyond a limit: ${held.message}`] : []
}

/** Finds the limit that forbids the start of the job with these placements. */
function findForbiddingLimit(memory: Memory, job: SimulatedJob, placements: Start['placements']): LimitReached | null {
  const { rules, pool } = memory.settings
  if (rules.length === 0) return null
  const ceilings = { pool, rules, tally: computeTally(memory) }
  const counted = toCounted(job)
  return (
    findLimitReached(ceilings, counted) ??
    findModelLimitReached(ceilings, counted, modelsOf(memory, placements))?.limit ??
    null
  )
}

/** Lists jobs that cannot start but keep resources of evicted runs, although the leader is idle. */
export function listFutileClaims(memory: Memory): string[] {
  return [...memory.holds.values()].flatMap(({ jobId }) => {
    const job = memory.jobs.get(jobId)
    const held = job ? findForbiddingLimit(memory, job, []) : null
    return held ? [`Resources are kept for ${jobId}, which may not start: ${held.message}`] : []
  })
}

function modelsOf(memory: Memory, placements: Start['placements']): string[] {
  return placements.flatMap(({ nodeId, gpuIds }) => {
    const devices = memory.nodes.find(({ id }) => id === nodeId)?.devices ?? []
    return devices.filter(({ index }) => gpuIds.includes(index)).map(({ model }) => model)
  })
}

/** Lists placements of a start on nodes that take no runs, or on resources that were freed for another job. */
function listWrongPlacements(memory: Memory, { job, start: { placements }, dropped }: Written): string[] {
  const { nodes, holds, settings, heardMs } = memory
  const closed = placements.flatMap(({ nodeId, node }) => {
    const on = nodes.find(({ id }) => id === nodeId)
    if (on?.backOff && on.backOff.untilMs > heardMs) return [`${job.id} started on ${node}, which backs off`]
    if (on?.backOff && hasProbe(memory, nodeId, on.backOff))
      return [`${job.id} started on ${node}, where another is tried`]
    return on?.state === 'READY' ? [] : [`${job.id} started on ${node}, which is ${on?.state}`]
  })
  const kept = [...holds.values()]
    .filter(({ jobId }) => jobId !== job.id && !dropped.has(jobId))
    .filter((hold) =>
      hold.placements.some((held) =>
        placements.some(
          ({ nodeId, gpuIds }) => nodeId === held.nodeId && gpuIds.some((id) => held.gpuIds.includes(id)),
        ),
      ),
    )
    .map(({ jobId }) => `${job.id} started on a GPU that is kept for ${jobId}`)
  const foreign = settings.reservations
    .filter(({ id, startsMs, endsMs }) => id !== job.lane.reservationId && startsMs <= heardMs && endsMs > heardMs)
    .filter((reservation) => placements.some(({ node }) => reservation.nodes.includes(node)))
    .map(({ id }) => `${job.id} started on a node that is reserved as ${id}`)
  return [...closed, ...kept, ...foreign]
}

/** true: the node backs off, or already has the probe that it may get after the back-off. */
export const refusesRuns = (memory: Memory, { id, backOff }: FreeNode): boolean =>
  backOff !== null && (backOff.untilMs > memory.heardMs || hasProbe(memory, id, backOff))

const hasProbe = (memory: Memory, nodeId: string, { untilMs }: BackOff): boolean =>
  memory.holding().some(({ run }) => run.sinceMs >= untilMs && run.placements.some((one) => one.nodeId === nodeId))

/** Lists jobs that batch jobs preempted more often than allowed within one quantum. */
export function listEvictedTooOften({ preemptions, settings, nowMs }: Memory, jobId: string): string[] {
  const { rotationQuantumMs, maxPreemptionsPerJob } = settings
  const since = nowMs - Math.max(rotationQuantumMs, 0)
  const times = preemptions.filter(
    ({ tier, atMs, victimJobId }) => victimJobId === jobId && (tier === 1 || tier === 2) && atMs > since,
  ).length
  return times > maxPreemptionsPerJob ? [`${jobId} was evicted ${times} times in a quantum`] : []
}

/**
 * Lists jobs that lost work and are evicted again before they ran twice the lost time. The decision may be older
 * than the present database time.
 */
export function listExcessiveLosses(memory: Memory, { id, run }: SimulatedJob, ranMs: number): string[] {
  const lostMs = memory.lostBefore(id, run.id)
  return run.number > 1 && ranMs < 2 * lostMs
    ? [`${id} lost ${lostMs} ms before, and is evicted after ${ranMs} ms`]
    : []
}

/** Lists rotations in which a node of the tree of shares both loses and gains runs within a quantum. */
export function listFutileRotations({ preemptions, settings, nowMs }: Memory): string[] {
  const since = nowMs - Math.max(settings.rotationQuantumMs, 0)
  const newest = preemptions.at(-1)
  const parted = ({ claimant, victim }: PastPreemption) =>
    findPartingNodes(listPathTo(claimant), listPathTo(victim)) ?? []
  const [taker, giver] = newest ? parted(newest) : []
  const recent = preemptions.filter(({ tier, atMs }) => tier === 2 && atMs > since).map(parted)
  const isBack = recent.some(([claimant, victim]) => claimant === giver || victim === taker)
  return newest && isBack ? [`${giver} gives to ${taker}, and one of them did the opposite`] : []
}
