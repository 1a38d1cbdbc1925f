import type { Shape } from '../shape.ts'
import { type FreeNode, indexMachines } from './machines.ts'

/**
 * Computes the maximum that all copies of a job may hold: their request or, for an exclusive job, whole nodes. Costs,
 * quotas and approvals use this.
 */
export function computeMaximumUse(shape: Shape, nodes: readonly FreeNode[]): { cpuMillis: number; gpu: number } {
  const { copies, cpuMillis, memoryBytes, gpu, exclusive } = shape
  const asked = { cpuMillis: copies * cpuMillis, gpu: copies * gpu }
  if (!exclusive) return asked
  const machines = indexMachines(nodes)
  const suits = machines.suits(shape)
  const serving = machines.nodes.filter(
    (node, at) => suits[at] && node.cpuMillis >= cpuMillis && node.memoryBytes >= memoryBytes,
  )
  const most = (amounts: readonly number[]) =>
    amounts
      .toSorted((a, b) => b - a)
      .slice(0, copies)
      .reduce((a, b) => a + b, 0)
  return {
    cpuMillis: Math.max(asked.cpuMillis, most(serving.map((node) => node.cpuMillis))),
    gpu: Math.max(asked.gpu, most(serving.map(({ devices }) => devices.length))),
  }
}
