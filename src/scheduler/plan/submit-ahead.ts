import { findTraits } from '../../domain/executors.ts'
import type { Lane } from '../../domain/lanes.ts'
import { type FreeNode, takesRuns } from '../../domain/machines/machines.ts'
import type { Shape } from '../../domain/shape.ts'
import type { Machines } from './machines.ts'
import type { Running, WorldView } from './model.ts'
import type { View } from './rations.ts'

/**
 * Hands short jobs to the backend before nodes are free. A backend that plans in passes leaves a node idle from the end
 * of a run until its next pass, unless a job already waits in the backend. So short jobs may wait there, at most as
 * many as fit on all nodes together. More urgent jobs wait at most `runSecondsMax` for them.
 */
const runSecondsMax = 60

interface Pool extends Pick<WorldView, 'nowMs' | 'nodes' | 'holds' | 'plans' | 'running'> {
  machines: Pick<Machines, 'preemptable'>
}

/**
 * false: nodes are kept for jobs, runs can be preempted, or the backend keeps a run waiting, so an early job could delay
 * others.
 */
export function mayBeEarly(pool: Pool, lane: Lane): boolean {
  const { nodes, holds, plans, running, machines } = pool
  const { executor, runSeconds, interactive, preemptable, restartable, shape } = lane
  if (!findTraits(executor).plansInPasses || runSeconds === null || runSeconds > runSecondsMax) return false
  if (interactive || preemptable || restartable || shape.gpu > 0 || shape.infiniband || shape.exclusive) return false
  if (holds.size > 0 || plans.size > 0 || machines.preemptable > 0) return false
  return !running.values().some((run) => isStartLate(pool, run)) && fitsInTotal(nodes, shape)
}

/** true: the backend has kept the run waiting for too long. */
export const isStartLate = ({ nowMs }: Pick<Pool, 'nowMs'>, { state, sinceMs }: Running): boolean =>
  state === 'STARTING' && nowMs - sinceMs > runSecondsMax * 1_000

/** Compares sums over all nodes, because the backend may queue several early jobs for one node. */
function fitsInTotal(nodes: readonly FreeNode[], { copies, cpuMillis, memoryBytes }: Shape): boolean {
  let cpu = -copies * cpuMillis
  let memory = -copies * memoryBytes
  for (const node of nodes) {
    if (!takesRuns(node)) continue
    const { freeCpu, freeMemory } = doubleCapacity(node)
    cpu += freeCpu
    memory += freeMemory
  }
  return cpu >= 0 && memory >= 0
}

export const createEarlyView =
  (view: View): View =>
  (node) => {
    const seen = view(node)
    return seen && doubleCapacity(seen)
  }

function doubleCapacity(node: FreeNode): FreeNode {
  const { freeCpu, cpuMillis, freeMemory, memoryBytes, others } = node
  if (!others) return node
  return {
    ...node,
    freeCpu: freeCpu + cpuMillis - others.cpuMillis,
    freeMemory: freeMemory + memoryBytes - others.memoryBytes,
  }
}
