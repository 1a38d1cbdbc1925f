import { traitsOf } from '../../domain/executors.ts'
import type { Lane } from '../../domain/lanes.ts'
import { type FreeNode, takesRuns } from '../../domain/machines/machines.ts'
import type { Shape } from '../../domain/shape.ts'
import type { Running } from './model.ts'
import type { View } from './rations.ts'
import type { PoolState } from './state.ts'

/**
 * Jobs that are handed over early, before a node is free. A backend that plans in passes leaves a node free from the end of a
 * run to its next pass, unless a job waits there by then. So short jobs may wait there: as many as the nodes take once
 * more. A job that came later and is more urgent waits for them no longer than `runSecondsMax`.
 */
const runSecondsMax = 60

/**
 * Not beside nodes that are held for a job or could be taken from runs, and not while the backend keeps a run waiting for
 * another reason.
 */
export function mayBeEarly({ nowMs, nodes, holds, machines }: PoolState, lane: Lane): boolean {
  const { executor, runSeconds, interactive, preemptable, restartable, shape } = lane
  if (!traitsOf(executor).plansInPasses || runSeconds === null || runSeconds > runSecondsMax) return false
  if (interactive || preemptable || restartable || shape.gpu > 0 || shape.infiniband || shape.exclusive) return false
  if (holds.size > 0 || machines.preemptable > 0) return false
  const isLate = ({ state, sinceMs }: Running) => state === 'STARTING' && nowMs - sinceMs > runSecondsMax * 1_000
  return !machines.running.values().some(isLate) && hasRoom(nodes, shape)
}

/** On all nodes together: a run counts where its backend began it, also on a node that has too many. */
function hasRoom(nodes: readonly FreeNode[], { copies, cpuMillis, memoryBytes }: Shape): boolean {
  let cpu = -copies * cpuMillis
  let memory = -copies * memoryBytes
  for (const node of nodes) {
    if (!takesRuns(node)) continue
    const { freeCpu, freeMemory } = twice(node)
    cpu += freeCpu
    memory += freeMemory
  }
  return cpu >= 0 && memory >= 0
}

/** The nodes with once more what others leave of them. */
export const earlyView =
  (view: View): View =>
  (node) => {
    const seen = view(node)
    return seen && twice(seen)
  }

function twice(node: FreeNode): FreeNode {
  const { freeCpu, cpuMillis, freeMemory, memoryBytes, others } = node
  if (!others) return node
  return {
    ...node,
    freeCpu: freeCpu + cpuMillis - others.cpuMillis,
    freeMemory: freeMemory + memoryBytes - others.memoryBytes,
  }
}
