import type { BackendNode } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { podLabels } from './names.ts'
import type { Container, Node, Pod, Taint } from './objects.ts'
import { gpuResource, nodeLabels, tensorCoresSince } from './placement.ts'
import { ceilingOf, floorOf, milli } from './quantity.ts'

/** Nodes of the cluster as nodes of the pool: what a node can give to pods, and what pods of others hold of it. */

const mib = 2 ** 20

/** `owner`: the label of this pool's own pods. */
export function capacityOf(nodes: readonly Node[], pods: readonly Pod[], owner: string): BackendNode[] {
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
      cpuMillis: floorOf(allocatable['cpu'] ?? 0, milli),
      memoryBytes: floorOf(allocatable['memory'] ?? 0),
      cpuModel: own[nodeLabels.cpuModel] ?? '',
      infiniband: own[nodeLabels.infiniband] === 'true',
      gpuJobsOnly: node.spec.taints?.some(isOfGpus) === true,
      gpus: Array.from({ length: floorOf(allocatable[gpuResource] ?? 0) }, () => gpu),
      heldByOthers: heldBy(others.get(node.metadata.name) ?? []),
    }
  })
}

function cudaVersionOf(labels: Readonly<Record<string, string>>): string | null {
  const version = [labels[nodeLabels.cudaMajor], labels[nodeLabels.cudaMinor]]
  return version.every((part) => part !== undefined && /^\d{1,9}$/.test(part)) ? version.join('.') : null
}

const readiness = ({ status }: Node) => status.conditions?.find(({ type }) => type === 'Ready')?.status

/** Its kubelet does not answer. One that says that it is not ready still tells the truth of its pods. */
const isSilent = (node: Node) => readiness(node) === 'Unknown'

/** The names of the nodes that do not answer. */
export async function readSilent(cluster: ClusterApi): Promise<ReadonlySet<string>> {
  const { items } = await cluster.list<Node>('/api/v1/nodes')
  return new Set(items.filter(isSilent).map(({ metadata }) => metadata.name))
}

function stateOf(node: Node): BackendNode['state'] {
  if (isSilent(node)) return 'LOST'
  const isOpen = readiness(node) === 'True' && node.spec.unschedulable !== true
  return isOpen && !node.spec.taints?.some(keepsRunsAway) ? 'READY' : 'CORDONED'
}

const keepsPodsAway = ({ effect }: Taint) => effect !== 'PreferNoSchedule'
/** Runs with GPUs tolerate the taint of GPU nodes; no run tolerates any other. */
const isOfGpus = (taint: Taint) => keepsPodsAway(taint) && taint.key === gpuResource
const keepsRunsAway = (taint: Taint) => keepsPodsAway(taint) && taint.key !== gpuResource

/** Requests are what the scheduler of the cluster counts. */
function heldBy(pods: readonly Pod[]): BackendNode['heldByOthers'] {
  const sum = (name: string, unit = 1) => pods.reduce((total, pod) => total + requestOf(pod, name, unit), 0)
  return { cpuMillis: sum('cpu', milli), memoryBytes: sum('memory'), gpus: sum(gpuResource) }
}

/** Init containers run one after the other, in front of the others; sidecars among them go on. */
function requestOf({ spec }: Pod, name: string, unit: number): number {
  const amount = (requests: Container['resources'] = {}) => ceilingOf(requests.requests?.[name] ?? 0, unit)
  let sidecars = 0
  let first = 0
  for (const { restartPolicy, resources } of spec.initContainers ?? []) {
    first = Math.max(first, sidecars + amount(resources))
    if (restartPolicy === 'Always') sidecars += amount(resources)
  }
  const together = spec.containers.reduce((total, { resources }) => total + amount(resources), sidecars)
  const ofPod = spec.resources?.requests?.[name]
  return (
    (ofPod === undefined ? Math.max(first, together) : ceilingOf(ofPod, unit)) +
    ceilingOf(spec.overhead?.[name] ?? 0, unit)
  )
}
