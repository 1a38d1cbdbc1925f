import {
  type Ceilings,
  findModelLimitReached,
  hasModelLimits,
  type LimitReached,
  listModelsAtLimit,
  listRemainingGpus,
} from '../../domain/limits/limit-reached.ts'
import {
  type Budget,
  type FreeDevice,
  type FreeNode,
  type Placement,
  type PlaceOptions,
  placeOnEmpty,
} from '../../domain/machines/placement.ts'
import type { LaneWindow } from './lane-window.ts'
import type { Machines } from './machines.ts'
import { getOrCompute } from './memo.ts'
import type { WorldView } from './model.ts'
import { listNodesFor } from './reservations.ts'

/**
 * Applies limits of GPU models: hides devices whose model has reached its limit. If the job fits on empty
 * machines only without these limits, its reason to wait is the limit, whatever runs at the moment. An exclusive job
 * uses all GPUs of its nodes, so limits of all GPUs are checked here for it as well.
 */

export interface Ration {
  full: readonly string[]
  budget?: PlaceOptions['budget']
  takesWhole?: (node: FreeNode) => boolean
}

interface Known extends Pick<WorldView, 'nodes' | 'settings'> {
  ceilings: Ceilings
  machines: Pick<Machines, 'modelsOf'>
}

export const unlimited: Ration = { full: [] }

export type View = (node: FreeNode) => FreeNode | null

export function computeRation(pool: Known, { lane: { shape }, counted }: LaneWindow): Ration {
  if (!shape.exclusive && (shape.gpu === 0 || !hasModelLimits(pool.settings))) return unlimited
  const limits = listRemainingGpus(pool.ceilings, counted)
  if (limits.length === 0) return unlimited
  const full = limits.filter(({ gpus }) => gpus < shape.gpu).map(({ model }) => model)
  const known = new Map<string, number[]>()
  const limitsOf = (model: string) =>
    getOrCompute(known, model, () => [...limits.keys()].filter((at) => isOf(model, limits[at]?.model ?? '')))
  const budget = (): Budget => {
    const left = limits.map(({ gpus }) => gpus)
    return (models) => {
      const asked = left.map(() => 0)
      for (const model of models) for (const at of limitsOf(model)) asked[at] = (asked[at] ?? 0) + 1
      if (asked.some((gpus, at) => gpus > (left[at] ?? 0))) return false
      for (const [at, gpus] of asked.entries()) left[at] = (left[at] ?? 0) - gpus
      return true
    }
  }
  if (!shape.exclusive) return { full, budget }
  return { full, budget, takesWhole: ({ devices }) => budget()(devices.map(({ model }) => model)) }
}

export const isWithinRation = (pool: Known, { budget }: Ration, placements: readonly Placement[]): boolean =>
  budget?.()(pool.machines.modelsOf(placements)) !== false

export function findLimitBehindRation(pool: Known, window: LaneWindow): LimitReached | null {
  const { shape } = window.lane
  const ration = computeRation(pool, window)
  if (!ration.budget) return null
  const nodes = listNodesFor(pool, window.lane)
  if (placeOnEmpty(shape, nodes, restrictToRation(ration, wholeNode))) return null
  const models = pool.machines.modelsOf(placeOnEmpty(shape, nodes) ?? [])
  const over = findModelLimitReached(pool.ceilings, window.counted, models)
  return (over ?? listModelsAtLimit(pool.ceilings, window.counted, shape.gpu)[0])?.limit ?? null
}

export function restrictToRation(
  { full, budget, takesWhole }: Ration,
  view: View,
): { view: View; budget: PlaceOptions['budget'] } {
  const seen: View = full.length === 0 ? view : (node) => without(view(node), full)
  return { view: takesWhole ? (node) => onlyIf(takesWhole, seen(node)) : seen, budget }
}

const onlyIf = (condition: (node: FreeNode) => boolean, node: FreeNode | null) =>
  node && condition(node) ? node : null

export const wholeNode: View = (node) => node

function without(node: FreeNode | null, models: readonly string[]): FreeNode | null {
  if (!node) return null
  const isFull = (device: FreeDevice) => models.some((model) => isOf(device.model, model))
  return { ...node, devices: node.devices.map((device) => (isFull(device) ? { ...device, free: false } : device)) }
}

const isOf = (model: string, filter: string) => model.toLowerCase().includes(filter)
