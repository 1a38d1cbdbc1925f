import { Readable } from 'node:stream'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { isBackendError } from '../backend/unreachable.ts'
import {
  type Executor,
  type ExecutorDescription,
  type Handle,
  type Limit,
  type MachineDescription,
  type Observation,
  type Sample,
  type SampledRun,
  StartFailed,
} from '../executor.ts'

/**
 * One executor over several machines, each with a container engine and an executor of its own. A handle is the name of
 * the node, a slash, and the handle of the machine's executor. A machine that does not answer delays no other.
 */

const answerMsMax = 5_000

export type MachineExecutor = Required<Omit<Executor, 'capacity' | 'sweep'>>

interface MachinesOptions {
  /** Executors of the nodes of the configuration, by node name. */
  machines: ReadonlyMap<string, MachineExecutor>
  /** Nodes that were added at run time. */
  added?: {
    /** Addresses of engines, by node name. */
    read(): Promise<ReadonlyMap<string, string>>
    open(node: string, engine: string): Promise<MachineExecutor>
  }
  clock: Clock
  log: Log
}

export class MachinesExecutor implements Executor {
  readonly name = 'container'
  readonly #machines: Map<string, MachineExecutor>
  readonly #added: MachinesOptions['added']
  /** Engines of the nodes that were added at run time. */
  readonly #engines = new Map<string, string>()
  #updating: Promise<void> | null = null
  readonly #clock: Clock
  readonly #log: Log

  constructor({ machines, added, clock, log }: MachinesOptions) {
    this.#machines = new Map(machines)
    this.#added = added
    this.#clock = clock
    this.#log = log
  }

  async start(run: Parameters<Executor['start']>[0], unwanted?: AbortSignal, tell?: (info: string) => void) {
    const node = run.nodes[0] ?? ''
    if (!this.#machines.has(node)) await this.#update()
    const machine = this.#machines.get(node)
    if (!machine) throw new StartFailed('NODE_TROUBLE', withoutMachine(node))
    try {
      return toHandle(node, await machine.start(run, unwanted, (info) => tell?.(`${node}: ${info}`)))
    } catch (error) {
      if (!(error instanceof StartFailed)) throw error
      // Another machine may be able to start the run.
      const reason = error.reason === 'BACKEND_AWAY' ? 'NODE_TROUBLE' : error.reason
      throw new StartFailed(reason, `${node}: ${error.message}`, { cause: error.cause })
    }
  }

  /** If the nodes of the run are unknown, asks all machines. */
  async find(runId: string, nodes: readonly string[] = [...this.#machines.keys()]): Promise<Handle | null> {
    for (const node of nodes) {
      const handle = await this.#machines.get(node)?.find(runId)
      if (handle != null) return toHandle(node, handle)
    }
    return null
  }

  inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    return this.#eachMachine(
      handles.map((handle) => ({ handle })),
      (machine, own) => machine.inspect(own.map(({ handle }) => handle)),
      (info, { handle }): Observation => (isHandle(handle) ? { state: 'unreachable', info } : missing),
    )
  }

  async *logs(...[handle, from, signal]: Parameters<Executor['logs']>): ReturnType<Executor['logs']> {
    const machine = this.#machines.get(toNode(handle))
    if (machine) yield* machine.logs(toOwn(handle), from, signal)
    // The output may still be on a machine that the configuration names again later.
    else if (isHandle(handle)) await aborted(signal)
  }

  async stop(handle: Handle, graceMs: number): Promise<void> {
    if (isHandle(handle)) await this.#machineOf(handle).stop(toOwn(handle), graceMs)
  }

  async exec(...[handle, order]: Parameters<NonNullable<Executor['exec']>>) {
    return this.#machineOf(handle).exec(toOwn(handle), order)
  }

  async connect(...[handle, port]: Parameters<NonNullable<Executor['connect']>>) {
    return this.#machineOf(handle).connect(toOwn(handle), port)
  }

  async *outputs(...[handle, pick, signal]: Parameters<NonNullable<Executor['outputs']>>) {
    if (isHandle(handle)) yield* this.#machineOf(handle).outputs(toOwn(handle), pick, signal)
  }

  async forget(handle: Handle): Promise<void> {
    if (isHandle(handle)) await this.#machineOf(handle).forget(toOwn(handle))
  }

  async *watch(signal: AbortSignal): AsyncGenerator<Handle> {
    const changed = new Readable({ objectMode: true, read: () => undefined })
    const end = () => void changed.push(null)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    for (const [node, machine] of this.#machines) void this.#pass(node, machine, { changed, signal })
    yield* changed as AsyncIterable<Handle>
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    await this.#update()
    const listed = await this.#ask((machine) => machine.list())
    return [...listed].flatMap(([node, runs]) => runs.map((run) => ({ ...run, handle: toHandle(node, run.handle) })))
  }

  sample(runs: readonly SampledRun[]): Promise<readonly Sample[]> {
    return this.#eachMachine(
      runs,
      (machine, own) => machine.sample(own),
      (): Sample => ({}),
    )
  }

  async silent(nodes: readonly string[]): Promise<readonly string[]> {
    await this.#update()
    const silent = await this.#ask((machine, node) => machine.silent([node]))
    return nodes.filter((node) => silent.get(node)?.length !== 0)
  }

