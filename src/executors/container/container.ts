import { createInterface } from 'node:readline'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, oneUser } from '../account.ts'
import { describedSoon, unavailable } from '../description.ts'
import type { Executor, ExecutorDescription, Handle, LogChunk, Observation } from '../executor.ts'
import { createEngine, type Engine, EngineAway, EngineError, engineAddress, isNotFound, isPodman } from './engine.ts'
import { isHandle, listOwn, look, runIdOf } from './handle.ts'
import { labels } from './labels.ts'
import { readEngineTime, readStart } from './moments.ts'
import { needsEngineTime, observationOf, phaseOf } from './observation.ts'
import { openOrders } from './orders.ts'
import { bytePositionOf, payload } from './output.ts'
import { removeRunFiles } from './run-files.ts'
import { createStarter, engineAway, readHasInit } from './start.ts'
import { createStopper } from './stop.ts'

/**
 * Runs as containers of the engine of this machine, dockerd or Podman. A container outlives the server; its name is
 * made of the id of its run and is the handle. start.ts makes it once, stop.ts ends it, output.ts reads its output from
 * the engine, observation.ts interprets its states.
 *
 * Nothing is concluded while the engine does not answer: its runs keep their state, and every verb is tried again.
 */

export interface ContainerOptions {
  /** For example `unix:///run/docker.sock`; undefined: DOCKER_HOST, or the first socket that exists. */
  engine?: string | undefined
  /**
   * Directory of the records of stops. Containers are labelled with it, so others on the same engine are left alone.
   */
  directory: string
  /** Environment of the server. A job has the variables of its image, and `inheritNames` of these. */
  environment: Readonly<Record<string, string | undefined>>
  inheritNames?: readonly string[]
  /** Image of jobs that name none. */
  image: string
  /** Folders that jobs may mount from, by name. */
  dataRoots: Readonly<Record<string, string>>
  accounts?: AccountRules
  /** Bytes of output that the engine keeps of a container. */
  logBytesMax?: number
  infinibandDir?: string
  /** How long after its maximum run time a run is ended by its container, in case no server did. */
  deadlineSlackSeconds?: number
  clock: Clock
  time: Time
  log: Log
}

const pauseMs = 250
/** Between two tries to hear the events of an engine that is away. */
const pauseMsMax = 8_000
const logBytesDefault = 16 * 1024 ** 3

