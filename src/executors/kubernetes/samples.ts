import { isBackendError } from '../backend/unreachable.ts'
import type { Handle, Sample } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { parsePodName, selectRuns } from './names.ts'
import { floorQuantity } from './quantity.ts'

/** Average use of a pod over the window of the cluster's metrics API (metrics-server). */
export interface PodMetrics {
  metadata: { name: string }
  containers: readonly { name: string; usage: Readonly<Record<string, string>> }[] | null
}

const metricsPath = '/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods'
const nano = 1e-9

/** Reads the use of the pods of these runs; empty if the cluster has no metrics API, or the server may not read it. */
export async function samplePods(
  cluster: ClusterApi,
  handles: readonly Handle[],
): Promise<ReadonlyMap<Handle, Sample>> {
  if (handles.length === 0) return new Map()
  try {
    const { items } = await cluster.list<PodMetrics>(metricsPath, { labelSelector: selectRuns(handles) })
    return addPods(items)
  } catch (error) {
    if (isBackendError(error)) return new Map()
    throw error
  }
}

/** Sums the containers of all pods of each run. */
export function addPods(pods: readonly PodMetrics[]): ReadonlyMap<Handle, Sample> {
  const samples = new Map<Handle, Sample>()
  for (const { metadata, containers } of pods) {
    const handle = parsePodName(metadata.name)?.handle
    if (handle === undefined) continue
    const sum = samples.get(handle) ?? {}
    for (const { usage } of containers ?? []) {
      const { cpu, memory } = usage
      if (cpu !== undefined) sum.cpuCores = (sum.cpuCores ?? 0) + floorQuantity(cpu, nano) * nano
      if (memory !== undefined) sum.memoryBytes = (sum.memoryBytes ?? 0) + floorQuantity(memory)
    }
    samples.set(handle, sum)
  }
  return samples
}
