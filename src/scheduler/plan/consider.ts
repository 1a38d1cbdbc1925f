import { findTraits } from '../../domain/executors.ts'
import { describeInteractiveLimit } from '../../domain/jobs/one-interactive.ts'
import type { Lane } from '../../domain/lanes.ts'
import { type LimitReached, limitReached, modelLimitReached } from '../../domain/limits/limit-reached.ts'
import { type ResourceAmounts, requestedAmounts, sumAmounts } from '../../domain/machines/amounts.ts'
import { couldEverFit, countFree, type FreeNode, indexMachines, place } from '../../domain/machines/placement.ts'
import {
  limitedBy,
  makeReason,
  noCapacity,
  nodesClosed,
  overPart as overPartReason,
  type Reason,
  reservedForOthers,
  troubled,
  unsatisfiable,
} from '../../domain/reason.ts'
import { inWords, type Shape } from '../../domain/shape.ts'
import { isComplete, keptFrom, usableFor } from './holds.ts'
import type { LaneWindow, QueuedJob } from './lane-window.ts'
import type { Hold, Start, WorldView } from './model.ts'
import { mayPlan } from './planned-starts.ts'
import { computeRation, limitBehindRation, type Ration, unlimited, type View, wholeNode, within } from './rations.ts'
import { nodesFor, openNodes, readyNodes, reservationGate, reservedNodes } from './reservations.ts'
import type { PoolState } from './state.ts'
import { earlyView, mayBeEarly } from './submit-ahead.ts'

export const waitingForPreemption: Reason = makeReason('WAITING_FOR_PREEMPTION', 'Waiting for preempted jobs to end')

export type JobOutcome =
  | { kind: 'start'; start: Omit<Start, 'lane' | 'entry'> }
  | { kind: 'limited'; limit: LimitReached; reason: Reason }
  /** The job can never start in the pool as it is configured. */
  | { kind: 'unsatisfiable'; reason: Reason }
  /** Runs were evicted for the job and have not ended yet. */
  | { kind: 'claiming' }
  /** The job is tried again when resources become free. It would not start if all runs ended, so it plans no start. */
  | { kind: 'waiting'; reason: Reason }
  | { kind: 'capacity'; reason: Reason }
  | { kind: 'refused'; info: string }

/** A quick test of a lane that did not fit before: false if nothing changed for it. */
export function mayStartNow(state: PoolState, { lane }: LaneWindow): boolean {
  const { order, settings, nodes } = state
  const { improved } = order
  const { shape, preemptable, executor } = lane
  const mayFitAnywhere =
    !improved || findTraits(executor).plansInPasses || (settings.nonPreemptableFraction < 1 && !preemptable)
  if (mayFitAnywhere || mayPlan(state, shape)) return true
  const machines = indexMachines(nodes)
  for (const nodeId of improved) {
    const node = machines.nodes[machines.indexOf(nodeId) ?? -1]
    if (node && hasAmounts(node, shape)) return true
  }
  return false
}

const hasAmounts = (node: FreeNode, { gpu, cpuMillis, memoryBytes }: Shape): boolean =>
  node.freeCpu >= cpuMillis && node.freeMemory >= memoryBytes && countFree(node) >= gpu

export function considerJob(state: PoolState, job: QueuedJob, { early = true } = {}): JobOutcome {
  const { window, entry } = job
  const gate = reservationGate(state, window.lane)
  if (gate) return { kind: 'waiting', reason: gate.reason }
  const personal = window.lane.interactive ? interactiveOutcome(state, window.lane) : null
  if (personal) return personal
  const limit = limitReached(state.ceilings, window.counted)
  if (limit) return { kind: 'limited', limit, reason: limitedBy(limit) }
  const hold = state.holds.get(entry.jobId)
  if (hold) return inHold(state, job, hold)
  return overPart(state, window, requestedAmounts(window.lane.shape)) ?? findPlacements(state, job, early)
}

/**
 * A user may have one interactive run. Runs in other pools are checked when the start is committed
 * (domain/jobs/one-interactive.ts); a partial unique index enforces the rule.
 */
export function interactiveOutcome({ running }: Pick<WorldView, 'running'>, lane: Lane): JobOutcome | null {
  let ending: string | null = null
  for (const { jobId, state, lane: other } of running.values()) {
    if (!other.interactive || other.userId !== lane.userId) continue
    if (state !== 'CANCELLING') return { kind: 'refused', info: describeInteractiveLimit(jobId) }
    ending = jobId
  }
  if (ending === null) return null
  const text = `Waiting for ${ending} to end: each user may run one interactive job at a time`
  return { kind: 'waiting', reason: makeReason('INTERACTIVE_QUOTA', text, ending) }
}

