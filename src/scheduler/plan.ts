import { type Ceilings, type Counted, type Held, heldBack, heldByModel, isFull, withJob } from '../domain/in-use.ts'
import { couldEverFit, type FreeNode, type Placement, place, taken } from '../domain/placement.ts'
import type { Shape } from '../domain/shape.ts'

/**
 * Who starts now: first in, first out within the limits and the capacity of the pool. Pure: no I/O, no clock. A job that
 * a limit holds back is passed over, and so is one that could never fit; the first that could fit but does not now ends
 * the pass, so nobody overtakes it. A pool whose own limit is reached ends it too.
 */
export interface WaitingJob extends Counted {
  jobId: string
  runId: string
  run: number
  version: number
  shape: Shape
}

/** What can be taken, and what the limits still allow. */
export interface Room {
  nodes: readonly FreeNode[]
  ceilings: Ceilings
}

export interface World extends Room {
  /** In order; only jobs whose gates are open. */
  waiting: readonly WaitingJob[]
}

export interface Place {
  placements: readonly Placement[]
  /** Of the GPUs among them. */
  models: readonly string[]
}

export interface Start extends Place {
  job: WaitingJob
}

export interface Decisions {
  starts: Start[]
  considered: number
  /** The job that ended the pass; null: everybody was looked at, or nobody may start. */
  blockedBy: string | null
  /** The pool's own limit is reached. */
  full: boolean
  /** The room that these starts leave. */
  left: Room
}

export function plan({ waiting, ...room }: World, startsMax: number): Decisions {
  const starts: Start[] = []
  let left: Room = room
  for (const [index, job] of waiting.entries()) {
    const full = isFull(left.ceilings)
    if (full || starts.length === startsMax) return { starts, considered: index, blockedBy: null, full, left }
    const verdict = findPlace(job, left)
    if (verdict.place) {
      starts.push({ job, ...verdict.place })
      left = leave(left, job, verdict.place)
    } else if (verdict.why === 'NO_CAPACITY')
      return { starts, considered: index + 1, blockedBy: job.jobId, full: false, left }
  }
  return { starts, considered: waiting.length, blockedBy: null, full: isFull(left.ceilings), left }
}

export type Verdict =
  | { place: Place }
  /** A limit, or the machines: not now, or never. */
  | { place: null; why: Held | 'NO_CAPACITY' | 'UNSATISFIABLE' }

/** Devices of a model whose limit is reached are left out of account: another model may serve as well. */
export function findPlace(job: Counted & { shape: Shape }, { nodes, ceilings }: Room): Verdict {
  const back = heldBack(ceilings, job)
  if (back) return { place: null, why: back }
  let allowed = nodes
  let limited: Held | null = null
  for (;;) {
    const placements = place(job.shape, allowed)
    if (!placements)
      return { place: null, why: limited ?? (couldEverFit(job.shape, nodes) ? 'NO_CAPACITY' : 'UNSATISFIABLE') }
    const models = modelsOf(placements, nodes)
    const over = heldByModel(ceilings, job, models)
    if (!over) return { place: { placements, models } }
    limited = over.held
    allowed = allowed.map((node) => withoutModel(node, over.model))
  }
}

const withoutModel = (node: FreeNode, filter: string): FreeNode => ({
  ...node,
  devices: node.devices.map((device) =>
    device.model.toLowerCase().includes(filter) ? { ...device, free: false } : device,
  ),
})

function modelsOf(placements: readonly Placement[], nodes: readonly FreeNode[]): string[] {
  return placements.flatMap(({ nodeId, gpuIds }) => {
    const devices = nodes.find(({ id }) => id === nodeId)?.devices ?? []
    return devices.filter(({ index }) => gpuIds.includes(index)).map(({ model }) => model)
  })
}

/** The room without what the job takes. */
export function leave({ nodes, ceilings }: Room, job: Counted, { placements, models }: Place): Room {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  for (const placement of placements) {
    const node = byId.get(placement.nodeId)
    if (node) byId.set(node.id, taken(node, placement))
  }
  return { nodes: [...byId.values()], ceilings: { ...ceilings, tally: withJob(ceilings, job, models) } }
}
