import { type Ceilings, fullModels, type Held, hasModelLimits, heldByModel } from '../../domain/in-use.ts'
import { type FreeDevice, type FreeNode, type PlaceOptions, placeOnEmpty } from '../../domain/placement.ts'
import type { LaneWindow } from './lanes.ts'
import type { Machines } from './machines.ts'
import type { WorldView } from './model.ts'
import { nodesFor } from './reservations.ts'

/**
 * What limits of GPU models leave a job. Devices of a model of which it may have no more are not there for it: another
 * model may serve as well, and then it waits for that one like everybody. Only if nothing would be left for it on machines
 * with nothing on them the limit is what it waits for; so what is found out about a job does not depend on when it was
 * looked at.
 */
export interface Ration {
  /** As limits spell them. */
  full: readonly string[]
  mayHave?: PlaceOptions['mayHave']
}

/** What is known of a pool. */
interface Known extends Pick<WorldView, 'nodes' | 'settings'> {
  ceilings: Ceilings
  machines: Pick<Machines, 'modelsOf'>
}

export const unlimited: Ration = { full: [] }

/** What of a node a job may use, whoever runs there. */
export type View = (node: FreeNode) => FreeNode | null

export function rationOf(pool: Known, { lane: { shape }, counted }: LaneWindow): Ration {
  if (shape.gpu === 0 || !hasModelLimits(pool.settings)) return unlimited
  const full = fullModels(pool.ceilings, counted, shape.gpu).map(({ model }) => model)
  return { full, mayHave: (models) => heldByModel(pool.ceilings, counted, models) === null }
}

/** The limit that keeps the job from machines with nothing on them, on which it would fit; null: none does. */
export function heldByRation(pool: Known, window: LaneWindow): Held | null {
  const { shape } = window.lane
  const ration = rationOf(pool, window)
  if (!ration.mayHave) return null
  const nodes = nodesFor(pool, window.lane)
  if (placeOnEmpty(shape, nodes, within(ration, whole))) return null
  const models = pool.machines.modelsOf(placeOnEmpty(shape, nodes) ?? [])
  const over = heldByModel(pool.ceilings, window.counted, models)
  return (over ?? fullModels(pool.ceilings, window.counted, shape.gpu)[0])?.held ?? null
}

/** The view without devices that the job may not have, and how many of the others. */
export const within = ({ full, mayHave }: Ration, view: View): { view: View; mayHave: PlaceOptions['mayHave'] } => ({
  view: full.length === 0 ? view : (node) => without(view(node), full),
  mayHave,
})

export const whole: View = (node) => node

function without(node: FreeNode | null, models: readonly string[]): FreeNode | null {
  if (!node) return null
  const isFull = (device: FreeDevice) => models.some((model) => device.model.toLowerCase().includes(model))
  return { ...node, devices: node.devices.map((device) => (isFull(device) ? { ...device, free: false } : device)) }
}
