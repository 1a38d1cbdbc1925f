import type { Time } from '../../platform/clock.ts'
import type { Handle } from '../executor.ts'
import { readSilent } from './capacity.ts'
import { type ClusterApi, isAbsent, isConflict } from './cluster.ts'
import { annotations, isPodHandle } from './names.ts'
import type { Pod } from './objects.ts'
import { cannotBegin, hasBegun, podIsOver } from './pod-state.ts'
import { readPods } from './pods.ts'

/**
 * Ends a run through its own pods: the order to stop is an annotation, the kubelet shows it to the first process of the
 * pod within a second, and that sends TERM and KILL (supervise.sh). So the output and the exit code stay, which the
 * kubelet would remove with a deleted pod, and no server has to live until KILL is due. A pod whose command has not begun
 * is deleted, and the Secret of the run says so.
 *
 * A job that kills its supervisor's watch does not hear the order: its pod is deleted a while after KILL was due.
 */

export interface PodStopper {
  stop(handle: Handle, graceMs: number): Promise<void>
  /** The peers of a pod that failed or is lost. */
  stopPeers(handle: Handle, pods: readonly Pod[], graceMs: number): Promise<void>
  /** Deletes the pod if it should have ended long ago. */
  enforce(pod: Pod): Promise<void>
}

interface Stop {
  handle: Handle
  graceMs: number
  of: 'RUN' | 'PEERS'
}

/** The kubelet may take a while to show the order. */
const toleranceMs = 30_000
const conflictsMax = 10

export function createPodStopper(cluster: ClusterApi, time: Time): PodStopper {
  async function stopPod(name: string, stop: Stop): Promise<void> {
    for (let conflicts = 0; conflicts < conflictsMax; conflicts++)
      try {
        return await stopOnce(name, stop)
      } catch (error) {
        if (isAbsent(error)) return
        if (!isConflict(error)) throw error
      }
    throw new Error(`The pod ${name} changed ${conflictsMax} times while it was stopped`)
  }

  async function stopOnce(name: string, stop: Stop): Promise<void> {
    const pod = await cluster.get<Pod>(`pods/${name}`)
    if (podIsOver(pod)) return
    const ordered = await order(pod, stop)
    if (!hasBegun(ordered)) await withdraw(ordered, stop)
  }

  /** The shorter grace counts. */
  async function order(pod: Pod, { graceMs, of }: Stop): Promise<Pod> {
    const { name, resourceVersion, annotations: given = {} } = pod.metadata
    const before = given[annotations.stop]
    const isShorter = before === undefined || Number(before) > graceMs
    const isNew = of === 'RUN' && given[annotations.stopRun] === undefined
    if (!isShorter && !isNew) return pod
    const stopBy = new Date(time.nowMs() + graceMs + toleranceMs).toISOString()
    return cluster.patch<Pod>(`pods/${name}`, {
      metadata: {
        resourceVersion,
        annotations: {
          ...(isShorter && { [annotations.stop]: String(Math.ceil(graceMs)), [annotations.stopBy]: stopBy }),
          ...(isNew && { [annotations.stopRun]: 'yes' }),
        },
      },
    })
  }

  /**
   * A pod that changed since it was read may have begun. One that cannot begin is removed at once: some kubelets take a
   * minute to confirm that they have nothing of it. The kubelet of a silent node may begin it unheard, so it has to confirm.
   */
  async function withdraw(pod: Pod, { handle, graceMs }: Stop): Promise<void> {
    const { name, uid, resourceVersion, deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) return
    await cluster.patch(`secrets/${handle}`, { metadata: { annotations: { [annotations.withdrawn]: 'yes' } } })
    const gracePeriodSeconds = cannotBegin(pod) && (await isHeard(pod)) ? 0 : Math.max(1, Math.ceil(graceMs / 1000))
    await cluster.delete(`pods/${name}`, { gracePeriodSeconds, preconditions: { uid, resourceVersion } })
  }

  const isHeard = async ({ spec: { nodeName } }: Pod) =>
    nodeName === undefined || !(await readSilent(cluster)).has(nodeName)

  async function stopPods(pods: readonly Pod[], stop: Stop): Promise<void> {
    for (const { metadata } of pods) await stopPod(metadata.name, stop)
  }

  return {
    stopPeers: (handle, pods, graceMs) => stopPods(pods, { handle, graceMs, of: 'PEERS' }),
    async stop(handle, graceMs) {
      if (!isPodHandle(handle)) return
      const pods = await readPods(cluster, [handle])
      await stopPods(pods.get(handle) ?? [], { handle, graceMs, of: 'RUN' })
    },
    async enforce({ metadata }) {
      const by = metadata.annotations?.[annotations.stopBy]
      if (by === undefined || metadata.deletionTimestamp !== undefined || Date.parse(by) > time.nowMs()) return
      const options = { gracePeriodSeconds: 1, preconditions: { uid: metadata.uid } }
      await cluster.delete(`pods/${metadata.name}`, options).catch(unlessGone)
    },
  }
}

/** The Secret goes last: the rest goes with it, also if this is cut off in the middle. */
export async function removeObjects(cluster: ClusterApi, handle: Handle): Promise<void> {
  const pods = await readPods(cluster, [handle])
  for (const { metadata } of pods.get(handle) ?? [])
    await cluster.delete(`pods/${metadata.name}`, { gracePeriodSeconds: 0 }).catch(unlessGone)
  await cluster.delete(`secrets/${handle}`, { propagationPolicy: 'Background' }).catch(unlessGone)
}

export function unlessGone(error: unknown): undefined {
  if (!isAbsent(error)) throw error
}
