import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type Handle, isOver, type Observation } from '../executor.ts'
import { readSilent } from './capacity.ts'
import { type ClusterApi, ClusterAway, clusterAway } from './cluster.ts'
import type { OutputState, PodName } from './logs.ts'
import { annotations, isPodHandle, selectorOf } from './names.ts'
import type { Notice, Pod, Secret } from './objects.ts'
import { addressToBegin, hasBegunTogether, mustEndTogether, runObservation, whyToGiveUp } from './observation.ts'
import {
  containerOf,
  type Part,
  partOf,
  podIsOver,
  type Surroundings,
  stoppedBeforeItBegan,
  UnknownState,
} from './pod-state.ts'
import { podsMade, readPods, replicaOf } from './pods.ts'
import { type PodStopper, unlessGone } from './stop.ts'

/**
 * The present state of runs: one list of pods for all of them. A run without pods was withdrawn before it began, or is
 * gone; the Secrets of such runs tell, by another list.
 */

export interface Inspector {
  inspect(handles: readonly Handle[]): Promise<readonly Observation[]>
  /** The pods of a run that have, or will have, output. */
  podsOf(handle: Handle, signal: AbortSignal): Promise<readonly PodName[]>
  outputState(handle: Handle, replica: number): Promise<OutputState>
  /** Whether it was over when it was inspected last. */
  isOver(handle: Handle): boolean
  forget(handle: Handle): void
}

interface InspectorOptions {
  cluster: ClusterApi
  stopper: PodStopper
  clock: Clock
  time: Time
  log: Log
}

/** How long nodes are taken as they were, and what the cluster does for pods that wait. */
const nodesFreshMs = 10_000
const noticesFreshMs = 1_000
const awayPauseMs = 1_000
/** Of the replicas that are left when one has failed. */
const peersGraceMs = 30_000

/** The pods of a run, and in the same order what each of them means. */
interface Together {
  pods: readonly Pod[]
  parts: readonly Part[]
  replicas: number
}

export function createInspector(options: InspectorOptions): Inspector {
  const { cluster, stopper, clock, time, log } = options
  /** The last observation of each run that is not forgotten; after the end it does not change. */
  const seen = new Map<Handle, Observation>()
  const silentNodes = remembered(clock, nodesFreshMs, () => readSilent(cluster))
  const doing = remembered(clock, noticesFreshMs, () => readDoing(cluster))

  async function inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const asked = handles.filter((handle) => isPodHandle(handle) && !isKept(seen.get(handle)))
    if (asked.length > 0)
      try {
        await look(asked)
      } catch (error) {
        if (!(error instanceof ClusterAway)) throw error
        for (const handle of asked) if (!seen.has(handle)) seen.set(handle, { state: 'starting', info: clusterAway })
      }
    return handles.map((handle) => seen.get(handle) ?? notThere)
  }

  async function look(handles: readonly Handle[]): Promise<void> {
    const pods = await readPods(cluster, handles)
    const known = await readKnown([...pods.values()].flat())
    const without = handles.filter((handle) => !pods.has(handle))
    const withdrawn = without.length > 0 ? await readWithdrawn(without) : new Set<Handle>()
    for (const handle of handles) {
      const own = pods.get(handle)
      if (own) seen.set(handle, await observe(handle, own, known))
      else seen.set(handle, withdrawn.has(handle) ? stoppedBeforeItBegan : notThere)
    }
  }

  /** What a pod alone does not tell; asked only if some pod needs it. */
  async function readKnown(pods: readonly Pod[]): Promise<Surroundings> {
    const waits = pods.some((pod) => pod.spec.nodeName !== undefined && containerOf(pod)?.waiting)
    const isPlaced = pods.some((pod) => pod.spec.nodeName !== undefined && !containerOf(pod)?.terminated)
    const nowMs = time.nowMs()
    return {
      toTime: (iso) => new Date(Math.min(nowMs, Date.parse(iso) - cluster.aheadMs())),
      nowMs,
      silent: isPlaced ? await silentNodes() : new Set(),
      doing: waits ? await doing() : new Map(),
    }
  }

  async function observe(handle: Handle, found: readonly Pod[], known: Surroundings): Promise<Observation> {
    try {
      const together = togetherOf(await giveUp(togetherOf(found, known), known), known)
      await endWhatMustEnd(handle, together)
      const address = addressToBegin(together.parts, together)
      return observationOf({ ...together, pods: await beginTogether(together.pods, address) })
    } catch (err) {
      if (!(err instanceof UnknownState)) throw err
      log.error({ err, run: handle }, 'the cluster shows a state that this version does not know; nothing is concluded')
      return seen.get(handle) ?? { state: 'starting', info: err.message }
    }
  }

  async function endWhatMustEnd(handle: Handle, { pods, parts, replicas }: Together): Promise<void> {
    for (const pod of pods) if (!podIsOver(pod)) await stopper.enforce(pod)
    if (!mustEndTogether(parts, { pods, replicas })) return
    // The pod that failed stays, because it tells why.
    const peers = pods.filter((_, index) => parts[index]?.kind === 'runs' || parts[index]?.kind === 'waits')
    await stopper.stopPeers(handle, peers, peersGraceMs)
  }

  /** The pods stay, and tell why, until the end of the run is stored. */
  async function giveUp(together: Together, known: Surroundings): Promise<readonly Pod[]> {
    const { pods } = together
    const why = whyToGiveUp(together, known)
    const isTold = pods.some(({ metadata }) => metadata.annotations?.[annotations.givenUp] !== undefined)
    return why === null || isTold
      ? pods
      : changed(pods, () => ({ metadata: { annotations: { [annotations.givenUp]: why } } }))
  }

  /** Lets the commands begin in pods that have not been told to; `address` null: not all pods of the run are up. */
  async function beginTogether(pods: readonly Pod[], address: string | null): Promise<readonly Pod[]> {
    if (address === null) return pods
    const upMs = Math.max(...pods.map(runsSinceMs))
    return changed(pods, (pod) => {
      const isTold = pod.metadata.annotations?.[annotations.begin] !== undefined
      return isTold ? null : beginOf(pod, address, upMs)
    })
  }

  /** `changeOf`: null leaves the pod as it is. */
  function changed(pods: readonly Pod[], changeOf: (pod: Pod) => unknown): Promise<readonly Pod[]> {
    return Promise.all(
      pods.map(async (pod) => {
        const change = changeOf(pod)
        if (change === null) return pod
        return (await cluster.patch<Pod>(`pods/${pod.metadata.name}`, change).catch(unlessGone)) ?? pod
      }),
    )
  }

  async function readWithdrawn(handles: readonly Handle[]): Promise<ReadonlySet<Handle>> {
    const { items } = await cluster.list<Secret>('secrets', { labelSelector: selectorOf(handles) })
    const isWithdrawn = ({ metadata }: Secret) => metadata.annotations?.[annotations.withdrawn] !== undefined
    return new Set(items.filter(isWithdrawn).map(({ metadata }) => metadata.name))
  }

  return {
    inspect,
    async podsOf(handle, signal) {
      while (!signal.aborted && isPodHandle(handle))
        try {
          const pods = (await readPods(cluster, [handle])).get(handle) ?? []
          return pods.map((pod) => ({ name: pod.metadata.name, replica: replicaOf(pod) }))
        } catch (error) {
          if (!(error instanceof ClusterAway)) throw error
          await clock.sleep(awayPauseMs, signal)
        }
      return []
    },
    async outputState(handle, replica) {
      try {
        const pods = (await readPods(cluster, [handle])).get(handle) ?? []
        return outputOf(togetherOf(pods, await readKnown(pods)), replica)
      } catch (error) {
        if (error instanceof ClusterAway || error instanceof UnknownState) return 'WAITS'
        throw error
      }
    },
    isOver: (handle) => isOver(seen.get(handle)),
    forget: (handle) => void seen.delete(handle),
  }
}

