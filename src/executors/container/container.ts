import { mkdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { FoundOutput } from '../../domain/outputs/found.ts'
import { createDescriber } from '../backend/description.ts'
import { optionDefaults } from '../backend/executor-options.ts'
import { readGpuUse, sampleGpus } from '../backend/gpus.ts'
import { BackendRefused, BackendUnreachable, isBackendError } from '../backend/unreachable.ts'
import {
  type Executor,
  type ExecutorDescription,
  type Handle,
  isOver,
  type Limit,
  type Observation,
  type Sample,
  type SampledRun,
} from '../executor.ts'
import { Containers, displayName, handleFromName, isHandle, isInspectionName, runIdFromHandle } from './containers.ts'
import { OrderFiles, type Orders, SharedOrders } from './create-orders.ts'
import { readDisplayLoss } from './display.ts'
import { Engine, findEngine } from './engine.ts'
import { readEngineTime, readStart } from './engine-clock.ts'
import { readEngineFacts } from './engine-facts.ts'
import { wasEndedByEngine } from './engine-stop.ts'
import { connectToContainer, execInContainer } from './exec.ts'
import { labels } from './labels.ts'
import { createCachedLook, lookAtMachine, type MachineLook } from './machine-look.ts'
import { findTroubles } from './machine-troubles.ts'
import { readRefusal } from './mount-check.ts'
import { endedWithEngine, type Inspected, needsEngineTime, observeContainer, parsePhase } from './observation.ts'
import { copyPosition } from './output.ts'
import { readContainerOutputs } from './outputs.ts'
import { OutputReader } from './reading.ts'
import { sampleContainers } from './samples.ts'
import { type ContainerOptions, ContainerStarter } from './start.ts'
import { engineUnreachable } from './start-failure.ts'
import { ContainerStopper } from './stop.ts'

/**
 * Runs jobs as containers of one dockerd or Podman, on this machine or on a node (machines.ts). The handle is the name of
 * the container, which contains the id of the run. While the engine of this machine is unreachable, runs keep their
 * state.
 */

const pauseMs = 250
const pauseMsMax = 8_000
/** If the engine came back sooner than this, it was not restarted. */
const restartMsMin = 300

type Listed = ReadonlyMap<Handle, string | null>

export async function createContainerExecutor(options: ContainerOptions): Promise<ContainerExecutor> {
  const { directory, environment, clock, connection } = options
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const engine = new Engine(options.engine ?? (await findEngine(environment, directory)), clock, connection)
  const executor = new ContainerExecutor(options, engine)
  await executor.resume()
  return executor
}

/** The parts of an executor, each made once. */
function createParts(options: ContainerOptions, engine: Engine, closing: AbortSignal) {
  const { directory, owner = directory, image, clock } = options
  /** The engine is that of a node, which other servers use as well. */
  const isShared = options.owner !== undefined
  const containers = new Containers(engine, owner, clock)
  const orders: Orders = isShared ? new SharedOrders() : new OrderFiles(directory)
  const look = createCachedLook(clock, (hasNvidia) => lookAtMachine(engine, containers, { image, hasNvidia }))
  const read = () => readDescription(engine, options, isShared ? look : null)
  const shared = { ...options, owner, isShared, engine, containers, orders }
  return {
    ...shared,
    describe: createDescriber({ clock, name: 'Container engine', address: engine.address, read }),
    stopper: new ContainerStopper({ ...shared, closing }),
    starter: new ContainerStarter({ ...optionDefaults, ...shared }),
  }
}

class ContainerExecutor implements Executor {
  readonly name = 'container'
  readonly #closing = new AbortController()
  readonly #parts: ReturnType<typeof createParts>
  readonly #output: OutputReader
  /** The last observation of each run until `forget`; a final observation does not change. */
  readonly #seen = new Map<Handle, Observation>()

  constructor(options: ContainerOptions, engine: Engine) {
    this.#parts = createParts(options, engine, this.#closing.signal)
    this.#output = new OutputReader({
      ...this.#parts,
      readState: (handle) => this.#readOutputState(handle),
      isOver: (handle) => isOver(this.#seen.get(handle)),
    })
  }

  resume(): Promise<void> {
    return this.#parts.stopper.stops.resume()
  }

  start: Executor['start'] = (run, unwanted, tell) => this.#parts.starter.start(run, unwanted, tell)

  find(runId: string): Promise<Handle | null> {
    return this.#parts.starter.find(runId)
  }

  async inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const needsList = handles.some((handle) => !isFinal(this.#seen.get(handle)))
    const listed = needsList ? await this.#list() : new Map<Handle, string | null>()
    return Promise.all(handles.map((handle) => this.#observe(handle, listed)))
  }

  logs: Executor['logs'] = (handle, from, signal) =>
    this.#output.read(handle, copyPosition(from), AbortSignal.any([signal, this.#closing.signal]))

  stop(handle: Handle, graceMs: number): Promise<void> {
    return this.#parts.stopper.stop(handle, graceMs)
  }

  exec: NonNullable<Executor['exec']> = (handle, order) => execInContainer(handle, order, this.#parts)

  connect: NonNullable<Executor['connect']> = (handle, port) => connectToContainer(handle, port, this.#parts)

  async *outputs(handle: Handle, pick: (found: FoundOutput) => boolean, signal: AbortSignal) {
    const found = isHandle(handle) ? await this.#parts.containers.find(handle) : null
    if (found)
      yield* readContainerOutputs(this.#parts.engine, found, pick, AbortSignal.any([signal, this.#closing.signal]))
  }

  async *watch(given: AbortSignal): AsyncGenerator<Handle> {
    const signal = AbortSignal.any([given, this.#closing.signal])
    const label = [`${labels.owner}=${this.#parts.owner}`]
    const filters = JSON.stringify({ type: ['container'], event: ['start', 'die'], label })
    for (let restMs = pauseMs; !signal.aborted; restMs = Math.min(2 * restMs, pauseMsMax)) {
      try {
        const events = await this.#parts.engine.getStream('/events', signal, { filters })
        restMs = pauseMs
        for await (const line of createInterface({ input: events, signal })) {
          const name = JSON.parse(line).Actor?.Attributes?.name
          if (name) yield handleFromName(name)
        }
      } catch (err) {
        if (!signal.aborted) this.#parts.log.debug({ err }, 'the container engine closed its events; reconnecting')
      }
      await this.#parts.clock.sleep(restMs, signal)
    }
  }

  async forget(handle: Handle): Promise<void> {
    if (isHandle(handle)) await this.#remove(handle)
    this.#seen.delete(handle)
    await this.#parts.stopper.stops.forget(handle)
    await this.#parts.orders.forget(handle)
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    const listed = [...((await this.#list()) ?? new Map<Handle, string | null>()).keys()]
    const isOwn = await Promise.all(listed.map((handle) => isInspectionName(handle) || this.#parts.orders.has(handle)))
    const handles = listed.filter((_, at) => isOwn[at])
    return handles.map((handle) => ({ runId: runIdFromHandle(handle), handle }))
  }

  async sample(runs: readonly SampledRun[]): Promise<Sample[]> {
    const handles = runs.map(({ handle }) => handle)
    const ofThisMachine = this.#parts.engine.isRemote ? [] : runs
    const [uses, samples] = await Promise.all([
      readGpuUse(ofThisMachine),
      sampleContainers(this.#parts.engine, handles),
    ])
    return samples.map((sample, index) => ({ ...sample, ...sampleGpus(runs[index]?.gpuIds ?? [], uses) }))
  }

  /** The engine of this machine is never lost without the server. */
  async silent(nodes: readonly string[]): Promise<readonly string[]> {
    if (!this.#parts.isShared) return []
    try {
      await this.#parts.engine.ping()
      return []
    } catch (error) {
      if (!(error instanceof BackendUnreachable)) throw error
      return nodes
    }
  }

  async describe(): Promise<ExecutorDescription> {
    return { ...(await this.#parts.describe()), displays: this.#parts.x11Image !== undefined }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#parts.engine.close()
    await this.#parts.onClose?.()
  }

  async #list(): Promise<Listed | null> {
    try {
      return await this.#parts.containers.list()
    } catch (err) {
      if (err instanceof BackendUnreachable) return null
      if (!(err instanceof BackendRefused)) throw err
      this.#parts.log.warn({ err }, 'the container engine does not list its containers; runs keep their state')
      return null
    }
  }

  async #observe(handle: Handle, listed: Listed | null): Promise<Observation> {
    const last = this.#seen.get(handle)
    if (last && isFinal(last)) return last
    if (isInspectionName(handle)) return missing
    if (listed === null) return this.#observeUnreachable(last)
    const state = listed.get(handle)
    if (state == null) return missing
    if (last?.state === 'running' && parsePhase(state) === 'runs') return last
    return this.#inspect(handle).catch((err: unknown) => {
      if (!isBackendError(err)) throw err
      this.#parts.log.warn({ err, container: handle }, 'a container cannot be inspected; the next poll retries')
      return last ?? { state: 'starting', info: engineUnreachable }
    })
  }

  #observeUnreachable(last: Observation | undefined): Observation {
    if (this.#parts.isShared) return { state: 'unreachable', info: engineUnreachable }
    return last ?? { state: 'starting', info: engineUnreachable }
  }

  async #inspect(handle: Handle): Promise<Observation> {
    const { time } = this.#parts
    const found = await this.#parts.containers.find(handle)
    if (!found) return missing
    const startedAt = await readStart(found, time)
    const stopped = await this.#parts.stopper.stops.isRequested(handle)
    const toTime = needsEngineTime(found, startedAt) ? await readEngineTime(this.#parts.engine, time) : unexpected
    const observation = await this.#explain(found, observeContainer(found, { stopped, toTime, startedAt }))
    this.#seen.set(handle, observation)
    if (isFinal(observation)) this.#parts.stopper.stops.cancelKill(handle)
    return observation
  }

  async #explain(found: Inspected, observation: Observation): Promise<Observation> {
    if (observation.state !== 'ended') return observation
    const refusal = await readRefusal(this.#parts.engine, found)
    if (refusal !== null) return { state: 'failed', reason: refusal.reason, message: refusal.message }
    if (await this.#isInterrupted(found, observation)) return endedWithEngine
    const info = await readDisplayLoss(this.#parts.containers, found)
    return info === null ? observation : { ...observation, info }
  }

  /**
   * true: a restart of the engine interrupted the run. An end that is detected sooner than a restart takes has another
   * cause.
   */
  async #isInterrupted(found: Inspected, end: Observation & { state: 'ended' }): Promise<boolean> {
    if (end.stopped || end.cause !== undefined) return false
    const seenAfterMs = this.#parts.time.nowMs() - (end.finishedAt?.getTime() ?? 0)
    return seenAfterMs > restartMsMin && wasEndedByEngine(this.#parts.engine, found)
  }

  /** A container whose run the engine interrupted still has its output. */
  async #readOutputState(handle: Handle): Promise<Observation['state']> {
    const [observation] = await this.inspect([handle])
    return observation === endedWithEngine ? 'ended' : (observation?.state ?? 'gone')
  }

  async #remove(handle: Handle): Promise<void> {
    await this.#parts.containers.remove(displayName(handle))
    if (isInspectionName(handle) || (await this.#parts.containers.find(handle)))
      await this.#parts.containers.remove(handle)
  }
}

const isFinal = (observation: Observation | undefined): boolean =>
  observation?.state === 'ended' || observation?.state === 'failed' || observation === endedWithEngine

const unexpected = (): never => {
  throw new Error('A moment of the engine was not expected')
}
const missing: Observation = { state: 'gone', info: 'The container does not exist' }

async function readDescription(
  engine: Engine,
  { time, hasGpus, reachesServer = true }: ContainerOptions,
  look: ((hasNvidia: boolean) => MachineLook) | null,
): Promise<ExecutorDescription> {
  const facts = await readEngineFacts(engine, time)
  const { name, version, hasInit, isPodman, latencyMs } = facts
  const unenforced = await readUnenforced(engine, isPodman)
  const troubles = findTroubles(facts, look?.(facts.hasNvidia), hasGpus)
  const restrictions = [
    ...troubles,
    ...(unenforced.length > 0 ? [`${unenforced.join(', ')}: planned with, not enforced`] : []),
    ...(hasInit ? [] : [withoutInit]),
    ...(isPodman ? [withoutGpus] : []),
    ...(reachesServer ? [] : [withoutServer]),
  ]
  const message = restrictions.join('. ') || null
  const machine = { engine: name, latencyMs: roundLatency(latencyMs), silence: null, troubles }
  const warnings = reachesServer ? [] : [withoutServer]
  return {
    version,
    available: true,
    unenforced,
    message,
    ...(look && { machine }),
    ...(warnings.length > 0 && { warnings }),
  }
}

/** One digit, so that the stored report changes rarely. */
const roundLatency = (ms: number): number => Number(Math.max(1, ms).toPrecision(1))

const withoutServer =
  'BERTH_URL is an address of the machine of the server, which a container does not reach: the administrator can set server.publicUrl'
const withoutGpus = 'Podman gives containers no GPUs over the API of Docker: a job that is given one fails'
const withoutInit =
  'The engine has no init program (docker-init): a command of an image without a shell ends only by KILL after the grace period, unless it handles TERM'

const limits = ['memory', 'cpu', 'pids'] as const

interface Info {
  MemoryLimit?: boolean
  CpuCfsQuota?: boolean
  PidsLimit?: boolean
}

/** Reads which limits the engine cannot enforce. Podman reports all of dockerd's fields as true. */
async function readUnenforced(engine: Engine, isPodman: boolean): Promise<readonly Limit[]> {
  if (isPodman) {
    const info = await engine.getFromPodman<{ host?: { cgroupControllers?: readonly string[] | null } }>('/info')
    const controllers = info?.host?.cgroupControllers
    return controllers ? limits.filter((name) => !controllers.includes(name)) : []
  }
  const { MemoryLimit: memory, CpuCfsQuota: cpu, PidsLimit: pids } = await engine.get<Info>('/info')
  const kept = { memory, cpu, pids }
  return limits.filter((name) => kept[name] === false)
}