function inHold(state: PoolState, { window }: QueuedJob, hold: Hold): JobOutcome {
  if (!isComplete(state, hold)) return { kind: 'claiming' }
  const models = state.machines.modelsOf(hold.placements)
  const over = modelLimitReached(state.ceilings, window.counted, models)
  if (over) return { kind: 'waiting', reason: limitedBy(over.limit) }
  const won = state.preemptions.findLast(({ claimantJobId }) => claimantJobId === hold.jobId)
  const { placements, backfilledOn } = hold
  return { kind: 'start', start: { placements, models, wonTier: won?.tier ?? null, backfilledOn } }
}

function overPart(state: PoolState, { lane }: LaneWindow, asked: ResourceAmounts): JobOutcome | null {
  const { settings, machines } = state
  const part = settings.nonPreemptableFraction
  if (lane.preemptable || lane.interactive) return null
  if (machines.accounts.isWithin([machines.unpreemptable, asked], part)) return null
  const asks = inWords(lane.shape)
  if (!couldEverFit(lane.shape, nodesFor(state, lane)))
    return { kind: 'unsatisfiable', reason: unsatisfiable(asks, lane.reservationId) }
  const isWhole = !machines.accounts.isWithin([asked], part)
  return { kind: isWhole ? 'unsatisfiable' : 'waiting', reason: overPartReason(part, asks, { isWhole }) }
}

function findPlacements(state: PoolState, { window, entry }: QueuedJob, early: boolean): JobOutcome {
  const { lane } = window
  const ration = computeRation(state, window)
  const { view, budget, backfilled } = usableFor(state, { lane, entry, ration })
  const { freeGpus } = state.machines
  const find = (of: View) =>
    place(lane.shape, state.nodes, { view: of, budget, interactive: lane.interactive, freeGpus })
  const placements = find(view) ?? (early && mayBeEarly(state, lane) ? find(earlyView(view)) : null)
  if (!placements) return notPlaced(state, { window, entry }, ration)
  const models = state.machines.modelsOf(placements)
  const start = { placements, models, wonTier: null, backfilledOn: backfilled(placements) }
  return overPart(state, window, sumAmounts(placements)) ?? { kind: 'start', start }
}

function notPlaced(state: PoolState, { window, entry }: QueuedJob, ration: Ration): JobOutcome {
  const { lane } = window
  const asks = inWords(lane.shape)
  if (!couldEverFit(lane.shape, nodesFor(state, lane)))
    return { kind: 'unsatisfiable', reason: unsatisfiable(asks, lane.reservationId) }
  const limit = limitBehindRation(state, window)
  if (limit) return { kind: 'waiting', reason: limitedBy(limit) }
  const reason = keptFromIt(state, { window, entry }, ration) ?? keptByTrouble(state, lane)
  if (couldEverFit(lane.shape, openNodes(state, lane))) return { kind: 'capacity', reason: reason ?? noCapacity(asks) }
  // No end of a run helps the job.
  return { kind: 'waiting', reason: reason ?? keptByClosedNodes(state, lane) }
}

function keptByClosedNodes(state: PoolState, lane: Lane): Reason {
  const { shape, reservationId } = lane
  if (reservationId === null && couldEverFit(shape, readyNodes(state.nodes))) return reservedForOthers
  const { nodes, suits } = indexMachines(nodesFor(state, lane))
  const suited = suits(shape)
  const closed = nodes.filter(
    (node, at) =>
      node.state !== 'READY' &&
      suited[at] != null &&
      node.cpuMillis >= shape.cpuMillis &&
      node.memoryBytes >= shape.memoryBytes,
  )
  return nodesClosed(inWords(shape), closed)
}

function keptByTrouble({ nodes }: PoolState, { shape, interactive }: Lane): Reason | null {
  if (nodes.every(({ backOff }) => backOff === null)) return null
  const found = place(
    shape,
    nodes.map((node) => ({ ...node, backOff: null })),
    { interactive },
  )
  const on = new Set(found?.map(({ nodeId }) => nodeId))
  const node = nodes.find(({ id, backOff }) => backOff !== null && on.has(id))
  return node?.backOff ? troubled(node.name, node.backOff) : null
}

function keptFromIt(state: PoolState, { window, entry }: QueuedJob, ration: Ration): Reason | null {
  const { lane, counted } = window
  const { freeGpus } = state.machines
  const find = (view: View, given = ration) =>
    place(lane.shape, state.nodes, { ...within(given, view), interactive: lane.interactive, freeGpus })
  const mayUse = reservedNodes(state, lane)
  const others = keptFrom(state, { lane, entry })
  const found = others.length > 0 && find((node) => (!mayUse || mayUse(node) ? node : null))
  if (found) {
    const on = new Set(found.map(({ nodeId }) => nodeId))
    const owner = (others.find(({ placement }) => on.has(placement.nodeId)) ?? others[0])?.owner ?? null
    return makeReason('HOLD', `The free resources are kept for job ${owner}`, owner)
  }
  if (mayUse && find(wholeNode)) return reservedForOthers
  const models = ration.budget ? state.machines.modelsOf(find(wholeNode, unlimited) ?? []) : []
  const over = modelLimitReached(state.ceilings, counted, models)
  return over && limitedBy(over.limit)
}
