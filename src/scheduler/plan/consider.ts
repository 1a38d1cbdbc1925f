import { findTraits } from '../../domain/executors.ts'
import { describeInteractiveLimit } from '../../domain/jobs/one-interactive.ts'
import type { Lane } from '../../domain/lanes.ts'
import { findLimitReached, findModelLimitReached, type LimitReached } from '../../domain/limits/limit-reached.ts'
import { type ResourceAmounts, sumAmounts, sumRequested } from '../../domain/machines/amounts.ts'
import { couldEverFit, countFree, type FreeNode, indexMachines, place } from '../../domain/machines/placement.ts'
import {
  makeLimitReason,
  makeNoCapacityReason,
  makeNodesClosedReason,
  makeNodeTroubleReason,
  makeOverPartReason,
  makeReason,
  makeUnsatisfiableReason,
  type Reason,
  reservedForOthers,
} from '../../domain/reason.ts'
import { describeShape, type Shape } from '../../domain/shape.ts'
import { computeUsable, isComplete, listKept } from './holds.ts'
import type { LaneWindow, QueuedJob } from './lane-window.ts'
import type { Hold, Start, WorldView } from './model.ts'
import { mayPlan } from './planned-starts.ts'
import {
  computeRation,
  findLimitBehindRation,
  type Ration,
  restrictToRation,
  unlimited,
  type View,
  wholeNode,
} from './rations.ts'
import { findReservationGate, findReservedNodes, listNodesFor, listOpenNodes, listReadyNodes } from './reservations.ts'
import type { PoolState } from './state.ts'
import { createEarlyView, mayBeEarly } from './submit-ahead.ts'

export const waitingForPreemption: Reason = makeReason('WAITING_FOR_PREEMPTION', 'Waiting for preempted jobs to end')

export type JobOutcome =
  | { kind: 'start'; start: Omit<Start, 'lane' | 'entry'> }
  | { kind: 'limited'; limit: LimitReached; reason: Reason }
  | { kind: 'unsatisfiable'; reason: Reason }
  | { kind: 'claiming' }
  /** The job is tried again when resources become free. The end of runs alone does not help, so it gets no planned start. */
  | { kind: 'waiting'; reason: Reason }
  | { kind: 'capacity'; reason: Reason }
  | { kind: 'refused'; info: string }

/** A quick test of a lane that did not fit before; false: nothing changed that could let it fit. */
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
  const gate = findReservationGate(state, window.lane)
  if (gate) return { kind: 'waiting', reason: gate.reason }
  const personal = window.lane.interactive ? checkInteractiveLimit(state, window.lane) : null
  if (personal) return personal
  const limit = findLimitReached(state.ceilings, window.counted)
  if (limit) return { kind: 'limited', limit, reason: makeLimitReason(limit) }
  const hold = state.holds.get(entry.jobId)
  if (hold) return considerHold(state, job, hold)
  return checkOverPart(state, window, sumRequested(window.lane.shape)) ?? findPlacements(state, job, early)
}

/**
 * A user may have one interactive run. Runs in other pools are checked when the start is committed
 * (domain/jobs/one-interactive.ts); a partial unique index enforces the rule.
 */
