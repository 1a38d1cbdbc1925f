import { createInterface } from 'node:readline'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, oneUser } from '../accounts/account.ts'
import { describedSoon, unavailable } from '../backend/description.ts'
import { type Executor, type ExecutorDescription, type Handle, isOver, type Observation } from '../executor.ts'
import { openOrders } from './create-orders.ts'
import { lostDisplayOf } from './display.ts'
import {
  createEngine,
  demandWhole,
  type Engine,
  EngineAway,
  EngineError,
  type EngineVersion,
  findEngine,
  isOfPodman,
} from './engine.ts'
import { readEngineTime, readStart } from './engine-clock.ts'
import { isEndOfEngine } from './engine-stop.ts'
import {
  createFinder,
  displayNameOf,
  isHandle,
  isLookName,
  type ListedContainer,
  listOwn,
  removeNamed,
  runHandleOf,
  runIdOf,
} from './handle.ts'
import { labels } from './labels.ts'
import { readRefusal } from './mount-check.ts'
import { type Inspected, needsEngineTime, observationOf, phaseOf } from './observation.ts'
import { bytePositionOf } from './output.ts'
import { createOutputReader } from './reading.ts'
import { listRunFiles, removeRunFiles } from './run-files.ts'
import { createStarter, engineAway, readEngineFacts } from './start.ts'
import { createStopper } from './stop.ts'
import { readUnenforced } from './unenforced-limits.ts'

/**
 * Runs as containers of the engine of this machine, dockerd or Podman. A container outlives the server; its name is
 * made of the id of its run and is the handle. start.ts makes it once, stop.ts ends it, reading.ts reads its output from
 * the engine, observation.ts interprets its states.
 *
 * Nothing is concluded while the engine does not answer: its runs keep their state, and every verb is tried again.
 */

