import { matchesAll, type Shape, toShape } from '../../domain/shape.ts'
import { type RunSpec, StartFailed } from '../executor.ts'
import { manager, podLabels } from './names.ts'
import type { Node } from './objects.ts'

/**
 * Limits where the cluster's scheduler may place a run, by the labels of GPU and node feature discovery. A filter is
 * translated to the label values that match it, so it also admits nodes that are added later with these values. A
 * filter that only excludes models is translated to the values that are excluded, so it admits nodes without the label.
 */

export const nodeLabels = {
  hostname: 'kubernetes.io/hostname',
  cpuModel: 'berth/cpu-model',
  infiniband: 'feature.node.kubernetes.io/rdma.available',
  gpuModel: 'nvidia.com/gpu.product',
  /** Memory of one GPU in MiB. */
  gpuMemory: 'nvidia.com/gpu.memory',
  /** Major compute capability; GPUs have tensor cores from version 7 on. */
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

export const needsNodeLabels = (shape: Shape): boolean => shape.cpuModel.length > 0 || shape.gpuModel.length > 0

export function makeNodeAffinity(shape: Shape, nodes: readonly Node[]): unknown {
  const all = [
    ...matching('resources.cpuModel', { key: nodeLabels.cpuModel, filters: shape.cpuModel, nodes }),
    ...matching('resources.gpuModel', { key: nodeLabels.gpuModel, filters: shape.gpuModel, nodes }),
    ...(shape.gpuMemoryBytes === null
      ? []
      : [atLeast(nodeLabels.gpuMemory, Math.ceil(shape.gpuMemoryBytes / 2 ** 20))]),
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

/** Alternative terms: a newer major version, or the same major version with at least the minor version. */
function cudaTerms(version: string | null): Requirement[][] {
  if (version === null) return [[]]
  const [major = 0, minor = 0, ...patch] = version.split('.').map(Number)
  // The labels omit the patch level. A minor version of 0 needs no term, because a value cannot be negative.
  const least = patch.some((part) => part > 0) ? minor + 1 : minor
  const same = [
    isOneOf(nodeLabels.cudaMajor, [String(major)]),
    ...(least > 0 ? [atLeast(nodeLabels.cudaMinor, least)] : []),
  ]
  return [[atLeast(nodeLabels.cudaMajor, major + 1)], same]
}

/** Keeps other runs away from an exclusive run, and spreads the pods of a run with several nodes. */
export function makePodAntiAffinity({ runId, spec: { resources } }: RunSpec) {
  const { copies, distinctNodes } = toShape(resources)
  const apart = (operator: 'In' | 'NotIn') => ({
    topologyKey: nodeLabels.hostname,
    labelSelector: {
      matchLabels: { [podLabels.managedBy]: manager },
      matchExpressions: [{ key: podLabels.run, operator, values: [runId] }],
    },
  })
  const terms = [
    ...(resources.exclusiveNodeUse ? [apart('NotIn')] : []),
    ...(distinctNodes && copies > 1 ? [apart('In')] : []),
  ]
  return terms.length === 0 ? {} : { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } }
}
