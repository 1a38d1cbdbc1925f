import type { Clock } from '../../platform/clock.ts'
import type { ExecutorOptions } from '../backend/executor-options.ts'
import { BackendUnreachable, ignoreNotFound } from '../backend/unreachable.ts'
import { type Handle, isOver, type Observation } from '../executor.ts'
import { readUnreachableNodes } from './capacity.ts'
import { type ClusterApi, clusterUnreachable } from './cluster.ts'
import { explainGiveUp, findAddressToBegin, hasBegunTogether, mustEndTogether } from './gang.ts'
import type { OutputState, PodName } from './logs.ts'
import { annotations, isPodHandle, selectRuns } from './names.ts'
import type { Notice, Pod, Secret } from './objects.ts'
import { observeRun } from './observation.ts'
import {
  endedBeforeStart,
  getContainerState,
  interpretPod,
  type Part,
  podIsOver,
  type Surroundings,
  UnknownState,
} from './pod-state.ts'
import { countPods, getReplica, readPods } from './pods.ts'
import type { PodStopper } from './stop.ts'

interface InspectorOptions extends Pick<ExecutorOptions, 'clock' | 'time' | 'log'> {
  cluster: ClusterApi
  stopper: PodStopper
}

const nodesFreshMs = 10_000
const noticesFreshMs = 1_000
const retryMs = 1_000
/** Grace period for the remaining replicas after one has failed. */
const peersGraceMs = 30_000

/** The pods of a run, and their states in the same order. */
interface Together {
  pods: readonly Pod[]
  parts: readonly Part[]
  replicas: number
}

/** Reads the states of runs. If a run has no pods, its Secret shows whether the run was withdrawn. */
export class Inspector {
  readonly #options: InspectorOptions
  readonly #cluster: ClusterApi
  /** The last observation of each run until `forget`; a final observation does not change. */
  readonly #seen = new Map<Handle, Observation>()
  readonly #readUnreachable: () => Promise<ReadonlySet<string>>
  readonly #readNotices: () => Promise<ReadonlyMap<string, string>>

  constructor(options: InspectorOptions) {
    const { cluster, clock } = options
    this.#options = options
    this.#cluster = cluster
    this.#readUnreachable = cached(clock, nodesFreshMs, () => readUnreachableNodes(cluster))
    this.#readNotices = cached(clock, noticesFreshMs, () => readNotices(cluster))
  }

