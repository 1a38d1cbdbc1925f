import { fullModels, type Held, type HeldModel, hasModelLimits, heldBack, heldByModel } from '../../domain/in-use.ts'
import type { Lane } from '../../domain/lanes.ts'
import { serves } from '../../domain/machines.ts'
import { couldEverFit, type FreeDevice, type FreeNode, place } from '../../domain/placement.ts'
import { because, limitedBy, noCapacity, type Reason, unsatisfiable } from '../../domain/reason.ts'
import { inWords, type Shape } from '../../domain/shape.ts'
import { amountsOf } from './accounts.ts'
import { isComplete, roomFor } from './holds.ts'
import { interactiveVerdict } from './interactive.ts'
import type { LaneWindow, Turn } from './lanes.ts'
import type { Amounts, Hold, Start } from './model.ts'
import { nodesFor, reservationGate, reservedNodes } from './reservations.ts'
import type { PoolState } from './state.ts'

export const waitingForPreemption: Reason = because(
  'WAITING_FOR_PREEMPTION',
  'Waits until those who were asked to leave for it have gone',
)

/** What of a node a job may use, whoever runs there. */
export type View = (node: FreeNode) => FreeNode | null

/** What becomes of the head of a lane, and what it has to wait for. */
export type Outcome =
  | { kind: 'start'; start: Omit<Start, 'lane' | 'entry'> }
  | { kind: 'limited'; held: Held; reason: Reason }
  /** Never, as the pool is. */
  | { kind: 'unsatisfiable'; reason: Reason }
  /** It is tried again whenever something becomes free, and keeps nobody waiting. */
  | { kind: 'waiting'; reason: Reason; view?: View }
  /** Those that nobody can ask to leave have their part already. */
  | { kind: 'part'; reason: Reason }
  | { kind: 'capacity'; reason: Reason }
  /** It ends, with this sentence. */
  | { kind: 'refused'; info: string }

export function consider(state: PoolState, turn: Turn): Outcome {
  const { window, entry } = turn
  const gate = reservationGate(state, window.lane)
  if (gate) return { kind: 'waiting', reason: gate.reason }
  const personal = window.lane.interactive ? interactiveOutcome(state, window.lane) : null
  if (personal) return personal
  const held = heldBack(state.ceilings, window.counted)
  if (held) return { kind: 'limited', held, reason: limitedBy(held) }
  const hold = state.holds.get(entry.jobId)
  if (hold?.kind === 'PREEMPTION') return inHold(state, window, hold)
  return overPart(state, window, askedOf(window.lane.shape)) ?? findPlace(state, turn)
}

function interactiveOutcome(state: PoolState, lane: Lane): Outcome | null {
  const verdict = interactiveVerdict(state, lane)
  switch (verdict.kind) {
    case 'GO':
      return null
    case 'WAIT':
      return { kind: 'waiting', reason: verdict.reason }
    case 'REFUSE':
      return { kind: 'refused', info: verdict.info }
    default:
      return verdict satisfies never
  }
}

/** It gets what others left for it, once all of them have. */
function inHold(state: PoolState, window: LaneWindow, hold: Hold): Outcome {
  if (!isComplete(state, hold)) return { kind: 'waiting', reason: waitingForPreemption }
  const models = state.machines.modelsOf(hold.placements)
  const over = heldByModel(state.ceilings, window.counted, models)
  if (over) return { kind: 'waiting', reason: limitedBy(over.held) }
  const won = state.preemptions.findLast(({ claimantJobId }) => claimantJobId === hold.jobId)
  return {
    kind: 'start',
    start: { placements: hold.placements, models, wonTier: won?.tier ?? null, backfilledOn: null },
  }
}

const askedOf = ({ copies, cpuMillis, memoryBytes, gpu }: Shape): Amounts => ({
  cpu: copies * cpuMillis,
  memory: copies * memoryBytes,
  gpu: copies * gpu,
})

