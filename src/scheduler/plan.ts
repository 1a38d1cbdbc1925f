import { couldEverFit, type FreeNode, type Placement, place, taken } from '../domain/placement.ts'
import type { Shape } from '../domain/shape.ts'

/**
 * Who starts now: first in, first out within the capacity of the pool. Pure: no I/O, no clock. A job that could never
 * fit is passed over; the first that could fit but does not now ends the pass, so nobody overtakes it.
 */
export interface WaitingJob {
  jobId: string
  runId: string
  run: number
  version: number
  shape: Shape
}

export interface World {
  /** In order; only jobs whose gates are open. */
  waiting: readonly WaitingJob[]
  nodes: readonly FreeNode[]
}

export interface Start {
  job: WaitingJob
  placements: readonly Placement[]
}

export interface Decisions {
  starts: Start[]
  considered: number
  /** The job that ended the pass; null: everybody was looked at. */
  blockedBy: string | null
}

export function plan({ waiting, nodes }: World, startsMax: number): Decisions {
  const free = new Map(nodes.map((node) => [node.id, node]))
  const starts: Start[] = []
  for (const [index, job] of waiting.entries()) {
    if (starts.length === startsMax) return { starts, considered: index, blockedBy: null }
    const placements = place(job.shape, [...free.values()])
    if (placements) {
      starts.push({ job, placements })
      for (const placement of placements) take(free, placement)
    } else if (couldEverFit(job.shape, nodes)) return { starts, considered: index + 1, blockedBy: job.jobId }
  }
  return { starts, considered: waiting.length, blockedBy: null }
}

function take(free: Map<string, FreeNode>, placement: Placement): void {
  const node = free.get(placement.nodeId)
  if (node) free.set(node.id, taken(node, placement))
}
