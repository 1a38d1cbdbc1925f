import { matchesAll, type Shape } from '../../domain/shape.ts'
import { type RunSpec, StartFailed } from '../executor.ts'
import { manager, podLabels } from './names.ts'
import type { Node } from './objects.ts'

/**
 * Where the scheduler of the cluster may place a run. Nodes have labels of GPU and node feature discovery. A filter becomes
 * the values of the label that match, which admits later nodes with these values. A filter that only excludes models
 * becomes the values that do not match, which admits nodes without the label.
 */

export const nodeLabels = {
  hostname: 'kubernetes.io/hostname',
  cpuModel: 'berth/cpu-model',
  infiniband: 'feature.node.kubernetes.io/rdma.available',
  gpuModel: 'nvidia.com/gpu.product',
  /** MiB of one GPU. */
  gpuMemory: 'nvidia.com/gpu.memory',
  /** Major compute capability; since 7 GPUs have tensor cores. */
  gpuCompute: 'nvidia.com/gpu.compute.major',
  cudaMajor: 'nvidia.com/cuda.runtime.major',
  cudaMinor: 'nvidia.com/cuda.runtime.minor',
} as const

export const gpuResource = 'nvidia.com/gpu'
export const tensorCoresSince = 7

interface Requirement {
  key: string
  operator: 'In' | 'NotIn' | 'Gt'
  values: readonly string[]
}

export const asksForLabels = (shape: Shape): boolean => shape.cpuModel.length > 0 || shape.gpuModel.length > 0

export function makeNodeAffinity(shape: Shape, nodes: readonly Node[]): unknown {
  const all = [
    ...matching('resources.cpuModel', { key: nodeLabels.cpuModel, filters: shape.cpuModel, nodes }),
    ...matching('resources.gpuModel', { key: nodeLabels.gpuModel, filters: shape.gpuModel, nodes }),
    ...(shape.gpuMemoryGib === null ? [] : [atLeast(nodeLabels.gpuMemory, Math.ceil(shape.gpuMemoryGib * 1024))]),
    ...(shape.gpuTensorCores ? [atLeast(nodeLabels.gpuCompute, tensorCoresSince)] : []),
    ...(shape.infiniband ? [isOneOf(nodeLabels.infiniband, ['true'])] : []),
  ]
  const terms = cudaTerms(shape.cudaVersion).map((cuda) => ({ matchExpressions: [...all, ...cuda] }))
  if (terms.every(({ matchExpressions }) => matchExpressions.length === 0)) return null
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }
}

const isOneOf = (key: string, values: readonly string[]): Requirement => ({ key, operator: 'In', values })
const atLeast = (key: string, least: number): Requirement => ({ key, operator: 'Gt', values: [String(least - 1)] })

interface Filtered {
  key: string
  filters: readonly string[]
  nodes: readonly Node[]
}

function matching(field: string, { key, filters, nodes }: Filtered): Requirement[] {
  if (filters.length === 0) return []
  const known = [...new Set(nodes.flatMap(({ metadata }) => metadata.labels?.[key] ?? []))].toSorted()
  if (matchesAll(filters, '')) {
    const excluded = known.filter((value) => !matchesAll(filters, value))
    return excluded.length === 0 ? [] : [{ key, operator: 'NotIn', values: excluded }]
  }
  const values = known.filter((value) => matchesAll(filters, value))
  if (values.length > 0) return [isOneOf(key, values)]
  const there = known.length > 0 ? `nodes have ${known.join(', ')}` : 'no node has the label'
  throw new StartFailed('START_FAILED', `${field} ${filters.join(', ')}: no label ${key} matches; ${there}`)
}

/** A newer major version, or the same major with at least the minor version: one term must hold. */
function cudaTerms(version: string | null): Requirement[][] {
  if (version === null) return [[]]
  const [major = 0, minor = 0, ...patch] = version.split('.').map(Number)
  // The labels have no patch level, and a value cannot be negative, so a minor version of 0 needs no condition.
  const least = patch.some((part) => part > 0) ? minor + 1 : minor
  const same = [
    isOneOf(nodeLabels.cudaMajor, [String(major)]),
    ...(least > 0 ? [atLeast(nodeLabels.cudaMinor, least)] : []),
  ]
  return [[atLeast(nodeLabels.cudaMajor, major + 1)], same]
}

/** Keeps other runs away from an exclusive run, and the pods of a run with several nodes apart. */
export function makePodAntiAffinity({ runId, spec: { resources } }: RunSpec) {
  const apart = (operator: 'In' | 'NotIn') => ({
    topologyKey: nodeLabels.hostname,
    labelSelector: {
      matchLabels: { [podLabels.managedBy]: manager },
      matchExpressions: [{ key: podLabels.run, operator, values: [runId] }],
    },
  })
  const terms = [
    ...(resources.exclusiveNodeUse ? [apart('NotIn')] : []),
    ...((resources.nodeCount ?? 1) > 1 ? [apart('In')] : []),
  ]
  return terms.length === 0 ? {} : { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } }
}
