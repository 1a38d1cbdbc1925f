import type { Shape } from '../shape.ts'
import type { FreeNode, Placement } from './placement.ts'

/** Amounts of divisible resources: thousandths of a processor, bytes of memory, GPUs. */
export interface ResourceAmounts {
  cpu: number
  memory: number
  gpu: number
}

export const resources = ['cpu', 'memory', 'gpu'] as const

export const none: ResourceAmounts = { cpu: 0, memory: 0, gpu: 0 }

export const addAmounts = (a: ResourceAmounts, b: ResourceAmounts, sign: 1 | -1): ResourceAmounts => ({
  cpu: a.cpu + sign * b.cpu,
  memory: a.memory + sign * b.memory,
  gpu: a.gpu + sign * b.gpu,
})

/** Amounts that all copies of a job request together. An exclusive job gets whole nodes instead. */
export const sumRequested = ({ copies, cpuMillis, memoryBytes, gpu }: Shape): ResourceAmounts => ({
  cpu: copies * cpuMillis,
  memory: copies * memoryBytes,
  gpu: copies * gpu,
})

export const sumAmounts = (placements: readonly Placement[]): ResourceAmounts =>
  placements.reduce(
    (sum, { cpuMillis, memoryBytes, gpuIds }) => ({
      cpu: sum.cpu + cpuMillis,
      memory: sum.memory + memoryBytes,
      gpu: sum.gpu + gpuIds.length,
    }),
    none,
  )

/** Amounts of the healthy nodes that are not used outside Berth. */
export const computeSharedCapacity = (nodes: readonly FreeNode[]): ResourceAmounts =>
  nodes
    .filter(({ state }) => state !== 'LOST')
    .reduce(
      (sum, { cpuMillis, memoryBytes, devices, others }) =>
        addAmounts(
          addAmounts(sum, { cpu: cpuMillis, memory: memoryBytes, gpu: devices.length }, 1),
          others ? { cpu: others.cpuMillis, memory: others.memoryBytes, gpu: others.gpus.length } : none,
          -1,
        ),
      none,
    )

/** true: the sum of the amounts is at most the fraction `part` of the capacity. `part` has at most six decimals. */
export function isWithinShare(amounts: readonly ResourceAmounts[], capacity: ResourceAmounts, part: number): boolean {
  if (part >= 1) return true
  const sum = amounts.reduce((a, b) => addAmounts(a, b, 1), none)
  const millionths = part > 0 ? BigInt(Math.max(1, Math.round(part * 1_000_000))) : 0n
  return resources.every(
    (resource) => sum[resource] === 0 || BigInt(sum[resource]) * 1_000_000n <= millionths * BigInt(capacity[resource]),
  )
}
