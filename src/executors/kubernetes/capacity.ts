import type { BackendNode } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { podLabels } from './names.ts'
import type { Container, Node, Pod, Taint } from './objects.ts'
import { gpuResource, nodeLabels, tensorCoresSince } from './placement.ts'
import { ceilQuantity, floorQuantity, milli } from './quantity.ts'

const mib = 2 ** 20

/**
 * Lists the nodes of the cluster with their capacity and the amounts that other pods use. `owner`: label of this pool's
 * pods.
 */
export function listNodes(nodes: readonly Node[], pods: readonly Pod[], owner: string): BackendNode[] {
  const others = Map.groupBy(
    pods.filter(({ metadata }) => metadata.labels?.[podLabels.owner] !== owner),
    ({ spec }) => spec.nodeName ?? '',
  )
  return nodes.map((node) => {
    const { allocatable = {} } = node.status
    const own = node.metadata.labels ?? {}
    const gpu = {
      model: own[nodeLabels.gpuModel] ?? '',
      memoryBytes: Number(own[nodeLabels.gpuMemory] ?? 0) * mib,
      tensorCores: Number(own[nodeLabels.gpuCompute] ?? 0) >= tensorCoresSince,
      cudaVersion: cudaVersionOf(own),
    }
    return {
      name: node.metadata.name,
      state: stateOf(node),
      cpuMillis: floorQuantity(allocatable['cpu'] ?? 0, milli),
      memoryBytes: floorQuantity(allocatable['memory'] ?? 0),
      cpuModel: own[nodeLabels.cpuModel] ?? '',
      infiniband: own[nodeLabels.infiniband] === 'true',
      gpuJobsOnly: node.spec.taints?.some(isOfGpus) === true,
      gpus: Array.from({ length: floorQuantity(allocatable[gpuResource] ?? 0) }, () => gpu),
      heldByOthers: heldBy(others.get(node.metadata.name) ?? []),
    }
  })
}

function cudaVersionOf(labels: Readonly<Record<string, string>>): string | null {
  const version = [labels[nodeLabels.cudaMajor], labels[nodeLabels.cudaMinor]]
  return version.every((part) => part !== undefined && /^\d{1,9}$/.test(part)) ? version.join('.') : null
}

const readiness = ({ status }: Node) => status.conditions?.find(({ type }) => type === 'Ready')?.status

/** true: the node does not report. A kubelet that reports not being ready still reports its pods correctly. */
const isUnreachable = (node: Node) => readiness(node) === 'Unknown'

export async function readUnreachableNodes(cluster: ClusterApi): Promise<ReadonlySet<string>> {
  const { items } = await cluster.list<Node>('/api/v1/nodes')
  return new Set(items.filter(isUnreachable).map(({ metadata }) => metadata.name))
}

function stateOf(node: Node): BackendNode['state'] {
  if (isUnreachable(node)) return 'LOST'
  const isOpen = readiness(node) === 'True' && node.spec.unschedulable !== true
  return isOpen && !node.spec.taints?.some(keepsRunsAway) ? 'READY' : 'CORDONED'
}

const keepsPodsAway = ({ effect }: Taint) => effect !== 'PreferNoSchedule'
const isOfGpus = (taint: Taint) => keepsPodsAway(taint) && taint.key === gpuResource
const keepsRunsAway = (taint: Taint) => keepsPodsAway(taint) && taint.key !== gpuResource

/** Sums the requests of pods, because the scheduler of the cluster counts requests. */
function heldBy(pods: readonly Pod[]): BackendNode['heldByOthers'] {
  const sum = (name: string, unit = 1) => pods.reduce((total, pod) => total + requestOf(pod, name, unit), 0)
  return { cpuMillis: sum('cpu', milli), memoryBytes: sum('memory'), gpus: sum(gpuResource) }
}

/**
 * Returns the amount of a resource that a pod requests. Init containers run one after the other before the main
 * containers; sidecars among them keep running.
 */
function requestOf({ spec }: Pod, name: string, unit: number): number {
  const amount = (requests: Container['resources'] = {}) => ceilQuantity(requests.requests?.[name] ?? 0, unit)
  let sidecars = 0
  let first = 0
  for (const { restartPolicy, resources } of spec.initContainers ?? []) {
    first = Math.max(first, sidecars + amount(resources))
    if (restartPolicy === 'Always') sidecars += amount(resources)
  }
  const together = spec.containers.reduce((total, { resources }) => total + amount(resources), sidecars)
  const ofPod = spec.resources?.requests?.[name]
  return (
    (ofPod === undefined ? Math.max(first, together) : ceilQuantity(ofPod, unit)) +
    ceilQuantity(spec.overhead?.[name] ?? 0, unit)
  )
}
