import { EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutorOptions } from '../backend/executor-options.ts'
import { nullIfMissing } from '../backend/file-errors.ts'
import {
  type Executor,
  type ExecutorDescription,
  type Handle,
  type LogChunk,
  type Observation,
  type RunSpec,
  type Sample,
  type SampledRun,
  StartFailed,
} from '../executor.ts'
import { Agenda } from './agenda.ts'
import { computeEnd, createPlan, findNextChange, observePlan, type Plan, parseHandle } from './plan.ts'
import { RunStore } from './run-store.ts'

/**
 * Simulated runs that only take time, as set by their environment variables (SIM_RUN_SECONDS, …). The handle contains
 * the whole plan of the run, in database time, so a server may restart, and several servers may share a directory.
 *
 * Nodes that are listed in `<dataDir>/sim-silent`, one per line, are unreachable: starts and stops on them fail, and
 * output is held back; the runs continue.
 */

export interface SimulatedOptions extends Pick<ExecutorOptions, 'clock' | 'time' | 'log'> {
  dataDir: string
}

/**
 * Interval at which a reader of output checks whether the node is unreachable, or another server has stopped the run.
 */
const pollMs = 5_000

export async function createSimulatedExecutor(options: SimulatedOptions): Promise<Executor> {
  const store = new RunStore(options.dataDir)
  await store.open()
  return new SimulatedExecutor(options, store)
}

class SimulatedExecutor implements Executor {
  readonly name = 'simulated'
  readonly #options: SimulatedOptions
  readonly #store: RunStore
  readonly #agenda: Agenda
  readonly #closing = new AbortController()
  readonly #stops = new EventEmitter().setMaxListeners(0)

  constructor(options: SimulatedOptions, store: RunStore) {
    this.#options = options
    this.#store = store
    this.#agenda = new Agenda(options.clock, options.time)
  }

