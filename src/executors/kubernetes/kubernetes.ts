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

function createParts(options: KubernetesOptions, closing: AbortSignal) {
  const { installation, clock, time, log } = options
  const cluster = new ClusterApi(options, { clock, time })
  const owner = createHash('sha256').update(installation).digest('hex').slice(0, ownerLength)
  const stopper = new PodStopper(cluster, time)
  return {
    ...options,
    cluster,
    owner,
    stopper,
    inspector: new Inspector({ cluster, stopper, clock, time, log }),
    starter: new PodStarter({ ...optionDefaults, ...options, cluster, owner, closing }),
    describe: createDescriber({
      clock,
      name: 'Cluster',
      address: cluster.address,
      async read() {
        const { gitVersion } = await cluster.get<{ gitVersion: string }>(versionPath)
        return { version: gitVersion.replace(/^v/, ''), available: true, message: null }
      },
    }),
  }
}

export class KubernetesExecutor implements Executor {
  readonly name = 'kubernetes'
  readonly #closing = new AbortController()
  readonly #parts: ReturnType<typeof createParts>

  constructor(options: KubernetesOptions) {
    this.#parts = createParts(options, this.#closing.signal)
  }

  start: Executor['start'] = (run, unwanted, tell) => this.#parts.starter.start(run, unwanted, tell)

  find(runId: string): Promise<Handle | null> {
    return this.#parts.starter.find(runId)
  }

  inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    return this.#parts.inspector.inspect(handles)
  }

  async *logs(handle: Handle, from: unknown, given: AbortSignal): AsyncGenerator<LogChunk> {
    const { cluster, inspector, clock, log } = this.#parts
    const signal = AbortSignal.any([given, this.#closing.signal])
    const positions = (from as Positions | null) ?? { pods: {} }
    const pods = await inspector.listPods(handle, signal)
    if (pods.length === 0 && from === null && (await this.#hadOutput(handle))) {
      if (!signal.aborted) yield { gap: 'LOST', bytes: 0, next: positions }
      return
    }
    yield* readLogs(includeRemovedPods(pods, positions, handle), positions, {
      cluster,
      clock,
      log,
      signal,
      readState: (replica) => inspector.readOutputState(handle, replica),
      isOver: () => inspector.isOver(handle),
    })
  }

  stop(handle: Handle, graceMs: number): Promise<void> {
    return this.#parts.stopper.stop(handle, graceMs)
  }

  watch(signal: AbortSignal): AsyncGenerator<Handle> {
    const { cluster, clock, log } = this.#parts
    return watchPods({ cluster, clock, log, signal: AbortSignal.any([signal, this.#closing.signal]) })
  }

  async forget(handle: Handle): Promise<void> {
    if (isPodHandle(handle)) await removeObjects(this.#parts.cluster, handle)
    this.#parts.inspector.forget(handle)
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    const { cluster, owner } = this.#parts
    const { items } = await cluster.list<Secret>('secrets', { labelSelector: `${podLabels.owner}=${owner}` })
    return items.flatMap(({ metadata: { name: handle, labels } }) => {
      const runId = labels?.[podLabels.run]
      return runId === undefined ? [] : [{ runId, handle }]
    })
  }

  async capacity(): Promise<readonly BackendNode[]> {
    const { cluster, owner } = this.#parts
    const [nodes, pods] = await Promise.all([
      cluster.list<Node>('/api/v1/nodes'),
      cluster.list<Pod>('/api/v1/pods', { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }),
    ])
    return listNodes(nodes.items, pods.items, owner)
  }

  async sample(runs: readonly SampledRun[]): Promise<Sample[]> {
    const handles = runs.map(({ handle }) => handle)
    const samples = await samplePods(this.#parts.cluster, handles.filter(isPodHandle))
    return handles.map((handle) => samples.get(handle) ?? {})
  }

  exec: NonNullable<Executor['exec']> = (handle, order) => execInPod(handle, order, this.#parts.cluster)

  connect: NonNullable<Executor['connect']> = (handle, port) => connectToPod(handle, port, this.#parts.cluster)

  async describe(): Promise<ExecutorDescription> {
    return { ...(await this.#parts.describe()), displays: this.#parts.x11Image !== undefined }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#parts.cluster.close()
  }

  async #hadOutput(handle: Handle): Promise<boolean> {
    const [seen] = await this.#parts.inspector.inspect([handle])
    if (!isPodHandle(handle) || seen === undefined) return false
    return seen.state === 'ended' ? seen.startedAt !== undefined : seen.state !== 'starting' && seen.state !== 'failed'
  }
}
