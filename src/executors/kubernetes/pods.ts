import type { Handle } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { parsePodName, podLabels, selectRuns } from './names.ts'
import type { Pod } from './objects.ts'

type PodsByHandle = ReadonlyMap<Handle, readonly Pod[]>

export async function readPods(cluster: ClusterApi, handles: readonly Handle[]): Promise<PodsByHandle> {
  const { items } = await cluster.list<Pod>('pods', { labelSelector: selectRuns(handles) })
  return Map.groupBy(items, ({ metadata }) => metadata.labels?.[podLabels.handle] ?? '')
}

export const countPods = ([pod]: readonly Pod[]): number => Number(pod?.metadata.labels?.[podLabels.replicas] ?? 1)

export const getReplica = ({ metadata }: Pod): number => parsePodName(metadata.name)?.replica ?? 0
