import type { Handle } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { podLabels, replicaOfName, selectorOf } from './names.ts'
import type { Pod } from './objects.ts'
import { copiesInCommand } from './pod.ts'

/**
 * Finds the pods of runs: by their label, and where one is missing by name, because any program may change a label, and
 * a run whose pod lives must not seem to be gone. What proves a pod under such a name cannot be changed: it mounts the
 * Secret of the run. A copy under another name is no pod of the run, whatever its labels say.
 */

export type PodsByHandle = ReadonlyMap<Handle, readonly Pod[]>

export async function readPods(cluster: ClusterApi, handles: readonly Handle[]): Promise<PodsByHandle> {
  const labelled = await read(cluster, selectorOf(handles))
  return handles.every((handle) => isWhole(labelled.get(handle) ?? [])) ? labelled : read(cluster)
}

async function read(cluster: ClusterApi, labelSelector?: string): Promise<PodsByHandle> {
  const { items } = await cluster.list<Pod>('pods', labelSelector === undefined ? {} : { labelSelector })
  const byHandle = new Map<Handle, Pod[]>()
  for (const pod of items) {
    const handle = replicaOfName(pod.metadata.name)?.handle
    if (handle === undefined || !isOf(handle, pod)) continue
    const own = byHandle.get(handle)
    if (own) own.push(pod)
    else byHandle.set(handle, [pod])
  }
  return byHandle
}

const isOf = (handle: Handle, { metadata, spec }: Pod) =>
  metadata.labels?.[podLabels.handle] === handle || spec.volumes?.some(({ secret }) => secret?.secretName === handle)

const isWhole = (pods: readonly Pod[]) => pods.length > 0 && pods.length >= podsMade(pods)

/** How many pods the run has. */
export const podsMade = ([pod]: readonly Pod[]): number =>
  pod ? (copiesInCommand(pod) ?? Number(pod.metadata.labels?.[podLabels.replicas] ?? 1)) : 1

export const replicaOf = ({ metadata }: Pod): number => replicaOfName(metadata.name)?.replica ?? 0
