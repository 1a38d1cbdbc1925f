import type { Clock } from '../../platform/clock.ts'
import { type Account, type AccountRules, findAccount } from '../accounts/account.ts'
import { type DataRoots, normaliseTarget, type OpenMounts, openMounts } from '../backend/data-mounts.ts'
import { blameMachine, blameSpool } from '../backend/machine-trouble.ts'
import { type Executor, type Handle, type RunSpec, StartFailed } from '../executor.ts'
import { displayFolder } from '../process/display.ts'
import type { Environment } from '../process/environment.ts'
import { type ArchivedFile, archive, isDirectory } from './archive.ts'
import { begunFile } from './begun-file.ts'
import { bodyOf, type Made } from './create.ts'
import type { Orders } from './create-orders.ts'
import { createDisplays } from './display.ts'
import {
  type Engine,
  EngineAway,
  EngineError,
  type EngineVersion,
  isEngineConflict,
  isNotFound,
  isPodman,
} from './engine.ts'
import {
  containerNameOf,
  createNamed,
  displayNameOf,
  isHandle,
  isOwn,
  type LookFor,
  listOwn,
  look,
  removeNamed,
  runIdOf,
} from './handle.ts'
import { createImages, type Image } from './image.ts'
import { labels } from './labels.ts'
import { mountCheckProgram } from './mount-check.ts'
import { ensureNetworks, hasNames } from './network.ts'
import { type Inspected, isUnstarted } from './observation.ts'
import { type RunFile, removeRunFiles, runFilesOf, writeRunFiles } from './run-files.ts'

/**
 * Starts a container once, for any number of servers. The engine gives a name to one container only, so the server that
 * creates it starts it, and the others wait for that. A container that is not started for `startMsMax` is removed and
 * made again: its creator is gone. The engine does not start a removed container, so a creator that comes back late
 * starts nothing. (Not covered: it starts the container between the last look and the removal; the command ends within
 * that moment.)
 *
 * Before the engine is asked to create a container, a file notes that (orders.ts). While the engine does not answer, a
 * run without that file has no container, and a run with it may have one. The files of a run are written after that, so
 * a start that is given up before writes none, and one that is given up later leaves them to `find`.
 */
export interface StartOptions {
  engine: Engine
  lookFor: LookFor
  orders: Orders
  /** Tells the containers of this pool and data directory from others on the same engine. */
  owner: string
  /** Where files of runs are kept. */
  directory: string
  /** Image of jobs that name none. */
  image: string
  /** Of X11 displays; undefined: jobs have none. */
  x11Image: string | undefined
  /** Registries on this machine that jobs may name. */
  registries: readonly string[]
  data: DataRoots
  /** Variables of the server that jobs may have beyond those of their image. */
  passed: Environment
  accounts: AccountRules
  /** Bytes of output that the engine keeps of a container. */
  logBytesMax: number
  infinibandDir: string
  /** How long after the maximum run time the container ends a run that no server has ended. */
  deadlineSlackSeconds: number
  clock: Clock
}

export type Starter = Pick<Executor, 'start' | 'find'>

interface Order {
  run: RunSpec
  handle: Handle
  account: Account | null
  unwanted: AbortSignal | undefined
  /** Gets the reason while it waits. */
  tell(info: string): void
}

const notWanted = 'Its start was given up'
export const engineAway = 'The container engine does not answer'
/** Where engines mount files of their own in every container. */
const ofContainers = ['/run/.containerenv', '/sbin/docker-init']
const startMsMax = 60_000
const lookMs = 100
/** Maximum wait for an engine that starts again; then the job gives its place to those that need no engine. */
const awayMsMax = 60_000
const awayPauseMs = 1_000
/** What Go, in which the engines are written, says of ENOSPC. */
const diskFull = 'no space left on device'