export function checkInteractiveLimit({ running }: Pick<WorldView, 'running'>, lane: Lane): JobOutcome | null {
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

function considerHold(state: PoolState, { window }: QueuedJob, hold: Hold): JobOutcome {
  if (!isComplete(state, hold)) return { kind: 'claiming' }
  const models = state.machines.modelsOf(hold.placements)
  const over = findModelLimitReached(state.ceilings, window.counted, models)
  if (over) return { kind: 'waiting', reason: makeLimitReason(over.limit) }
  const won = state.preemptions.findLast(({ claimantJobId }) => claimantJobId === hold.jobId)
  const { placements, backfilledOn } = hold
  return { kind: 'start', start: { placements, models, wonTier: won?.tier ?? null, backfilledOn } }
}

function checkOverPart(state: PoolState, { lane }: LaneWindow, asked: ResourceAmounts): JobOutcome | null {
  const { settings, machines } = state
  const part = settings.nonPreemptableFraction
  if (lane.preemptable || lane.interactive) return null
  if (machines.accounts.isWithin([machines.unpreemptable, asked], part)) return null
  const asks = describeShape(lane.shape)
  if (!couldEverFit(lane.shape, listNodesFor(state, lane)))
    return { kind: 'unsatisfiable', reason: makeUnsatisfiableReason(asks, lane.reservationId) }
  const isWhole = !machines.accounts.isWithin([asked], part)
  return { kind: isWhole ? 'unsatisfiable' : 'waiting', reason: makeOverPartReason(part, asks, { isWhole }) }
}

function findPlacements(state: PoolState, { window, entry }: QueuedJob, early: boolean): JobOutcome {
  const { lane } = window
  const ration = computeRation(state, window)
  const { view, budget, backfilled } = computeUsable(state, { lane, entry, ration })
  const { freeGpus } = state.machines
  const find = (of: View) =>
    place(lane.shape, state.nodes, { view: of, budget, interactive: lane.interactive, freeGpus })
  const placements = find(view) ?? (early && mayBeEarly(state, lane) ? find(createEarlyView(view)) : null)
  if (!placements) return explainNotPlaced(state, { window, entry }, ration)
  const models = state.machines.modelsOf(placements)
  const start = { placements, models, wonTier: null, backfilledOn: backfilled(placements) }
  return checkOverPart(state, window, sumAmounts(placements)) ?? { kind: 'start', start }
}

function explainNotPlaced(state: PoolState, { window, entry }: QueuedJob, ration: Ration): JobOutcome {
  const { lane } = window
  const asks = describeShape(lane.shape)
  if (!couldEverFit(lane.shape, listNodesFor(state, lane)))
    return { kind: 'unsatisfiable', reason: makeUnsatisfiableReason(asks, lane.reservationId) }
  const limit = findLimitBehindRation(state, window)
  if (limit) return { kind: 'waiting', reason: makeLimitReason(limit) }
  const reason = findKeptReason(state, { window, entry }, ration) ?? findTroubleReason(state, lane)
  if (couldEverFit(lane.shape, listOpenNodes(state, lane)))
    return { kind: 'capacity', reason: reason ?? makeNoCapacityReason(asks) }
  // The job does not fit even if all runs end.
  return { kind: 'waiting', reason: reason ?? makeClosedNodesReason(state, lane) }
}

function makeClosedNodesReason(state: PoolState, lane: Lane): Reason {
  const { shape, reservationId } = lane
  if (reservationId === null && couldEverFit(shape, listReadyNodes(state.nodes))) return reservedForOthers
  const { nodes, suits } = indexMachines(listNodesFor(state, lane))
  const suited = suits(shape)
  const closed = nodes.filter(
    (node, at) =>
      node.state !== 'READY' &&
      suited[at] != null &&
      node.cpuMillis >= shape.cpuMillis &&
      node.memoryBytes >= shape.memoryBytes,
  )
  return makeNodesClosedReason(describeShape(shape), closed)
}

function findTroubleReason({ nodes }: PoolState, { shape, interactive }: Lane): Reason | null {
  if (nodes.every(({ backOff }) => backOff === null)) return null
  const found = place(
    shape,
    nodes.map((node) => ({ ...node, backOff: null })),
    { interactive },
  )
  const on = new Set(found?.map(({ nodeId }) => nodeId))
  const node = nodes.find(({ id, backOff }) => backOff !== null && on.has(id))
  return node?.backOff ? makeNodeTroubleReason(node.name, node.backOff) : null
}

function findKeptReason(state: PoolState, { window, entry }: QueuedJob, ration: Ration): Reason | null {
  const { lane, counted } = window
  const { freeGpus } = state.machines
  const find = (view: View, given = ration) =>
    place(lane.shape, state.nodes, { ...restrictToRation(given, view), interactive: lane.interactive, freeGpus })
  const mayUse = findReservedNodes(state, lane)
  const others = listKept(state, { lane, entry })
  const found = others.length > 0 && find((node) => (!mayUse || mayUse(node) ? node : null))
  if (found) {
    const on = new Set(found.map(({ nodeId }) => nodeId))
    const owner = (others.find(({ placement }) => on.has(placement.nodeId)) ?? others[0])?.owner ?? null
    return makeReason('HOLD', `The free resources are kept for job ${owner}`, owner)
  }
  if (mayUse && find(wholeNode)) return reservedForOthers
  const models = ration.budget ? state.machines.modelsOf(find(wholeNode, unlimited) ?? []) : []
  const over = findModelLimitReached(state.ceilings, counted, models)
  return over && makeLimitReason(over.limit)
}
