import type { Spec } from '../../../features/spec/spec-input.ts'
import type { PoolNodesQuery } from '../../../generated/graphql.ts'

export type FitNode = NonNullable<PoolNodesQuery['pool']>['nodes']['nodes'][number]
type Asked = Pick<Spec['resources'], 'cpu' | 'memoryBytes' | 'gpu' | 'gpuModel' | 'gpuMemoryBytes'>

interface NodeFit {
  /** Names of the nodes on which a replica would fit if nothing else ran there. */
  fitting: readonly string[]
  /** Number of free GPUs of the requested models; for a job without GPUs, of free cores. */
  free: number
  /** The highest number of these on one node. */
  largest: number
}

const matches = (filters: readonly string[], model: string) =>
  filters.every((filter) => {
    const [isExcluded, text] = filter.startsWith('!') ? [true, filter.slice(1)] : [false, filter]
    return model.toLowerCase().includes(text.toLowerCase()) !== isExcluded
  })

/** Finds which nodes fit the requested resources, and counts what is free on the nodes that accept runs. */
export function judgeNodes(nodes: readonly FitNode[], asked: Asked): NodeFit {
  const fitting: string[] = []
  let [free, largest] = [0, 0]
  for (const { name, state, capacity, free: freeNow, gpus } of nodes) {
    if (state !== 'READY') continue
    const suited = gpus.filter(
      (gpu) => matches(asked.gpuModel, gpu.model) && gpu.memoryBytes >= (asked.gpuMemoryBytes ?? 0),
    )
    const freeHere =
      asked.gpu > 0 ? Math.min(freeNow.gpu, suited.filter(({ allocated }) => !allocated).length) : freeNow.cpu
    free += freeHere
    largest = Math.max(largest, freeHere)
    if (capacity.cpu >= asked.cpu && capacity.memoryBytes >= asked.memoryBytes && suited.length >= asked.gpu)
      fitting.push(name)
  }
  return { fitting, free, largest }
}