  async inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const open = handles.filter((handle) => isPodHandle(handle) && this.#seen.get(handle)?.state !== 'ended')
    if (open.length > 0)
      try {
        await this.#inspectAll(open)
      } catch (error) {
        if (!(error instanceof BackendUnreachable)) throw error
        const unknown: Observation = { state: 'starting', info: clusterUnreachable }
        for (const handle of open) if (!this.#seen.has(handle)) this.#seen.set(handle, unknown)
      }
    return handles.map((handle) => this.#seen.get(handle) ?? missing)
  }

  /** Lists the pods of a run that have output or will have output. */
  async listPods(handle: Handle, signal: AbortSignal): Promise<readonly PodName[]> {
    while (!signal.aborted && isPodHandle(handle))
      try {
        const pods = (await readPods(this.#cluster, [handle])).get(handle) ?? []
        return pods.map((pod) => ({ name: pod.metadata.name, replica: getReplica(pod) }))
      } catch (error) {
        if (!(error instanceof BackendUnreachable)) throw error
        await this.#options.clock.sleep(retryMs, signal)
      }
    return []
  }

  async readOutputState(handle: Handle, replica: number): Promise<OutputState> {
    try {
      const pods = (await readPods(this.#cluster, [handle])).get(handle) ?? []
      return findOutputState(interpretAll(pods, await this.#readSurroundings(pods)), replica)
    } catch (error) {
      if (error instanceof BackendUnreachable || error instanceof UnknownState) return 'WAITS'
      throw error
    }
  }

  isOver(handle: Handle): boolean {
    return isOver(this.#seen.get(handle))
  }

  forget(handle: Handle): void {
    this.#seen.delete(handle)
  }

  async #inspectAll(handles: readonly Handle[]): Promise<void> {
    const pods = await readPods(this.#cluster, handles)
    const known = await this.#readSurroundings([...pods.values()].flat())
    const without = handles.filter((handle) => !pods.has(handle))
    const withdrawn = without.length > 0 ? await this.#readWithdrawn(without) : new Set<Handle>()
    for (const handle of handles) {
      const own = pods.get(handle)
      if (own) this.#seen.set(handle, await this.#observe(handle, own, known))
      else this.#seen.set(handle, withdrawn.has(handle) ? endedBeforeStart : missing)
    }
  }

  async #readSurroundings(pods: readonly Pod[]): Promise<Surroundings> {
    const placed = pods.filter(({ spec }) => spec.nodeName !== undefined).map(getContainerState)
    const nowMs = this.#options.time.nowMs()
    return {
      toTime: (iso) => new Date(Math.min(nowMs, Date.parse(iso) - this.#cluster.aheadMs)),
      nowMs,
      unreachable: placed.some((state) => !state?.terminated) ? await this.#readUnreachable() : new Set(),
      notices: placed.some((state) => state?.waiting) ? await this.#readNotices() : new Map(),
    }
  }

  async #observe(handle: Handle, found: readonly Pod[], known: Surroundings): Promise<Observation> {
    try {
      const together = interpretAll(await this.#giveUp(interpretAll(found, known), known), known)
      await this.#endPods(handle, together)
      const address = findAddressToBegin(together.parts, together)
      return observe({ ...together, pods: await this.#beginTogether(together.pods, address) })
    } catch (err) {
      if (!(err instanceof UnknownState)) throw err
      this.#options.log.error({ err, run: handle }, 'the cluster reports an unknown state; the run keeps its state')
      return this.#seen.get(handle) ?? { state: 'starting', info: err.message }
    }
  }

  async #endPods(handle: Handle, { pods, parts, replicas }: Together): Promise<void> {
    const { stopper } = this.#options
    for (const pod of pods) if (!podIsOver(pod)) await stopper.deleteOverdue(pod)
    if (!mustEndTogether(parts, { pods, replicas })) return
    // Keeps the failed pod, because it contains the cause.
    const peers = pods.filter((_, index) => parts[index]?.kind === 'runs' || parts[index]?.kind === 'waits')
    await stopper.stopPeers(handle, peers, peersGraceMs)
  }

  /** Keeps the pods until the end of the run is stored, because they contain the cause. */
  async #giveUp(together: Together, known: Surroundings): Promise<readonly Pod[]> {
    const { pods } = together
    const why = explainGiveUp(together, known)
    const isNoted = pods.some(({ metadata }) => metadata.annotations?.[annotations.givenUp] !== undefined)
    if (why === null || isNoted) return pods
    return this.#patchAll(pods, () => ({ metadata: { annotations: { [annotations.givenUp]: why } } }))
  }

  /** Lets the commands of the pods begin; `address` null: some pods do not run yet. */
  async #beginTogether(pods: readonly Pod[], address: string | null): Promise<readonly Pod[]> {
    if (address === null) return pods
    const upMs = Math.max(...pods.map(runsSinceMs))
    return this.#patchAll(pods, (pod) => {
      const isNoted = pod.metadata.annotations?.[annotations.begin] !== undefined
      return isNoted ? null : makeBeginPatch(pod, address, upMs)
    })
  }

  #patchAll(pods: readonly Pod[], makePatch: (pod: Pod) => unknown): Promise<readonly Pod[]> {
    return Promise.all(
      pods.map(async (pod) => {
        const patch = makePatch(pod)
        if (patch === null) return pod
        return (await this.#cluster.patch<Pod>(`pods/${pod.metadata.name}`, patch).catch(ignoreNotFound)) ?? pod
      }),
    )
  }

  async #readWithdrawn(handles: readonly Handle[]): Promise<ReadonlySet<Handle>> {
    const { items } = await this.#cluster.list<Secret>('secrets', { labelSelector: selectRuns(handles) })
    const isWithdrawn = ({ metadata }: Secret) => metadata.annotations?.[annotations.withdrawn] !== undefined
    return new Set(items.filter(isWithdrawn).map(({ metadata }) => metadata.name))
  }
}

const missing: Observation = { state: 'gone', info: 'The pod does not exist' }

function interpretAll(pods: readonly Pod[], known: Surroundings): Together {
  return { pods, parts: pods.map((pod) => interpretPod(pod, known)), replicas: countPods(pods) }
}

const observe = ({ pods, parts, replicas }: Together): Observation =>
  observeRun(parts, { pods, replicas, nativeId: pods.map(({ metadata }) => metadata.name).join(' ') })

/** Returns the output state of a replica. A command that waits for a lost pod never begins. */
function findOutputState(together: Together, replica: number): OutputState {
  const { pods, parts } = together
  const index = pods.findIndex((pod) => getReplica(pod) === replica)
  const [pod, kind] = [pods[index], parts[index]?.kind]
  if (!pod) return 'GONE'
  if (kind === 'failed' || kind === 'alone' || (kind === 'waits' && isOver(observe(together)))) return 'NONE'
  const { terminated, running } = getContainerState(pod) ?? {}
  if (kind === 'over') return (terminated ?? running) ? 'OVER' : 'GONE'
  if (kind === 'gone') return terminated ? 'OVER' : 'GONE'
  const runs = kind === 'runs' || (kind === 'unreachable' && running !== undefined)
  return runs && hasBegunTogether(together) ? 'GOES_ON' : 'WAITS'
}

const runsSinceMs = (pod: Pod) => Date.parse(getContainerState(pod)?.running?.startedAt ?? '')

/**
 * Extends the deadline by the time for which the first pods waited for the last. Every server computes the same value,
 * because it can be set only once.
 */
function makeBeginPatch({ metadata, status }: Pod, address: string, upMs: number): unknown {
  const seconds = metadata.annotations?.[annotations.deadline]
  const waitedMs = Math.max(0, upMs - Date.parse(status.startTime ?? ''))
  return {
    metadata: { annotations: { [annotations.begin]: address } },
    ...(seconds !== undefined && { spec: { activeDeadlineSeconds: Number(seconds) + Math.ceil(waitedMs / 1000) } }),
  }
}

/** Event reasons that are not shown for a waiting pod: successes, and repetitions that the pod has no node. */
const ofWaiting = ['Scheduled', 'FailedScheduling', 'Pulled', 'Created', 'Started', 'Killing']
  .map((reason) => `reason!=${reason}`)
  .join()

async function readNotices(cluster: ClusterApi): Promise<ReadonlyMap<string, string>> {
  const { items } = await cluster.list<Notice>('events', { fieldSelector: `involvedObject.kind=Pod,${ofWaiting}` })
  const inOrder = items.toSorted((a, b) => getMoment(a).localeCompare(getMoment(b)))
  return new Map(
    inOrder.map(({ involvedObject, reason = '', message = reason }) => [involvedObject.uid ?? '', message]),
  )
}

const getMoment = ({ lastTimestamp, eventTime }: Notice) => lastTimestamp ?? eventTime ?? ''

/** Caches a value for `freshMs`; concurrent callers share one read. */
function cached<T>(clock: Clock, freshMs: number, read: () => Promise<T>): () => Promise<T> {
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