  async describe(): Promise<ExecutorDescription> {
    await this.#update()
    const described = await Promise.all(
      Array.from(this.#machines, async ([node, machine]) => ({ node, ...(await machine.describe()) })),
    )
    const versions = new Set(described.flatMap(({ version }) => version ?? []))
    const messages = described.flatMap(({ node, message }) => (message === null ? [] : [`${node}: ${message}`]))
    const machines = described.map(({ node, machine, message }): [string, MachineDescription] => [
      node,
      machine ?? { engine: null, latencyMs: null, silence: message, troubles: [] },
    ])
    const warnings = new Set(described.flatMap((each) => each.warnings ?? []))
    return {
      version: [...versions].join(', ') || null,
      available: described.some(({ available }) => available),
      message: messages.join('. ') || null,
      unenforced: [...new Set(described.flatMap((each): readonly Limit[] => each.unenforced ?? []))],
      displays: described.some(({ displays }) => displays),
      machines: Object.fromEntries(machines),
      ...(warnings.size > 0 && { warnings: [...warnings] }),
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#machines.values()].map((machine) => machine.close()))
  }

  /** Opens machines that were added, and closes those that were removed. */
  #update(): Promise<void> {
    this.#updating ??= this.#readAdded().finally(() => {
      this.#updating = null
    })
    return this.#updating
  }

  async #readAdded(): Promise<void> {
    const added = this.#added
    if (!added) return
    const engines = await added.read()
    for (const [node, engine] of this.#engines)
      if (engines.get(node) !== engine) {
        this.#engines.delete(node)
        await this.#machines.get(node)?.close()
        this.#machines.delete(node)
      }
    const open = async ([node, engine]: readonly [string, string]) => {
      if (this.#machines.has(node)) return
      this.#machines.set(node, await added.open(node, engine))
      this.#engines.set(node, engine)
    }
    await Promise.all([...engines].map(open))
  }

  #machineOf(handle: Handle): MachineExecutor {
    const node = toNode(handle)
    const machine = this.#machines.get(node)
    if (!machine) throw new Error(withoutMachine(node))
    return machine
  }

  /** Returns the responses that arrive in time. */
  async #ask<T>(ask: (machine: MachineExecutor, node: string) => Promise<T>): Promise<ReadonlyMap<string, T>> {
    const answers = new Map<string, T>()
    const asked = Array.from(this.#machines, async ([node, machine]) => {
      const answer = await this.#inTime(ask(machine, node))
      if ('value' in answer) answers.set(node, answer.value)
    })
    await Promise.all(asked)
    return answers
  }

  /** Asks each machine about its runs. If it does not respond in time, uses `otherwise`. */
  async #eachMachine<Item extends { handle: Handle }, T>(
    items: readonly Item[],
    ask: (machine: MachineExecutor, own: readonly Item[]) => Promise<readonly T[]>,
    otherwise: (why: string, item: Item) => T,
  ): Promise<readonly T[]> {
    const answers: T[] = []
    const placed = items.map((item, at) => ({ item, at }))
    const asked = [...Map.groupBy(placed, ({ item }) => toNode(item.handle))].map(async ([node, some]) => {
      const machine = this.#machines.get(node)
      const own = some.map(({ item }) => ({ ...item, handle: toOwn(item.handle) }))
      const answer = machine ? await this.#inTime(ask(machine, own)) : { why: withoutMachine(node) }
      for (const [index, { item, at }] of some.entries()) {
        const found = 'value' in answer ? answer.value[index] : undefined
        answers[at] = found ?? otherwise('why' in answer ? `${node}: ${answer.why}` : node, item)
      }
    })
    await Promise.all(asked)
    return answers
  }

  async #inTime<T>(work: Promise<T>): Promise<{ value: T } | { why: string }> {
    const done = new AbortController()
    const late = this.#clock
      .sleep(answerMsMax, done.signal)
      .then(() => ({ why: `no answer within ${answerMsMax / 1000} s` }))
    try {
      return await Promise.race([work.then((value) => ({ value })), late])
    } catch (error) {
      if (isBackendError(error)) return { why: error.message }
      throw error
    } finally {
      done.abort()
    }
  }

  async #pass(node: string, machine: MachineExecutor, to: { changed: Readable; signal: AbortSignal }): Promise<void> {
    try {
      for await (const handle of machine.watch(to.signal))
        if (!to.signal.aborted) to.changed.push(toHandle(node, handle))
    } catch (err) {
      this.#log.warn({ err, node }, 'the events of a machine are lost; its runs are inspected every few seconds')
    }
  }
}

const missing: Observation = { state: 'gone', info: 'The container does not exist' }
const isHandle = (handle: Handle): boolean => handle.includes('/')
const toHandle = (node: string, own: Handle): Handle => `${node}/${own}`
const toNode = (handle: Handle): string => handle.slice(0, Math.max(0, handle.indexOf('/')))
const toOwn = (handle: Handle): Handle => handle.slice(handle.indexOf('/') + 1)
const withoutMachine = (node: string) => `the configuration names no engine for the node ${node}`

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