/** Alone it would be too much as well: then it keeps nobody waiting. */
function overPart(state: PoolState, { lane }: LaneWindow, asked: Amounts): Outcome | null {
  const { settings, machines } = state
  const part = settings.nonPreemptableFraction
  if (lane.preemptable || lane.interactive) return null
  if (machines.accounts.isWithin([machines.unpreemptable, asked], part)) return null
  const asks = inWords(lane.shape)
  const reason = because(
    'NON_PREEMPTABLE_POOL',
    `Jobs that cannot be preempted may use ${part} of each resource of the pool, and it asks for ${asks}`,
  )
  if (machines.accounts.isWithin([asked], part)) return { kind: 'part', reason }
  return {
    kind: 'unsatisfiable',
    reason: couldEverFit(lane.shape, nodesFor(state, lane)) ? reason : unsatisfiable(asks, lane.reservationId),
  }
}

/**
 * Devices of a model whose limit is reached, or would be by a copy of the job, are left out of account: another model may
 * serve as well. Whether a limit is told does not depend on what else is free: what is known of a head must not depend on
 * when it was looked at.
 */
function findPlace(state: PoolState, { window, entry }: Turn): Outcome {
  const { shape, interactive } = window.lane
  const room = roomFor(state, { lane: window.lane, entry })
  const reached = reachedModels(state, window)
  let limited: Held | null = reached[0]?.held ?? null
  const mayHave = (models: readonly string[]) => {
    const over = heldByModel(state.ceilings, window.counted, models)
    limited ??= over?.held ?? null
    return !over
  }
  const limits = hasModelLimits(state.settings) ? { mayHave } : {}
  const view = withoutModels(
    room.view,
    reached.map(({ model }) => model),
  )
  const placements = place(shape, state.nodes, { view, interactive, freeGpus: state.machines.freeGpus, ...limits })
  if (!placements)
    return limited ? { kind: 'waiting', reason: limitedBy(limited), view } : noRoom(state, { window, entry })
  const models = state.machines.modelsOf(placements)
  const start = { placements, models, wonTier: null, backfilledOn: room.backfilled(placements) }
  return overPart(state, window, amountsOf(placements)) ?? { kind: 'start', start }
}

/** Limits of models that would serve the job, and of which it may have no more. */
function reachedModels(state: PoolState, { lane: { shape }, counted }: LaneWindow): HeldModel[] {
  if (shape.gpu === 0 || !hasModelLimits(state.settings)) return []
  const wouldServe = (model: string) =>
    state.nodes.some(({ devices }) =>
      devices.some((device) => device.model.toLowerCase().includes(model) && serves(shape, device)),
    )
  return fullModels(state.ceilings, counted, shape.gpu).filter(({ model }) => wouldServe(model))
}

function noRoom(state: PoolState, { window, entry }: Turn): Outcome {
  const { lane } = window
  const asks = inWords(lane.shape)
  if (!couldEverFit(lane.shape, nodesFor(state, lane)))
    return { kind: 'unsatisfiable', reason: unsatisfiable(asks, lane.reservationId) }
  return { kind: 'capacity', reason: keptFromIt(state, { window, entry }) ?? noCapacity(asks) }
}

/** There is room, but it is kept for others. */
function keptFromIt(state: PoolState, { window, entry }: Turn): Reason | null {
  const { lane } = window
  const mayUse = reservedNodes(state, lane)
  const others = [...state.holds.values()].filter(({ jobId }) => jobId !== entry.jobId)
  if (!mayUse && others.length === 0) return null
  const options = { view: (node: FreeNode) => (!mayUse || mayUse(node) ? node : null), interactive: lane.interactive }
  if (place(lane.shape, state.nodes, options)) {
    const holder = others[0]?.jobId ?? null
    return because('HOLD', `What is free is kept for the job ${holder}`, holder)
  }
  const isElsewhere = place(lane.shape, state.nodes, { interactive: lane.interactive }) !== null
  return isElsewhere ? because('RESERVED_NODES', 'What is free is reserved for others') : null
}

/** Devices of these models are not for the job. */
export const withoutModels = (view: View, models: readonly string[]): View =>
  models.length === 0 ? view : (node) => without(view(node), models)

/** The node without its devices of these models. */
function without(node: FreeNode | null, models: readonly string[]): FreeNode | null {
  if (!node) return null
  const isFull = (device: FreeDevice) => models.some((model) => device.model.toLowerCase().includes(model))
  return { ...node, devices: node.devices.map((device) => (isFull(device) ? { ...device, free: false } : device)) }
}