const notThere: Observation = { state: 'gone', info: 'Its pod is not there' }

/** It cannot change any more. */
const isKept = (observation: Observation | undefined) => observation?.state === 'ended'

function togetherOf(pods: readonly Pod[], known: Surroundings): Together {
  return { pods, parts: pods.map((pod) => partOf(pod, known)), replicas: podsMade(pods) }
}

const observationOf = ({ pods, parts, replicas }: Together): Observation =>
  runObservation(parts, { pods, replicas, nativeId: pods.map(({ metadata }) => metadata.name).join(' ') })

/** A command that waits for a pod that is lost never begins. */
function outputOf(together: Together, replica: number): OutputState {
  const { pods, parts } = together
  const index = pods.findIndex((pod) => replicaOf(pod) === replica)
  const [pod, kind] = [pods[index], parts[index]?.kind]
  if (!pod) return 'GONE'
  if (kind === 'failed' || kind === 'alone' || (kind === 'waits' && isOver(observationOf(together)))) return 'NONE'
  const { terminated, running } = containerOf(pod) ?? {}
  if (kind === 'over') return (terminated ?? running) ? 'OVER' : 'GONE'
  if (kind === 'gone') return terminated ? 'OVER' : 'GONE'
  const runs = kind === 'runs' || (kind === 'unreachable' && running !== undefined)
  return runs && hasBegunTogether(together) ? 'GOES_ON' : 'WAITS'
}

const runsSinceMs = (pod: Pod) => Date.parse(containerOf(pod)?.running?.startedAt ?? '')

/**
 * The pod was active while it waited for the last one, which costs the run none of its time. The same for every server
 * and at every look: the API server refuses a deadline that is later than the one before.
 */
function beginOf({ metadata, status }: Pod, address: string, upMs: number): unknown {
  const seconds = metadata.annotations?.[annotations.deadline]
  const waitedMs = Math.max(0, upMs - Date.parse(status.startTime ?? ''))
  return {
    metadata: { annotations: { [annotations.begin]: address } },
    ...(seconds !== undefined && { spec: { activeDeadlineSeconds: Number(seconds) + Math.ceil(waitedMs / 1000) } }),
  }
}

/** Notices about pods except those of what went well, and of what a pod without a node tells itself. */
const ofWaiting = ['Scheduled', 'FailedScheduling', 'Pulled', 'Created', 'Started', 'Killing']
  .map((reason) => `reason!=${reason}`)
  .join()

/** What the kubelets say that they do, or cannot do, by the uid of the pod; the newest counts. */
async function readDoing(cluster: ClusterApi): Promise<ReadonlyMap<string, string>> {
  const { items } = await cluster.list<Notice>('events', { fieldSelector: `involvedObject.kind=Pod,${ofWaiting}` })
  const inOrder = items.toSorted((a, b) => momentOf(a).localeCompare(momentOf(b)))
  return new Map(
    inOrder.map(({ involvedObject, reason = '', message = reason }) => [involvedObject.uid ?? '', message]),
  )
}

const momentOf = ({ lastTimestamp, eventTime }: Notice) => lastTimestamp ?? eventTime ?? ''

/** Asks again after a while; several questions at once are one. */
function remembered<T>(clock: Clock, freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; value: Promise<T> } | null = null
  return () => {
    if (last === null || clock.monotonicMs() - last.atMs > freshMs) {
      const value = read()
      last = { atMs: clock.monotonicMs(), value }
      value.catch(() => (last = null))
    }
    return last.value
  }
}