export function createStarter(options: StartOptions): Starter {
  const { engine, lookFor, orders, clock, accounts, directory } = options
  const own = { [labels.owner]: options.owner }
  const ofConfiguration = [options.image, options.x11Image ?? '']
  const images = createImages({ engine, owner: options.owner, registries: options.registries, ofConfiguration, clock })
  const displays = createDisplays({ engine, images, x11Image: options.x11Image, labels: own, clock })
  let facts: EngineFacts | null = null
  let making: Promise<void> | null = null

  /** Once for all starts that come together: an engine makes a network twice if it is asked twice. */
  function haveNetworks(): Promise<void> {
    making ??= ensureNetworks(engine).finally(() => {
      making = null
    })
    return making
  }

  async function start(run: RunSpec, unwanted?: AbortSignal, tell: Order['tell'] = () => undefined): Promise<Handle> {
    const handle = containerNameOf(run.runId)
    if (!isHandle(handle)) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    const account = await findAccount(run.unixUser, accounts)
    const starting = startPatiently({ run, handle, account, unwanted, tell })
    return unwanted ? Promise.race([starting, givenUp(handle, unwanted)]) : starting
  }

  /** Fails after `unwanted`, without waiting for the engine, unless the engine was asked for a container. */
  function givenUp(handle: Handle, unwanted: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const giveUp = async () => {
        if (!(await orders.mayHave(handle))) reject(new StartFailed('START_FAILED', notWanted))
      }
      if (unwanted.aborted) void giveUp()
      else unwanted.addEventListener('abort', () => void giveUp(), { once: true })
    })
  }

  async function startPatiently(order: Order): Promise<Handle> {
    for (const sinceMs = clock.monotonicMs(); ; await clock.sleep(awayPauseMs, order.unwanted))
      try {
        return await startOnce(order)
      } catch (error) {
        await demandAnotherTry(error, order, sinceMs)
        order.tell(error instanceof EngineError ? error.message : engineAway)
      }
  }

  /** Throws unless another try may help. Once the engine may have the order, only the engine knows what became of it. */
  async function demandAnotherTry(error: unknown, { handle, unwanted }: Order, sinceMs: number): Promise<void> {
    if (error === unwanted?.reason) throw error
    if (!(error instanceof EngineAway) && !(await mayBeThere(handle))) {
      // An order that stays is harmless: the engine is asked once more.
      await orders.forget(handle).catch(() => null)
      // After a start that is given up, the next server may have written the same files again.
      if (!unwanted?.aborted) await removeRunFiles(directory, handle).catch(() => null)
      throw failureOf(error)
    }
    if (await orders.mayHave(handle)) unwanted?.throwIfAborted()
    else if (unwanted?.aborted || clock.monotonicMs() - sinceMs > awayMsMax) throw failureOf(error)
  }

  /** An engine in trouble may refuse what it does all the same. */
  async function mayBeThere(handle: Handle): Promise<boolean> {
    if (!(await orders.mayHave(handle))) return false
    return lookFor(handle).then(
      (found) => found !== null && !isUnstarted(found),
      () => true,
    )
  }

  async function startOnce(order: Order): Promise<Handle> {
    try {
      while (!(await startedByAnother(order.handle))) if (await make(order)) break
      return order.handle
    } catch (error) {
      if (order.run.spec.x11 && !(error instanceof EngineAway)) await removeDisplay(order)
      throw error
    }
  }

  /** After a start that is given up, the next server may use it; `find` removes it then. */
  async function removeDisplay({ handle, unwanted }: Order): Promise<void> {
    if (!(await orders.mayHave(handle))) return
    unwanted?.throwIfAborted()
    await removeNamed(engine, displayNameOf(handle))
  }

  /** false: there is no such container, or its creator left it and it is removed. */
  async function startedByAnother(handle: Handle): Promise<boolean> {
    for (const sinceMs = clock.monotonicMs(); ; ) {
      const found = await lookFor(handle)
      if (!found) return false
      if (!isUnstarted(found)) return true
      if (clock.monotonicMs() - sinceMs > startMsMax) return !(await removeUnstarted(handle))
      await clock.sleep(lookMs)
    }
  }

  /** false: another server created it first. */
  async function make(order: Order): Promise<boolean> {
    const { run, handle, account, unwanted, tell } = order
    const image = await images.find(run.spec.image ?? options.image, { unwanted, tell })
    const display = run.spec.x11 ? await displays.findImage(order) : null
    facts ??= await readEngineFacts(engine)
    await haveNetworks()
    await demandEngine(run)
    const files = runFilesOf(directory, handle, run)
    await using data = await openData(order, image, files)
    const labels = labelsOf(run)
    const made = await bodyOf(run, { ...options, ...data, ...facts, image, account, files, labels })
    if (!orders.isComplete()) await completeOrders()
    await inSpool(orders.note(handle))
    demandWanted(unwanted)
    await inSpool(writeRunFiles(files, account))
    demandWanted(unwanted)
    if (display !== null && !(await haveDisplay(order, display))) return false
    const id = await createNamed(engine, clock, { name: handle, body: made.body })
    if (id === null) {
      await demandName(handle)
      return false
    }
    await begin(handle, id, made)
    return true
  }

  /** They stay open until the engine has mounted them. */
  async function openData({ run, account }: Order, image: Image, files: readonly RunFile[]): Promise<OpenMounts> {
    const { data, x11 } = run.spec
    const targets = new Set(data.map((entry) => normaliseTarget(entry.split(':')[1] ?? '')))
    const reserved = [
      ...files.map(({ target }) => target),
      ...image.volumes.filter((path) => !targets.has(path)),
      ...(x11 ? [displayFolder] : []),
      ...ofContainers,
    ]
    const open = await openMounts(data, { ...options.data, account, reserved })
    const unquoted = open.mounts.find(({ source, target }) => /[,"]/.test(source + target))
    if (!unquoted || !facts?.isPodman) return open
    await open[Symbol.asyncDispose]()
    // Podman joins the fields of a mount with commas, and quotes none: a target `/d,source=/` would name another source.
    const paths = `${unquoted.source}:${unquoted.target}`
    throw new StartFailed('BAD_SPEC', `data ${paths}: Podman cannot mount paths with a comma or a quotation mark`)
  }

  async function demandName(handle: Handle): Promise<void> {
    const found = await look(engine, handle)
    if (found && !isOwn(found, options.owner))
      throw new StartFailed('START_FAILED', `There is a container ${handle} already, which is not of this pool`)
  }

  /** Removes what it cannot start, unless another server started it. */
  async function begin(handle: Handle, id: string, made: Made): Promise<void> {
    try {
      await inSpool(orders.noteMade(handle, id))
      await demandWorkdir(handle, made)
      await putFiles(handle, made)
      await engine.post(`/containers/${handle}/start`)
    } catch (error) {
      const found = await look(engine, handle)
      const isStarted = found !== null && !isUnstarted(found)
      if (!isStarted && (await removeUnstarted(handle))) throw error
    }
  }

  /** If the engine refuses only the begun file, the job starts without it: another program could let its command run again. */
  async function putFiles(handle: Handle, { check, needsBegunFile }: Made): Promise<void> {
    if (check === null && !needsBegunFile) return
    const files: ArchivedFile[] = needsBegunFile ? [begunFile(runIdOf(handle))] : []
    if (check) {
      const { Arch: architecture } = await engine.get<EngineVersion>('/version')
      files.push({ path: check.path, mode: 0o755, content: mountCheckProgram(architecture) })
    }
    try {
      await engine.put(`/containers/${handle}/archive`, { path: '/' }, archive(files))
    } catch (error) {
      if (check || !(error instanceof EngineError)) throw error
    }
  }

  /** false: another server created the container of the job first. */
  async function haveDisplay(order: Order, imageId: string): Promise<boolean> {
    try {
      await displays.start(order, imageId)
      order.unwanted?.throwIfAborted()
      return true
    } catch (error) {
      if (await look(engine, order.handle)) return false
      throw error
    }
  }

  /** Podman silently ignores what it cannot do. */
  async function demandEngine({ gpuIds, spec }: RunSpec): Promise<void> {
    if (gpuIds.length > 0 && facts?.isPodman)
      throw new StartFailed('BAD_SPEC', 'Podman gives containers no GPUs over the API of Docker; use Docker')
    if (spec.internalDns !== null && !(await hasNames(engine)))
      throw new StartFailed(
        'BAD_SPEC',
        'internalDns: the network berth of this Podman has no DNS; install dnsname or aardvark-dns, then remove the network once: podman network rm berth',
      )
  }

  async function completeOrders(): Promise<void> {
    const existing = await listOwn(engine, options.owner)
    await inSpool(orders.complete(existing.keys()))
  }

  /** The engine itself would make the directory. */
  async function demandWorkdir(handle: Handle, { workdir }: Made): Promise<void> {
    if (workdir === null || (await isDirectory(engine, handle, workdir))) return
    throw new StartFailed('WORKDIR_NOT_FOUND', `There is no directory ${workdir} in the container`)
  }

  const labelsOf = ({ runId, jobId, spec }: RunSpec) => ({
    ...own,
    [labels.run]: runId,
    [labels.job]: jobId,
    ...(spec.name !== null && { [labels.name]: spec.name }),
  })

  /** false: it was started meanwhile. */
  async function removeUnstarted(handle: Handle): Promise<boolean> {
    try {
      await engine.delete(`/containers/${handle}`, { v: true })
      return true
    } catch (error) {
      if (isEngineConflict(error)) return false
      if (isNotFound(error)) return true
      throw error
    }
  }

  /** null also while the engine does not answer, if it was never asked for the container. */
  async function lookIfOrdered(handle: Handle): Promise<Inspected | null> {
    try {
      return await lookFor(handle)
    } catch (error) {
      if (error instanceof EngineAway && !(await orders.mayHave(handle))) return null
      throw error
    }
  }

  return {
    start,
    async find(runId) {
      const handle = containerNameOf(runId)
      const found = await lookIfOrdered(handle)
      if (found && !(isUnstarted(found) && (await removeUnstarted(handle)))) return handle
      if (await orders.mayHave(handle)) await removeNamed(engine, displayNameOf(handle))
      await removeRunFiles(directory, handle).catch(() => null)
      await orders.forget(handle)
      return null
    },
  }
}

function demandWanted(unwanted: AbortSignal | undefined): void {
  if (unwanted?.aborted) throw new StartFailed('START_FAILED', notWanted)
}

export interface EngineFacts {
  isPodman: boolean
  /** It has an init program for containers. */
  hasInit: boolean
  /** null: unknown. */
  cpusMax: number | null
}

export async function readEngineFacts(engine: Engine): Promise<EngineFacts> {
  const [podman, info] = await Promise.all([
    isPodman(engine),
    engine.get<{ InitBinary?: string; NCPU?: number }>('/info'),
  ])
  return { isPodman: podman, hasInit: (info.InitBinary ?? '') !== '', cpusMax: info.NCPU || null }
}

/**
 * A request that the engine refuses is the job's fault; an engine that does not answer is not, nor one without space, nor is an
 * image or a container that another program has just removed. (A pull without space may be the fault of the image.)
 */
function failureOf(error: unknown): unknown {
  if (error instanceof EngineAway)
    return new StartFailed('BACKEND_AWAY', `${engineAway} at ${error.message}`, { cause: error })
  if (!(error instanceof EngineError)) return blameMachine(error)
  if (error.message.includes(diskFull))
    return new StartFailed('BACKEND_AWAY', `The container engine has no space: ${error.message}`, { cause: error })
  const reason = error.status === 400 ? 'BAD_SPEC' : 'START_FAILED'
  return new StartFailed(reason, `The container engine refused: ${error.message}`, { cause: error })
}

async function inSpool<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw blameSpool(error)
  }
}
