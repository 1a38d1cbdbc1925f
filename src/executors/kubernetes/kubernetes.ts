import { createHash } from 'node:crypto'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, oneUser } from '../accounts/account.ts'
import { describeBackend } from '../backend/description.ts'
import { pickVariables } from '../backend/inherited-variables.ts'
import type { BackendNode, Executor, ExecutorDescription, Handle, LogChunk, Observation } from '../executor.ts'
import { listNodes } from './capacity.ts'
import { ClusterApi, versionPath } from './cluster.ts'
import { Inspector } from './inspect.ts'
import type { AccessOptions } from './kubeconfig.ts'
import { includeRemovedPods, parsePositions, readLogs } from './logs.ts'
import { isPodHandle, podLabels } from './names.ts'
import type { Node, Pod, Secret } from './objects.ts'
import { PodStarter } from './start.ts'
import { PodStopper, removeObjects } from './stop.ts'
import { watchPods } from './watch.ts'

/**
 * Runs as pods of a Kubernetes cluster. A pod outlives the server; the names of all objects of a run follow from its id.
 * start.ts makes them once, inspect.ts, pod-state.ts and observation.ts interpret them, stop.ts ends them through the
 * supervisor in the pod (supervise.sh), logs.ts and output.ts read their output.
 *
 * While the API server is unreachable, runs keep their state, and every verb is retried.
 */

export interface KubernetesOptions extends AccessOptions {
  /** Image of jobs that name none. */
  image: string
  /** Image of X11 displays; undefined: jobs cannot have displays. */
  x11Image?: string | undefined
  imagePullSecrets?: readonly string[]
  /** Distinguishes the objects of this installation and pool from others in the namespace. */
  installation: string
  /** Variables of the server that jobs get if their image does not set them. */
  inheritNames?: readonly string[]
  /** Folders that jobs may mount from, by name; the same on the server and on every node. */
  dataRoots: Readonly<Record<string, string>>
  accounts?: AccountRules
  clock: Clock
  time: Time
  log: Log
}

const ownerLength = 16

export async function createKubernetesExecutor(options: KubernetesOptions): Promise<Executor> {
  return new KubernetesExecutor(options)
}

class KubernetesExecutor implements Executor {
  readonly name = 'kubernetes'
  readonly #options: KubernetesOptions
  readonly #cluster: ClusterApi
  readonly #owner: string
  readonly #starter: PodStarter
  readonly #stopper: PodStopper
  readonly #inspector: Inspector
  readonly #closing = new AbortController()

  constructor(options: KubernetesOptions) {
    const { clock, time, log, environment, inheritNames = [], accounts = oneUser } = options
    const cluster = new ClusterApi(options, { clock, time })
    const stopper = new PodStopper(cluster, time)
    this.#options = options
    this.#cluster = cluster
    this.#owner = createHash('sha256').update(options.installation).digest('hex').slice(0, ownerLength)
    this.#stopper = stopper
    this.#inspector = new Inspector({ cluster, stopper, clock, time, log })
    this.#starter = new PodStarter({
      cluster,
      owner: this.#owner,
      image: options.image,
      x11Image: options.x11Image,
      imagePullSecrets: options.imagePullSecrets ?? [],
      data: { roots: options.dataRoots, hasUsers: accounts.hasUsers },
      passed: pickVariables(environment, inheritNames),
      clock,
      time,
      closing: this.#closing.signal,
    })
  }

  start: Executor['start'] = (run, unwanted, tell) => this.#starter.start(run, unwanted, tell)

  find(runId: string): Promise<Handle | null> {
    return this.#starter.find(runId)
  }

  inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    return this.#inspector.inspect(handles)
  }

  async *logs(handle: Handle, from: unknown, given: AbortSignal): AsyncGenerator<LogChunk> {
    const { clock, log } = this.#options
    const inspector = this.#inspector
    const signal = this.#orClosing(given)
    const positions = parsePositions(from)
    const pods = await inspector.listPods(handle, signal)
    if (pods.length === 0 && from === null && (await this.#hadOutput(handle))) {
      if (!signal.aborted) yield { gap: 'LOST', bytes: 0, next: positions }
      return
    }
    yield* readLogs(includeRemovedPods(pods, positions, handle), positions, {
      cluster: this.#cluster,
      clock,
      log,
      signal,
      readState: (replica) => inspector.readOutputState(handle, replica),
      isOver: () => inspector.isOver(handle),
    })
  }

  stop(handle: Handle, graceMs: number): Promise<void> {
    return this.#stopper.stop(handle, graceMs)
  }

  watch(signal: AbortSignal): AsyncGenerator<Handle> {
    const { clock, log } = this.#options
    return watchPods({ cluster: this.#cluster, clock, log, signal: this.#orClosing(signal) })
  }

  async forget(handle: Handle): Promise<void> {
    if (isPodHandle(handle)) await removeObjects(this.#cluster, handle)
    this.#inspector.forget(handle)
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    const labelSelector = `${podLabels.owner}=${this.#owner}`
    const { items } = await this.#cluster.list<Secret>('secrets', { labelSelector })
    return items.flatMap(({ metadata: { name: handle, labels } }) => {
      const runId = labels?.[podLabels.run]
      return runId === undefined ? [] : [{ runId, handle }]
    })
  }

  async capacity(): Promise<readonly BackendNode[]> {
    const [nodes, pods] = await Promise.all([
      this.#cluster.list<Node>('/api/v1/nodes'),
      this.#cluster.list<Pod>('/api/v1/pods', { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }),
    ])
    return listNodes(nodes.items, pods.items, this.#owner)
  }

  async describe(): Promise<ExecutorDescription> {
    const { clock, x11Image } = this.#options
    const cluster = this.#cluster
    const described = await describeBackend({
      clock,
      name: 'Cluster',
      address: cluster.address,
      async read() {
        const { gitVersion } = await cluster.get<{ gitVersion: string }>(versionPath)
        return { version: gitVersion.replace(/^v/, ''), available: true, message: null }
      },
    })
    return { ...described, displays: x11Image !== undefined }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#cluster.close()
  }

  #orClosing(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal])
  }

  /** Whether a run without pods had output. */
  async #hadOutput(handle: Handle): Promise<boolean> {
    const [seen] = await this.#inspector.inspect([handle])
    if (!isPodHandle(handle) || seen === undefined) return false
    return seen.state === 'ended' ? seen.startedAt !== undefined : seen.state !== 'starting' && seen.state !== 'failed'
  }
}
