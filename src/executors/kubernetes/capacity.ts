import type { BackendNode } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { podLabels } from './names.ts'
import type { Node, Pod, Taint } from './objects.ts'
import { gpuResource, nodeLabels } from './placement.ts'
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
  const requests = pods.flatMap(({ spec }) => spec.containers.map(({ resources }) => resources?.requests ?? {}))
  const sum = (name: string, unit = 1) => requests.reduce((total, each) => total + ceilingOf(each[name] ?? 0, unit), 0)
  return { cpuMillis: sum('cpu', milli), memoryBytes: sum('memory'), gpus: sum(gpuResource) }
}