  async start(run: RunSpec): Promise<Handle> {
    const draft = createPlan(run, this.#options.time.nowMs())
    if ((await this.#isSilent(draft)) && !(await this.#store.has(run.runId)))
      throw new StartFailed('NODE_TROUBLE', `Node ${draft.node} is unreachable`)
    const handle = await this.#store.claim(run.runId, JSON.stringify(draft))
    await this.#schedule(handle, parseHandle(handle) ?? draft)
    this.#options.log.debug({ plan: handle }, 'a simulated run was started, or found')
    return handle
  }

  find(runId: string): Promise<Handle | null> {
    return this.#store.find(runId)
  }

  async inspect(handles: readonly Handle[]): Promise<Observation[]> {
    const [silent, isStopped] = await Promise.all([this.#readSilentNodes(), this.#store.readStopped()])
    const now = this.#options.time.nowMs()
    return Promise.all(
      handles.map(async (handle): Promise<Observation> => {
        const plan = parseHandle(handle)
        if (!plan || !(await this.#store.has(plan.runId))) return { state: 'gone' }
        if (plan.node !== null && silent.has(plan.node))
          return { state: 'unreachable', info: `Node ${plan.node} is unreachable` }
        const stops = isStopped(plan.runId) ? await this.#store.readStops(plan.runId) : []
        const next = findNextChange(plan, stops, now)
        if (next !== null) this.#agenda.set(handle, next)
        return observePlan(plan, stops, now)
      }),
    )
  }

  async *logs(handle: Handle, from: unknown, signal: AbortSignal): AsyncGenerator<LogChunk> {
    const plan = parseHandle(handle)
    if (plan && (await this.#store.has(plan.runId)))
      yield* this.#print(
        plan,
        (from as OutputPosition | null) ?? { line: 0 },
        AbortSignal.any([signal, this.#closing.signal]),
      )
  }

  async stop(handle: Handle, graceMs: number): Promise<void> {
    const plan = parseHandle(handle)
    if (!plan || !(await this.#store.has(plan.runId))) return
    if (await this.#isSilent(plan)) throw new Error(`Node ${plan.node} is unreachable`)
    const now = this.#options.time.nowMs()
    if (computeEnd(plan, await this.#store.readStops(plan.runId)).at <= now) return
    await this.#store.addStop(plan.runId, { at: now, graceMs: Math.max(0, graceMs) })
    this.#stops.emit(plan.runId)
    await this.#schedule(handle, plan)
  }

  watch(signal: AbortSignal): AsyncGenerator<Handle> {
    return this.#agenda.handles(AbortSignal.any([signal, this.#closing.signal]))
  }

  async forget(handle: Handle): Promise<void> {
    const plan = parseHandle(handle)
    this.#agenda.delete(handle)
    if (plan) await this.#store.forget(plan.runId)
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    return (await this.#store.list()).flatMap((handle) => {
      const plan = parseHandle(handle)
      return plan ? { runId: plan.runId, handle } : []
    })
  }

  async sample(runs: readonly SampledRun[]): Promise<Sample[]> {
    return runs.map(() => ({ cpuSeconds: 0, memoryBytes: 0 }))
  }

  async silent(nodes: readonly string[]): Promise<string[]> {
    const silent = await this.#readSilentNodes()
    return nodes.filter((node) => silent.has(node))
  }

  async describe(): Promise<ExecutorDescription> {
    return { version: null, available: true, message: 'Runs take time and do nothing' }
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }

  async #readSilentNodes(): Promise<ReadonlySet<string>> {
    const text = await nullIfMissing(readFile(join(this.#options.dataDir, 'sim-silent'), 'utf8'))
    return new Set(text?.split('\n').map((line) => line.trim()))
  }

  async #isSilent({ node }: Plan): Promise<boolean> {
    return node !== null && (await this.#readSilentNodes()).has(node)
  }

  async #schedule(handle: Handle, plan: Plan): Promise<void> {
    const now = this.#options.time.nowMs()
    this.#agenda.set(handle, findNextChange(plan, await this.#store.readStops(plan.runId), now) ?? now)
  }

  async *#print(plan: Plan, from: OutputPosition, signal: AbortSignal): AsyncGenerator<LogChunk> {
    let position = from
    while (!signal.aborted) {
      const { prints, isOver, changesAt } = await this.#readOutlook(plan)
      if (prints) {
        yield* printLines(plan.lines, position, signal)
        position = { line: plan.lines }
      }
      if (isOver) return
      await this.#sleepUntil(changesAt, plan.runId, signal)
    }
  }

  /** Sleeps until a time. A stop by this process ends the sleep early; the next poll finds stops by other processes. */
  async #sleepUntil(at: number, runId: string, signal: AbortSignal): Promise<void> {
    const stopped = new AbortController()
    const wake = () => stopped.abort()
    this.#stops.once(runId, wake)
    const ms = Math.min(pollMs, Math.max(1, at - this.#options.time.nowMs()))
    await this.#options.clock.sleep(ms, AbortSignal.any([signal, stopped.signal]))
    this.#stops.off(runId, wake)
  }

  /** Returns whether output can be read now, and when to check again. */
  async #readOutlook(plan: Plan): Promise<{ prints: boolean; isOver: boolean; changesAt: number }> {
    const [isSilent, stops] = await Promise.all([this.#isSilent(plan), this.#store.readStops(plan.runId)])
    const now = this.#options.time.nowMs()
    if (isSilent) return { prints: false, isOver: false, changesAt: now + pollMs }
    const { at } = computeEnd(plan, stops)
    const hasBegun = plan.runsAt <= Math.min(now, at)
    return { prints: hasBegun, isOver: at <= now, changesAt: findNextChange(plan, stops, now) ?? now }
  }
}

const chunkBytesMax = 65_536

/** The number of the last line that was read. All lines exist from the beginning of the run. */
interface OutputPosition {
  line: number
}

function* printLines(lines: number, from: OutputPosition, signal: AbortSignal): Generator<LogChunk> {
  let { line } = from
  while (line < lines && !signal.aborted) {
    let text = ''
    while (line < lines && text.length < chunkBytesMax - lineBytesMax) {
      line += 1
      text += `line ${line}\n`
    }
    yield { stream: 'STDOUT', bytes: Buffer.from(text, 'latin1'), next: { line } }
  }
}

const lineBytesMax = 32
