import { EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import { type Executor, type Handle, type Observation, StartFailed } from '../executor.ts'
import { Agenda } from './agenda.ts'
import { openRunJournal } from './journal.ts'
import { linePositionOf, type OutputPosition, output } from './output.ts'
import { endOf, nextChange, observe, type Plan, parseHandle, planOf } from './plan.ts'

/**
 * Runs that only take time: for tests, demos and capacity planning. Environment variables say what a run does
 * (SIM_RUN_SECONDS, SIM_EXIT_CODE, SIM_LOG_LINES, SIM_IGNORE_TERM_SECONDS, SIM_START_SECONDS, SIM_START_FAILURES). Its
 * handle is its whole plan, and its moments are database time, so a server may die and come back, and several may share
 * a directory.
 *
 * Nodes named in `<dataDir>/sim-silent`, one per line, do not answer: runs on them are unreachable, starting there
 * fails, stopping there throws, and their output is held back. The runs go on.
 */

export interface SimulatedOptions {
  dataDir: string
  clock: Clock
  time: Time
  log: Log
}

/** How often a reader of output checks whether the node is silent, or another server has stopped the run. */
const lookMs = 5_000

export async function createSimulatedExecutor({ dataDir, clock, time, log }: SimulatedOptions): Promise<Executor> {
  const journal = await openRunJournal(dataDir)
  const agenda = new Agenda(clock, time)
  const closing = new AbortController()
  const stops = new EventEmitter().setMaxListeners(0)
  const either = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal])
  const stopsOf = async (runId: string) => (await journal.readStops()).get(runId) ?? []

  async function silentNodes(): Promise<ReadonlySet<string>> {
    try {
      return new Set((await readFile(join(dataDir, 'sim-silent'), 'utf8')).split('\n').map((line) => line.trim()))
    } catch (error) {
      if (readErrorCode(error) === 'ENOENT') return new Set()
      throw error
    }
  }

  const isSilent = async ({ node }: Plan) => node !== null && (await silentNodes()).has(node)

  async function note(handle: Handle, plan: Plan): Promise<void> {
    const at = nextChange(plan, await stopsOf(plan.runId), time.nowMs())
    agenda.set(handle, at ?? time.nowMs())
  }

  async function inspect(handles: readonly Handle[]): Promise<Observation[]> {
    const [silent, stopsByRun] = await Promise.all([silentNodes(), journal.readStops()])
    const now = time.nowMs()
    return Promise.all(
      handles.map(async (handle): Promise<Observation> => {
        const plan = parseHandle(handle)
        if (!plan || !(await journal.knows(plan.runId))) return { state: 'gone' }
        if (plan.node !== null && silent.has(plan.node))
          return { state: 'unreachable', info: `Node ${plan.node} does not answer` }
        const stopsOfRun = stopsByRun.get(plan.runId) ?? []
        const next = nextChange(plan, stopsOfRun, now)
        if (next !== null) agenda.set(handle, next)
        return observe(plan, stopsOfRun, now)
      }),
    )
  }

  async function* logs(handle: Handle, from: unknown, signal: AbortSignal) {
    const plan = parseHandle(handle)
    if (plan && (await journal.knows(plan.runId))) yield* print(plan, linePositionOf(from), either(signal))
  }

  async function* print(plan: Plan, from: OutputPosition, signal: AbortSignal) {
    let position = from
    while (!signal.aborted) {
      const { prints, over, changesAt } = await outlook(plan)
      if (prints) {
        yield* output(plan.lines, position, signal)
        position = { line: plan.lines }
      }
      if (over) return
      await sleepUntil(changesAt, plan.runId, signal)
    }
  }

  /** Ends early at a stop by this process; stops by others are found at the next look. */
  async function sleepUntil(at: number, runId: string, signal: AbortSignal): Promise<void> {
    const stopped = new AbortController()
    const wake = () => stopped.abort()
    stops.once(runId, wake)
    const ms = Math.min(lookMs, Math.max(1, at - time.nowMs()))
    await clock.sleep(ms, AbortSignal.any([signal, stopped.signal]))
    stops.off(runId, wake)
  }

  /** What a reader of the output may have now, and when to look again. */
  async function outlook(plan: Plan): Promise<{ prints: boolean; over: boolean; changesAt: number }> {
    const [silent, stopsOfRun] = await Promise.all([isSilent(plan), stopsOf(plan.runId)])
    const now = time.nowMs()
    if (silent) return { prints: false, over: false, changesAt: now + lookMs }
    const { at } = endOf(plan, stopsOfRun)
    const hasBegun = plan.runsAt <= Math.min(now, at)
    return { prints: hasBegun, over: at <= now, changesAt: nextChange(plan, stopsOfRun, now) ?? now }
  }

  return {
    name: 'simulated',
    async start(run) {
      const draft = planOf(run, time.nowMs())
      if ((await isSilent(draft)) && !(await journal.knows(run.runId)))
        throw new StartFailed('NODE_TROUBLE', `Node ${draft.node} does not answer`)
      const handle = await journal.claim(run.runId, JSON.stringify(draft))
      await note(handle, parseHandle(handle) ?? draft)
      log.debug({ plan: handle }, 'a simulated run was started, or found')
      return handle
    },
    find: (runId) => journal.find(runId),
    async silent(nodes) {
      const silent = await silentNodes()
      return nodes.filter((node) => silent.has(node))
    },
    inspect,
    logs,
    async stop(handle, graceMs) {
      const plan = parseHandle(handle)
      if (!plan || !(await journal.knows(plan.runId))) return
      if (await isSilent(plan)) throw new Error(`Node ${plan.node} does not answer`)
      const now = time.nowMs()
      if (endOf(plan, await stopsOf(plan.runId)).at <= now) return
      await journal.addStop(plan.runId, { at: now, graceMs: Math.max(0, graceMs) })
      stops.emit(plan.runId)
      await note(handle, plan)
    },
    watch: (signal) => agenda.handles(either(signal)),
    async forget(handle) {
      const plan = parseHandle(handle)
      agenda.delete(handle)
      if (plan) await journal.forget(plan.runId)
    },
    async list() {
      const handles = await journal.list()
      return handles.flatMap((handle) => {
        const plan = parseHandle(handle)
        return plan ? { runId: plan.runId, handle } : []
      })
    },
    describe: async () => ({
      version: null,
      available: true,
      message: 'Runs take time and do nothing',
    }),
    async close() {
      closing.abort()
      await journal.close()
    },
  }
}