export interface ContainerOptions {
  /** For example `unix:///run/docker.sock`; undefined: DOCKER_HOST, or the first socket that exists. */
  engine?: string | undefined
  /**
   * Directory of the records of orders and stops. Containers are labelled with it, so others on the same engine are left
   * alone. Another server on the engine, in a container or on another machine, may have a directory of the same path:
   * what is kept of runs is only listed where the order is.
   */
  directory: string
  /** Environment of the server. A job has the variables of its image, and `inheritNames` of these. */
  environment: Readonly<Record<string, string | undefined>>
  inheritNames?: readonly string[]
  /** Image of jobs that name none. */
  image: string
  /** Of X11 displays; undefined: jobs have none. */
  x11Image?: string | undefined
  /** Registries on this machine that jobs may name, as `localhost:5000`. */
  registries?: readonly string[]
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
  const orders = await openOrders(directory)
  const engine = createEngine(options.engine ?? (await findEngine(environment, directory)), clock)
  const closing = new AbortController()
  const either = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal])
  const lookFor = createFinder({ engine, owner: directory, orders })
  const { start, find } = createStarter({
    engine,
    lookFor,
    orders,
    owner: directory,
    directory,
    image: options.image,
    x11Image: options.x11Image,
    registries: options.registries ?? [],
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
  const stopper = await createStopper({ engine, lookFor, directory, clock, log, closing: closing.signal })
  const ownLabel = `${labels.owner}=${directory}`
  /** The last observation of each run that is not forgotten; after the end it does not change. */
  const seen = new Map<Handle, Observation>()

  async function inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const isAsked = handles.some((handle) => !isKept(seen.get(handle)))
    const listed = isAsked ? await listAll() : new Map<Handle, ListedContainer>()
    return Promise.all(handles.map((handle) => observe(handle, listed)))
  }

  /** null: the engine does not answer, or is in trouble. */
  async function listAll(): Promise<ReadonlyMap<Handle, ListedContainer> | null> {
    try {
      return await listOwn(engine, directory)
    } catch (err) {
      if (err instanceof EngineAway) return null
      if (!(err instanceof EngineError)) throw err
      log.warn({ err }, 'the container engine does not list its containers; nothing is concluded')
      return null
    }
  }

  async function observe(handle: Handle, listed: ReadonlyMap<Handle, ListedContainer> | null): Promise<Observation> {
    const last = seen.get(handle)
    if (last && isKept(last)) return last
    if (isLookName(handle)) return notThere
    if (listed === null) return last ?? { state: 'starting', info: engineAway }
    const found = listed.get(handle)
    if (!found) return notThere
    if (found.isNamed && last?.state === 'running' && phaseOf(found.state) === 'runs') return last
    return lookAt(handle).catch((err: unknown) => {
      if (!(err instanceof EngineAway || err instanceof EngineError)) throw err
      log.warn({ err, container: handle }, 'a container was not inspected; the next poll does it')
      return last ?? { state: 'starting', info: engineAway }
    })
  }

  async function lookAt(handle: Handle): Promise<Observation> {
    const found = await lookFor(handle)
    if (!found) return notThere
    const startedAt = await readStart(found, time)
    const stopped = await stopper.isAsked(handle)
    const toTime = needsEngineTime(found, startedAt) ? await readEngineTime(engine, time) : neverAsked
    const observation = await withRefusal(found, observationOf(found, { stopped, toTime, startedAt }))
    seen.set(handle, observation)
    if (isKept(observation)) stopper.isOver(handle)
    return observation
  }

  async function withRefusal(found: Inspected, observation: Observation): Promise<Observation> {
    const refusal = observation.state === 'ended' ? await readRefusal(engine, found) : null
    if (refusal !== null) return { state: 'failed', reason: refusal.reason, message: refusal.message }
    return (await isInterrupted(found, observation)) ? endedWithEngine : withDisplay(found, observation)
  }

  /** An end that is seen at once is not of an engine that stopped: that needs longer to come back. */
  async function isInterrupted(found: Inspected, observation: Observation): Promise<boolean> {
    if (observation.state !== 'ended' || observation.stopped || observation.cause !== undefined) return false
    const seenAfterMs = time.nowMs() - (observation.finishedAt?.getTime() ?? 0)
    return seenAfterMs > restartMsMin && isEndOfEngine(engine, found)
  }

  async function withDisplay(found: Inspected, observation: Observation): Promise<Observation> {
    if (observation.state !== 'ended') return observation
    const info = await lostDisplayOf(engine, found)
    return info === null ? observation : { ...observation, info }
  }

  async function remove(handle: Handle): Promise<void> {
    await removeNamed(engine, displayNameOf(handle))
    if (isLookName(handle) || (await lookFor(handle))) await removeNamed(engine, handle)
  }

  const readOutput = createOutputReader({
    engine,
    clock,
    log,
    async stateOf(handle) {
      const [observation] = await inspect([handle])
      // The engine still has the output of a container that it ended.
      return observation === endedWithEngine ? 'ended' : (observation?.state ?? 'gone')
    },
    isOver: (handle) => isOver(seen.get(handle)),
  })

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
          if (name) yield runHandleOf(name)
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
    logs: (handle, from, signal) => readOutput(handle, bytePositionOf(from), either(signal)),
    stop: (handle, graceMs) => stopper.stop(handle, graceMs),
    watch,
    async forget(handle) {
      if (isHandle(handle)) await remove(handle)
      seen.delete(handle)
      await stopper.forget(handle)
      await removeRunFiles(directory, handle)
      await orders.forget(handle)
    },
    async list() {
      const listed = [...((await listAll()) ?? new Map<Handle, ListedContainer>()).keys()]
      const isOurs = await Promise.all(listed.map((handle) => isLookName(handle) || orders.mayHave(handle)))
      const handles = new Set([...listed.filter((_, at) => isOurs[at]), ...(await listRunFiles(directory))])
      return [...handles].map((handle) => ({ runId: runIdOf(handle), handle }))
    },
    describe: async () => ({
      ...(await describedSoon(clock, askEngine(engine), none(`${engine.address} does not answer`))),
      displays: options.x11Image !== undefined,
    }),
    async close() {
      closing.abort()
      engine.close()
    },
  }
}

/** Such an observation does not change any more. */
const isKept = (observation: Observation | undefined): boolean =>
  observation?.state === 'ended' || observation?.state === 'failed' || observation === endedWithEngine

const neverAsked = (): never => {
  throw new Error('A moment of the engine was not expected')
}
/** A stop and a start of dockerd take longer. */
const restartMsMin = 300
const endedWithEngine: Observation = {
  state: 'gone',
  info: 'The container engine was stopped, and ended its container',
}
const notThere: Observation = { state: 'gone', info: 'There is no such container' }

const none = (why: string) => `No container engine answers: ${why}`

async function askEngine(engine: Engine): Promise<ExecutorDescription> {
  try {
    const told = await engine.get<EngineVersion>('/version')
    const version = told.Version
    demandWhole(typeof version === 'string', '/version')
    const isPodmans = isOfPodman(told)
    // Podman looks for packages to answer each of these, which takes a second on a busy machine.
    const [unenforced, { hasInit }] = await Promise.all([readUnenforced(engine, isPodmans), readEngineFacts(engine)])
    const restrictions = [
      ...(unenforced.length > 0 ? [`${unenforced.join(', ')}: planned with, not enforced`] : []),
      ...(hasInit ? [] : [withoutInit]),
      ...(isPodmans ? [withoutGpus] : []),
    ]
    return { version, available: true, unenforced, message: restrictions.join('. ') || null }
  } catch (error) {
    if (!(error instanceof EngineAway || error instanceof EngineError)) throw error
    return unavailable(none(error.message))
  }
}

const withoutGpus = 'Podman gives containers no GPUs over the API of Docker: a job that is given one fails'
const withoutInit =
  'The engine has no init program (docker-init): a command of an image without a shell ends only by KILL, after the grace, unless it handles TERM'
