import type { Time } from '../../platform/clock.ts'
import { ignoreNotFound, isNotFound } from '../backend/unreachable.ts'
import type { Handle } from '../executor.ts'
import { readUnreachableNodes } from './capacity.ts'
import { type ClusterApi, isConflict } from './cluster.ts'
import { annotations, isPodHandle } from './names.ts'
import type { Pod } from './objects.ts'
import { cannotBegin, hasBegun, podIsOver } from './pod-state.ts'
import { readPods } from './pods.ts'

/**
 * Stops a run through its pods. An annotation requests the stop; the kubelet shows it to the first process of the pod,
 * which sends TERM and KILL (supervise.sh). Unlike deleting the pod, this keeps output and exit code, and works without
 * a server. A pod whose command has not begun is deleted, and a mark on the Secret records this. If a job kills its
 * supervisor's timer, its pod is deleted some time after KILL was due.
 */

interface Stop {
  handle: Handle
  graceMs: number
  of: 'RUN' | 'PEERS'
}

/** Margin for a kubelet that shows the annotation late. */
const toleranceMs = 30_000
const conflictsMax = 10

export class PodStopper {
  readonly #cluster: ClusterApi
  readonly #time: Time

  constructor(cluster: ClusterApi, time: Time) {
    this.#cluster = cluster
    this.#time = time
  }

  async stop(handle: Handle, graceMs: number): Promise<void> {
    if (!isPodHandle(handle)) return
    const pods = await readPods(this.#cluster, [handle])
    await this.#stopPods(pods.get(handle) ?? [], { handle, graceMs, of: 'RUN' })
  }

  stopPeers(handle: Handle, pods: readonly Pod[], graceMs: number): Promise<void> {
    return this.#stopPods(pods, { handle, graceMs, of: 'PEERS' })
  }

  async deleteOverdue({ metadata }: Pod): Promise<void> {
    const by = metadata.annotations?.[annotations.stopBy]
    if (by === undefined || metadata.deletionTimestamp !== undefined || Date.parse(by) > this.#time.nowMs()) return
    const options = { gracePeriodSeconds: 1, preconditions: { uid: metadata.uid } }
    await this.#cluster.delete(`pods/${metadata.name}`, options).catch(ignoreNotFound)
  }

  async #stopPods(pods: readonly Pod[], stop: Stop): Promise<void> {
    for (const { metadata } of pods) await this.#stopPod(metadata.name, stop)
  }

  async #stopPod(name: string, stop: Stop): Promise<void> {
    for (let conflicts = 0; conflicts < conflictsMax; conflicts++)
      try {
        return await this.#stopOnce(name, stop)
      } catch (error) {
        if (isNotFound(error)) return
        if (!isConflict(error)) throw error
      }
    throw new Error(`The pod ${name} changed ${conflictsMax} times during its stop`)
  }

  async #stopOnce(name: string, stop: Stop): Promise<void> {
    const pod = await this.#cluster.get<Pod>(`pods/${name}`)
    if (podIsOver(pod)) return
    const ordered = await this.#orderStop(pod, stop)
    if (!hasBegun(ordered)) await this.#withdraw(ordered, stop)
  }

  /** Writes the annotation. If the pod already has one, the shorter grace period applies. */
  async #orderStop(pod: Pod, { graceMs, of }: Stop): Promise<Pod> {
    const { name, resourceVersion, annotations: given = {} } = pod.metadata
    const before = given[annotations.stop]
    const isShorter = before === undefined || Number(before) > graceMs
    const isNew = of === 'RUN' && given[annotations.stopRun] === undefined
    if (!isShorter && !isNew) return pod
    const stopBy = new Date(this.#time.nowMs() + graceMs + toleranceMs).toISOString()
    return this.#cluster.patch<Pod>(`pods/${name}`, {
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
   * Deletes a pod whose command had not begun at this version of the object. A pod that cannot begin is removed at
   * once, because some kubelets confirm late. The kubelet of an unreachable node must confirm the deletion, because it
   * may begin the command.
   */
  async #withdraw(pod: Pod, { handle, graceMs }: Stop): Promise<void> {
    const { name, uid, resourceVersion, deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) return
    await this.#cluster.patch(`secrets/${handle}`, { metadata: { annotations: { [annotations.withdrawn]: 'yes' } } })
    const isImmediate = cannotBegin(pod) && (await this.#isReachable(pod))
    const gracePeriodSeconds = isImmediate ? 0 : Math.max(1, Math.ceil(graceMs / 1000))
    await this.#cluster.delete(`pods/${name}`, { gracePeriodSeconds, preconditions: { uid, resourceVersion } })
  }

  async #isReachable({ spec: { nodeName } }: Pod): Promise<boolean> {
    return nodeName === undefined || !(await readUnreachableNodes(this.#cluster)).has(nodeName)
  }
}

/**
 * Deletes the objects of a run. The Secret is last: its deletion also removes objects that an interrupted removal left.
 */
export async function removeObjects(cluster: ClusterApi, handle: Handle): Promise<void> {
  const pods = await readPods(cluster, [handle])
  for (const { metadata } of pods.get(handle) ?? [])
    await cluster.delete(`pods/${metadata.name}`, { gracePeriodSeconds: 0 }).catch(ignoreNotFound)
  await cluster.delete(`secrets/${handle}`, { propagationPolicy: 'Background' }).catch(ignoreNotFound)
}
