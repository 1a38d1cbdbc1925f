import { EventEmitter, on, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Domain } from '../../src/domain/domain.ts'
import { copiesOf } from '../../src/domain/spec.ts'
import type { BackendNode, Executor, Handle, Observation, RunSpec } from '../../src/executors/executor.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { bindVerbs } from './executor-verbs.ts'

/**
 * A backend that chooses nodes itself, over an executor that runs things (the simulated one): it has nodes of its own,
 * keeps runs waiting that fit nowhere, and reports where it put the others. What others hold is set by the test.
 */
export interface FakeBackend extends Executor {
  nodes: BackendNode[]
  /** false: it does not answer. */
  answers: boolean
  /** Why runs wait; null: it tells nothing of them. */
  why: string | null
  /** Runs that it was given, waiting ones too. */
  readonly given: ReadonlyMap<string, GivenRun>
  /** Puts waiting runs on nodes, in the order in which they came; the inner executor starts them. */
  place(): Promise<void>
  /** Takes the run away for another job. */
  preempt(runId: string): Promise<void>
}

interface GivenRun {
  run: RunSpec
  handle: Handle | null
  /** Of each copy; none: it waits. */
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

/** Over a simulated executor with a directory of its own, which goes with it. */
export async function openFakeBackend({ time, log }: Pick<Domain, 'time' | 'log'>, names: string[]) {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-fake-backend-'))
  const inner = await createSimulatedExecutor({ dataDir, clock: systemClock, time, log })
  const nodes = names.map((name) => backendNode(name))
  return createFakeBackend(
    {
      ...bindVerbs(inner),
      async close() {
        await inner.close()
        await rm(dataDir, { recursive: true })
      },
    },
    nodes,
  )
}

function createFakeBackend(inner: Executor, nodes: BackendNode[]): FakeBackend {
  const given = new Map<string, GivenRun>()
  const changes = new EventEmitter()
  const usedOn = (name: string) =>
    [...given.values()]
      .filter(({ isPreempted }) => !isPreempted)
      .flatMap(({ run, nodes: chosen }) => chosen.filter((each) => each === name).map(() => run.spec.resources))
      .reduce((sum, { cpu, exclusiveNodeUse }) => sum + (exclusiveNodeUse ? Number.POSITIVE_INFINITY : cpu * 1_000), 0)
  /** A node for each copy, the last node first: never the one that Berth would take. None: there is no room for all. */
  function nodesFor({ spec: { resources } }: RunSpec): readonly string[] {
    const isFree = ({ name, state, cpuMillis, heldByOthers }: BackendNode) =>
      state === 'READY' &&
      (resources.exclusiveNodeUse ? usedOn(name) === 0 : true) &&
      usedOn(name) + heldByOthers.cpuMillis + resources.cpu * 1_000 <= cpuMillis
    const free = fake.nodes.filter(isFree).map(({ name }) => name)
    const copies = copiesOf(resources)
    return free.length < copies ? [] : free.slice(-copies).toReversed()
  }
  const demandAnswer = () => {
    if (!fake.answers) throw new Error('The backend is away')
  }

  const waiting = (runId: string): Observation =>
    fake.why === null ? { state: 'starting' } : { state: 'starting', nativeId: `native ${runId}`, info: fake.why }

  async function observe(handle: Handle): Promise<Observation> {
    const runId = handle.slice('fake '.length)
    const one = given.get(runId)
    if (!one) return { state: 'gone' }
    if (one.isPreempted) return { state: 'gone', cause: 'PREEMPTED' }
    if (one.handle === null && one.isStopped) return { state: 'ended', exitCode: 143, signal: 15, stopped: true }
    if (one.handle === null) return waiting(runId)
    const [now] = await inner.inspect([one.handle])
    if (now?.state === 'ended') one.nodes = []
    const placements = one.nodes.map((node) => ({ node, gpuIds: [5] }))
    if (now?.state === 'running') return { ...now, nativeId: `native ${runId}`, ip: '10.0.0.7', placements }
    return now ?? { state: 'gone' }
  }

  const fake: FakeBackend = {
    ...bindVerbs(inner),
    nodes,
    answers: true,
    why: 'Resources',
    given,
    async start(run) {
      demandAnswer()
      if (!given.has(run.runId))
        given.set(run.runId, { run, handle: null, nodes: [], isPreempted: false, isStopped: false })
      return `fake ${run.runId}`
    },
    find: async (runId) => (given.has(runId) ? `fake ${runId}` : null),
    async inspect(handles) {
      demandAnswer()
      return Promise.all(handles.map(observe))
    },
    async *logs(handle, from, signal) {
      const one = given.get(handle.slice('fake '.length))
      while (one?.handle === null && !one.isStopped && !one.isPreempted && !signal.aborted)
        await once(changes, 'changed', { signal }).catch(() => {})
      if (one?.handle != null && !one.isPreempted) yield* inner.logs(one.handle, from, signal)
    },
    async stop(handle, graceMs) {
      const one = given.get(handle.slice('fake '.length))
      if (!one) return
      one.isStopped = true
      if (one.handle !== null) await inner.stop(one.handle, graceMs)
      changes.emit('changed', handle)
    },
    async *watch(signal) {
      for await (const [handle] of on(changes, 'changed', { signal })) yield handle as Handle
    },
    async forget(handle) {
      given.delete(handle.slice('fake '.length))
    },
    list: async () => [...given.keys()].map((runId) => ({ runId, handle: `fake ${runId}` })),
    async capacity() {
      demandAnswer()
      return fake.nodes
    },
    async place() {
      for (const one of given.values()) {
        const chosen = one.handle === null && !one.isStopped ? nodesFor(one.run) : []
        if (chosen.length === 0) continue
        one.nodes = chosen
        one.handle = await inner.start(one.run)
        changes.emit('changed', `fake ${one.run.runId}`)
      }
    },
    async preempt(runId) {
      const one = given.get(runId)
      if (one) one.isPreempted = true
      if (one?.handle != null) await inner.stop(one.handle, 0)
      changes.emit('changed', `fake ${runId}`)
    },
  }
  delete fake.silent
  return fake
}
