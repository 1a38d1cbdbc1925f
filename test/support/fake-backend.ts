import { EventEmitter, on, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Domain } from '../../src/domain/domain.ts'
import { countCopies } from '../../src/domain/spec.ts'
import type {
  BackendNode,
  Executor,
  ExecutorDescription,
  Handle,
  LogChunk,
  LogPosition,
  Observation,
  RunSpec,
} from '../../src/executors/executor.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { bindVerbs } from './executor-verbs.ts'

interface GivenRun {
  run: RunSpec
  handle: Handle | null
  /** The node of each copy; empty: the run waits. */
  nodes: readonly string[]
  isPreempted: boolean
  isStopped: boolean
}

export const backendNode = (name: string, more: Partial<BackendNode> = {}): BackendNode => ({
  name,
  state: 'READY',
  cpuMillis: 4_000,
  memoryBytes: 8 * 1024 ** 3,
  cpuModel: 'EPYC',
  infiniband: false,
  gpuJobsOnly: false,
  gpus: [],
  heldByOthers: { cpuMillis: 0, memoryBytes: 0, gpus: 0 },
  ...more,
})

/** A simulated executor in a temporary directory, which `close` removes. */
export async function openSimulated({ time, log }: Pick<Domain, 'time' | 'log'>): Promise<Executor> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-simulated-'))
  const inner = await createSimulatedExecutor({ dataDir, clock: systemClock, time, log })
  const close = async () => {
    await inner.close()
    await rm(dataDir, { recursive: true })
  }
  return { ...bindVerbs(inner), close }
}

/** Creates a backend over a simulated executor. */
export const openFakeBackend = async (domain: Pick<Domain, 'time' | 'log'>, names: string[]) =>
  new FakeBackend(
    await openSimulated(domain),
    names.map((name) => backendNode(name)),
  )

const toHandle = (runId: string): Handle => `fake ${runId}`
const parseRunId = (handle: Handle) => handle.slice('fake '.length)

/**
 * A backend that chooses nodes itself, over an executor that starts the runs (the simulated one). It queues runs that
 * do not fit, and reports the nodes of the others. The test sets the amounts used outside Berth.
 */
export class FakeBackend implements Executor {
  readonly name: string
  nodes: BackendNode[]
  /** false: the backend is unreachable. */
  answers = true
  /** Why runs wait; null: the backend does not report it. */
  why: string | null = 'Resources'
  readonly #given = new Map<string, GivenRun>()
  readonly #changes = new EventEmitter()
  readonly #inner: Executor

  constructor(inner: Executor, nodes: BackendNode[]) {
    this.#inner = inner
    this.name = inner.name
    this.nodes = nodes
  }

  /** Started runs, including waiting ones. */
  get given(): ReadonlyMap<string, GivenRun> {
    return this.#given
  }

  async start(run: RunSpec, _unwanted?: AbortSignal, _tell?: (info: string) => void): Promise<Handle> {
    this.#demandAnswer()
    if (!this.#given.has(run.runId))
      this.#given.set(run.runId, { run, handle: null, nodes: [], isPreempted: false, isStopped: false })
    return toHandle(run.runId)
  }

  async find(runId: string): Promise<Handle | null> {
    return this.#given.has(runId) ? toHandle(runId) : null
  }

  async inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    this.#demandAnswer()
    return Promise.all(handles.map((handle) => this.#observe(parseRunId(handle))))
  }

  async *logs(handle: Handle, from: LogPosition | null, signal: AbortSignal): AsyncIterable<LogChunk> {
    const one = this.#given.get(parseRunId(handle))
    while (one?.handle === null && !one.isStopped && !one.isPreempted && !signal.aborted)
      await once(this.#changes, 'changed', { signal }).catch(() => {})
    if (one?.handle != null && !one.isPreempted) yield* this.#inner.logs(one.handle, from, signal)
  }

  async stop(handle: Handle, graceMs: number): Promise<void> {
    const one = this.#given.get(parseRunId(handle))
    if (!one) return
    one.isStopped = true
    if (one.handle !== null) await this.#inner.stop(one.handle, graceMs)
    this.#changes.emit('changed', handle)
  }

  async *watch(signal: AbortSignal): AsyncIterable<Handle> {
    for await (const [handle] of on(this.#changes, 'changed', { signal })) yield handle as Handle
  }

  async forget(handle: Handle): Promise<void> {
    this.#given.delete(parseRunId(handle))
  }

  async list(): Promise<readonly { runId: string; handle: Handle }[]> {
    return [...this.#given.keys()].map((runId) => ({ runId, handle: toHandle(runId) }))
  }

  async capacity(): Promise<readonly BackendNode[]> {
    this.#demandAnswer()
    return this.nodes
  }

  describe(): Promise<ExecutorDescription> {
    return this.#inner.describe()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** Places waiting runs in the order of their starts. */
  async place(): Promise<void> {
    for (const one of this.#given.values()) {
      const chosen = one.handle === null && !one.isStopped ? this.#chooseNodes(one.run) : []
      if (chosen.length === 0) continue
      one.nodes = chosen
      one.handle = await this.#inner.start(one.run)
      this.#changes.emit('changed', toHandle(one.run.runId))
    }
  }

  /** Ends the run in favour of another job. */
  async preempt(runId: string): Promise<void> {
    const one = this.#given.get(runId)
    if (one) one.isPreempted = true
    if (one?.handle != null) await this.#inner.stop(one.handle, 0)
    this.#changes.emit('changed', toHandle(runId))
  }

  #demandAnswer(): void {
    if (!this.answers) throw new Error('The backend is away')
  }

  /** Chooses a node for each copy, the last node first, unlike Berth. Empty: the run does not fit. */
  #chooseNodes({ spec: { resources } }: RunSpec): readonly string[] {
    const isFree = ({ name, state, cpuMillis, heldByOthers }: BackendNode) =>
      state === 'READY' &&
      (resources.exclusiveNodeUse ? this.#usedOn(name) === 0 : true) &&
      this.#usedOn(name) + heldByOthers.cpuMillis + resources.cpu * 1_000 <= cpuMillis
    const free = this.nodes.filter(isFree).map(({ name }) => name)
    const copies = countCopies(resources)
    return free.length < copies ? [] : free.slice(-copies).toReversed()
  }

  #usedOn(name: string): number {
    return [...this.#given.values()]
      .filter(({ isPreempted }) => !isPreempted)
      .flatMap(({ run, nodes: chosen }) => chosen.filter((each) => each === name).map(() => run.spec.resources))
      .reduce((sum, { cpu, exclusiveNodeUse }) => sum + (exclusiveNodeUse ? Number.POSITIVE_INFINITY : cpu * 1_000), 0)
  }

  async #observe(runId: string): Promise<Observation> {
    const one = this.#given.get(runId)
    const nativeId = `native ${runId}`
    if (!one) return { state: 'gone' }
    if (one.isPreempted) return { state: 'gone', cause: 'PREEMPTED' }
    if (one.handle === null && one.isStopped) return { state: 'ended', exitCode: 143, signal: 15, stopped: true }
    if (one.handle === null)
      return this.why === null ? { state: 'starting' } : { state: 'starting', nativeId, info: this.why }
    const [now] = await this.#inner.inspect([one.handle])
    if (now?.state === 'ended') one.nodes = []
    const placements = one.nodes.map((node) => ({ node, gpuIds: [5] }))
    if (now?.state === 'running') return { ...now, nativeId, ip: '10.0.0.7', placements }
    return now ?? { state: 'gone' }
  }
}