export async function createContainerExecutor(options: ContainerOptions): Promise<Executor> {
  const { clock, time, log, directory, environment, inheritNames = [], accounts = oneUser, dataRoots } = options
  const engine = createEngine(options.engine ?? engineAddress(environment), clock)
  const closing = new AbortController()
  const either = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal])
  const orders = await openOrders(directory)
  const { start, find } = createStarter({
    engine,
    orders,
    owner: directory,
    directory,
    image: options.image,
    data: { roots: dataRoots, hasUsers: accounts.hasUsers },
    passed: Object.fromEntries(
      inheritNames.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
    ),
    accounts,
    logBytesMax: options.logBytesMax ?? logBytesDefault,
    infinibandDir: options.infinibandDir ?? '/dev/infiniband',
    deadlineSlackSeconds: options.deadlineSlackSeconds ?? 10,
    clock,
  })
  const stopper = await createStopper({ engine, directory, clock, log, closing: closing.signal })
  const ownLabel = `${labels.owner}=${directory}`
  /** The last observation of each run that is not forgotten; after the end it does not change. */
  const seen = new Map<Handle, Observation>()
  /** Whether the engine can follow output; null: not asked yet. */
  let follows: boolean | null = null

  async function inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const isAsked = handles.some((handle) => seen.get(handle)?.state !== 'ended')
    const listed = isAsked ? await listAll() : new Map<Handle, string>()
    return Promise.all(handles.map((handle) => observe(handle, listed)))
  }

  /** States by handle; null: the engine does not answer. */
  async function listAll(): Promise<ReadonlyMap<Handle, string> | null> {
    try {
      return await listOwn(engine, directory)
    } catch (error) {
      if (error instanceof EngineAway) return null
      throw error
    }
  }

  async function observe(handle: Handle, listed: ReadonlyMap<Handle, string> | null): Promise<Observation> {
    const last = seen.get(handle)
    if (last?.state === 'ended') return last
    if (listed === null) return last ?? { state: 'starting', info: engineAway }
    const state = listed.get(handle)
    if (state === undefined) return notThere
    return last?.state === 'running' && phaseOf(state) === 'runs' ? last : lookAt(handle)
  }

  async function lookAt(handle: Handle): Promise<Observation> {
    const found = await look(engine, handle)
    if (!found) return notThere
    const startedAt = await readStart(found, time)
    const stopped = await stopper.isAsked(handle)
    const toTime = needsEngineTime(found, startedAt) ? await readEngineTime(engine, time) : neverAsked
    const observation = observationOf(found, { stopped, toTime, startedAt })
    seen.set(handle, observation)
    if (observation.state === 'ended') stopper.isOver(handle)
    return observation
  }

  /**
   * Docker's output is followed while the run goes on. Podman mixes up and drops lines if output is followed while it
   * is written, so its output is read again and again, with pauses that keep this below a fifth of the time. The last
   * read always begins after the end of the run.
   */
  async function* logs(handle: Handle, from: unknown, given: AbortSignal): AsyncGenerator<LogChunk> {
    const signal = either(given)
    const at = bytePositionOf(from)
    let state = await stateOf(handle)
    while (state !== 'gone' && !signal.aborted) {
      const beganMs = clock.monotonicMs()
      const follow = state !== 'ended' && (await readFollows())
      const isRead = yield* readOutput(handle, { at, follow, signal })
      if (isRead && state === 'ended') return
      state = await stateOf(handle)
      const readMs = follow ? 0 : clock.monotonicMs() - beganMs
      if (state !== 'ended' || !isRead) await clock.sleep(Math.max(pauseMs, 4 * readMs), signal)
    }
  }

  const readFollows = async () => {
    follows ??= !(await isPodman(engine))
    return follows
  }

  const stateOf = async (handle: Handle) => (await inspect([handle]))[0]?.state ?? 'gone'

  interface Reading {
    at: { bytes: number }
    follow: boolean
    signal: AbortSignal
  }

  /** false: the engine closed the connection in the middle. */
  async function* readOutput(handle: Handle, { at, follow, signal }: Reading): AsyncGenerator<LogChunk, boolean> {
    try {
      const query = { follow, stdout: true, stderr: true }
      const had = yield* payload(await engine.stream(`/containers/${handle}/logs`, signal, query), at)
      if (!follow && had < at.bytes) yield { gap: 'LOST', bytes: 0, next: { ...at } }
      return true
    } catch (err) {
      if (isNotFound(err)) return true
      if (!signal.aborted) log.debug({ err, container: handle }, 'output was cut off; reading on')
      return false
    }
  }

  async function* watch(given: AbortSignal): AsyncGenerator<Handle> {
    const signal = either(given)
    const filters = JSON.stringify({ type: ['container'], event: ['start', 'die'], label: [ownLabel] })
    let restMs = pauseMs
    while (!signal.aborted) {
      try {
        const events = await engine.stream('/events', signal, { filters })
        restMs = pauseMs
        for await (const line of createInterface({ input: events, signal })) {
          const name = JSON.parse(line).Actor?.Attributes?.name
          if (name) yield name
        }
      } catch (err) {
        if (!signal.aborted) log.debug({ err }, 'the container engine ended its events; listening again')
      }
      await clock.sleep(restMs, signal)
      restMs = Math.min(2 * restMs, pauseMsMax)
    }
  }

  return {
    name: 'container',
    start,
    find,
    inspect,
    logs,
    stop: (handle, graceMs) => stopper.stop(handle, graceMs),
    watch,
    async forget(handle) {
      await remove(engine, handle)
      seen.delete(handle)
      await stopper.forget(handle)
      await removeRunFiles(directory, handle)
      await orders.forget(handle)
    },
    async list() {
      const all = (await listAll()) ?? new Map<Handle, string>()
      return [...all.keys()].map((handle) => ({ runId: runIdOf(handle), handle }))
    },
    describe: () => describedSoon(clock, askEngine(engine), none(`${engine.address} does not answer`)),
    async close() {
      closing.abort()
      engine.close()
    },
  }
}

const neverAsked = (): never => {
  throw new Error('A moment of the engine was not expected')
}
const notThere: Observation = { state: 'gone', info: 'There is no such container' }

async function remove(engine: Engine, handle: Handle): Promise<void> {
  if (isHandle(handle)) await engine.delete(`/containers/${handle}`, { force: true, v: true }).catch(unlessGone)
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error
}

const none = (why: string) => `No container engine answers: ${why}`

async function askEngine(engine: Engine): Promise<ExecutorDescription> {
  try {
    const { Version: version } = await engine.get<{ Version: string }>('/version')
    const restrictions = [
      ...((await readHasInit(engine)) ? [] : [withoutInit]),
      ...((await isPodman(engine)) ? [withoutGpus] : []),
    ]
    return { version, available: true, message: restrictions.join('. ') || null }
  } catch (error) {
    if (!(error instanceof EngineAway || error instanceof EngineError)) throw error
    return unavailable(none(error.message))
  }
}

const withoutGpus = 'Podman gives containers no GPUs over the API of Docker: a job that is given one fails'
const withoutInit =
  'The engine has no init program (docker-init): a command of an image without a shell ends only by KILL, after the grace, unless it handles TERM'
