import {
  type Amount,
  type Counted,
  countHolding,
  type LimitReached,
  limitReached,
  modelLimitReached,
} from '../src/domain/limits/limit-reached.ts'
import type { BackOff, FreeNode } from '../src/domain/machines/machines.ts'
import type { PastPreemption, Start } from '../src/scheduler/plan/model.ts'
import { partingNodes, pathTo } from '../src/scheduler/plan/share-tree.ts'
import type { SimulatedJob } from './jobs.ts'
import type { Memory } from './memory.ts'

/** Invariants that must hold at the time when a start is written, even if the decision is older. */
export const breachesOf = (memory: Memory, written: Written): string[] => [
  ...beyondLimit(memory, written),
  ...inTheWrongPlace(memory, written),
]

interface Written {
  job: SimulatedJob
  start: Start
  /** Jobs that lose their holds by the same decision. */
  dropped: ReadonlySet<string>
}

export const countedOf = ({ lane }: SimulatedJob, placements?: Start['placements']): Counted => ({
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

/** Current usage by the runs that count. */
export function tallyOf(memory: Memory): Map<string, Amount> {
  const tally = new Map<string, Amount>()
  for (const other of memory.holding()) {
    const models = modelsOf(memory, other.run.placements)
    countHolding(tally, memory.settings.rules, { ...countedOf(other, other.run.placements), jobs: 1, models })
  }
  return tally
}

function beyondLimit(memory: Memory, { job, start }: Written): string[] {
  const held = limitAgainst(memory, job, start.placements)
  return held ? [`${job.id} started beyond a limit: ${held.message}`] : []
}

/** The limit that forbids starting the job on these nodes. */
function limitAgainst(memory: Memory, job: SimulatedJob, placements: Start['placements']): LimitReached | null {
  const { rules, pool } = memory.settings
  if (rules.length === 0) return null
  const ceilings = { pool, rules, tally: tallyOf(memory) }
  const counted = countedOf(job)
  return (
    limitReached(ceilings, counted) ?? modelLimitReached(ceilings, counted, modelsOf(memory, placements))?.limit ?? null
  )
}

/** When the leader is idle, a job that cannot start must not keep the resources of evicted runs. */
export function claimedForNothing(memory: Memory): string[] {
  return [...memory.holds.values()].flatMap(({ jobId }) => {
    const job = memory.jobs.get(jobId)
    const held = job ? limitAgainst(memory, job, []) : null
    return held ? [`Resources are kept for ${jobId}, which may not start: ${held.message}`] : []
  })
}

function modelsOf(memory: Memory, placements: Start['placements']): string[] {
  return placements.flatMap(({ nodeId, gpuIds }) => {
    const devices = memory.nodes.find(({ id }) => id === nodeId)?.devices ?? []
    return devices.filter(({ index }) => gpuIds.includes(index)).map(({ model }) => model)
  })
}

/** Starts on a node that takes no runs, or on resources that were freed for another job. */
function inTheWrongPlace(memory: Memory, { job, start: { placements }, dropped }: Written): string[] {
  const { nodes, holds, settings, heardMs } = memory
  const closed = placements.flatMap(({ nodeId, node }) => {
    const on = nodes.find(({ id }) => id === nodeId)
    if (on?.backOff && on.backOff.untilMs > heardMs) return [`${job.id} started on ${node}, which backs off`]
    if (on?.backOff && isTried(memory, nodeId, on.backOff))
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

/** true: the node backs off, or already has the one run that may be tried after that. */
export const takesNoRun = (memory: Memory, { id, backOff }: FreeNode): boolean =>
  backOff !== null && (backOff.untilMs > memory.heardMs || isTried(memory, id, backOff))

/** true: a run on the node was placed after the back-off. */
const isTried = (memory: Memory, nodeId: string, { untilMs }: BackOff): boolean =>
  memory.holding().some(({ run }) => run.sinceMs >= untilMs && run.placements.some((one) => one.nodeId === nodeId))

/** Jobs that batch jobs preempted more often than allowed within one quantum. */
export function evictedTooOften({ preemptions, settings, nowMs }: Memory, jobId: string): string[] {
  const { rotationQuantumMs, maxPreemptionsPerJob } = settings
  const since = nowMs - Math.max(rotationQuantumMs, 0)
  const times = preemptions.filter(
    ({ tier, atMs, victimJobId }) => victimJobId === jobId && (tier === 1 || tier === 2) && atMs > since,
  ).length
  return times > maxPreemptionsPerJob ? [`${jobId} was evicted ${times} times in a quantum`] : []
}

/**
 * true: a job that lost work is evicted again before it ran twice as long as it had lost. The decision may be older
 * than the present database time.
 */
export function losesTooMuch(memory: Memory, { id, run }: SimulatedJob, ranMs: number): string[] {
  const lostMs = memory.lostBefore(id, run.id)
  return run.number > 1 && ranMs < 2 * lostMs
    ? [`${id} lost ${lostMs} ms before, and is evicted after ${ranMs} ms`]
    : []
}

/** Rotations that break the rule that a node of the tree of shares either only loses or only gains within a quantum. */
export function changesNothing({ preemptions, settings, nowMs }: Memory): string[] {
  const since = nowMs - Math.max(settings.rotationQuantumMs, 0)
  const newest = preemptions.at(-1)
  const parted = ({ claimant, victim }: PastPreemption) => partingNodes(pathTo(claimant), pathTo(victim)) ?? []
  const [taker, giver] = newest ? parted(newest) : []
  const recent = preemptions.filter(({ tier, atMs }) => tier === 2 && atMs > since).map(parted)
  const isBack = recent.some(([claimant, victim]) => claimant === giver || victim === taker)
  return newest && isBack ? [`${giver} gives to ${taker}, and one of them did the opposite`] : []
}
