import { createHash } from 'node:crypto'
import { createDescriber } from '../backend/description.ts'
import { optionDefaults } from '../backend/executor-options.ts'
import type {
  BackendNode,
  Executor,
  ExecutorDescription,
  Handle,
  LogChunk,
  Observation,
  Sample,
  SampledRun,
} from '../executor.ts'
import { listNodes } from './capacity.ts'
import { ClusterApi, versionPath } from './cluster.ts'
import { connectToPod, execInPod } from './exec.ts'
import { Inspector } from './inspect.ts'
import { includeRemovedPods, type Positions, readLogs } from './logs.ts'
import { isPodHandle, podLabels } from './names.ts'
import type { Node, Pod, Secret } from './objects.ts'
import { samplePods } from './samples.ts'
import { type KubernetesOptions, PodStarter } from './start.ts'
import { PodStopper, removeObjects } from './stop.ts'
import { watchPods } from './watch.ts'

/**
 * Runs as pods of a Kubernetes cluster. The names of all objects of a run follow from its id. While the API server is
 * unreachable, runs keep their state.
 */

const ownerLength = 16

export class KubernetesExecutor implements Executor {
  readonly name = 'kubernetes'
  readonly #options: KubernetesOptions
  readonly #cluster: ClusterApi
  readonly #describeCluster: () => Promise<ExecutorDescription>
  readonly #owner: string
  readonly #starter: PodStarter
  readonly #stopper: PodStopper
  readonly #inspector: Inspector
  readonly #closing = new AbortController()

  constructor(options: KubernetesOptions) {
    const { installation, clock, time, log } = options
    const cluster = new ClusterApi(options, { clock, time })
    const stopper = new PodStopper(cluster, time)
    this.#options = options
    this.#cluster = cluster
    this.#describeCluster = createDescriber({
      clock,
      name: 'Cluster',
      address: cluster.address,
      async read() {
        const { gitVersion } = await cluster.get<{ gitVersion: string }>(versionPath)
        return { version: gitVersion.replace(/^v/, ''), available: true, message: null }
      },
    })
    this.#owner = createHash('sha256').update(installation).digest('hex').slice(0, ownerLength)
    this.#stopper = stopper
    this.#inspector = new Inspector({ cluster, stopper, clock, time, log })
    const own = { cluster, owner: this.#owner, closing: this.#closing.signal }
    this.#starter = new PodStarter({ ...optionDefaults, ...options, ...own })
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
    const signal = AbortSignal.any([given, this.#closing.signal])
    const positions = (from as Positions | null) ?? { pods: {} }
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
    const either = AbortSignal.any([signal, this.#closing.signal])
    return watchPods({ cluster: this.#cluster, clock, log, signal: either })
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

  async sample(runs: readonly SampledRun[]): Promise<Sample[]> {
    const handles = runs.map(({ handle }) => handle)
    const samples = await samplePods(this.#cluster, handles.filter(isPodHandle))
    return handles.map((handle) => samples.get(handle) ?? {})
  }

  exec: NonNullable<Executor['exec']> = (handle, order) => execInPod(handle, order, this.#cluster)

  connect: NonNullable<Executor['connect']> = (handle, port) => connectToPod(handle, port, this.#cluster)

  async describe(): Promise<ExecutorDescription> {
    return { ...(await this.#describeCluster()), displays: this.#options.x11Image !== undefined }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#cluster.close()
  }

  async #hadOutput(handle: Handle): Promise<boolean> {
    const [seen] = await this.#inspector.inspect([handle])
    if (!isPodHandle(handle) || seen === undefined) return false
    return seen.state === 'ended' ? seen.startedAt !== undefined : seen.state !== 'starting' && seen.state !== 'failed'
  }
}
