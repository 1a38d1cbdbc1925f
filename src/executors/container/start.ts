import { type Account, findAccount } from '../accounts/account.ts'
import { blameSpool } from '../backend/blame-machine.ts'
import { mountRoots, normaliseTarget, type OpenMounts, openMounts } from '../backend/data-mounts.ts'
import { type CompleteOptions, type ExecutorOptions, pickVariables } from '../backend/executor-options.ts'
import { refuseMountsInside, snapshotFolder } from '../backend/snapshot-folder.ts'
import { retryStart, type StartWait } from '../backend/start-retry.ts'
import { BackendRefused, BackendUnreachable } from '../backend/unreachable.ts'
import { type Handle, type RunSpec, StartFailed } from '../executor.ts'
import { xSocketFolder } from '../process/display.ts'
import { MachineAccounts, resolveImageUser } from './accounts.ts'
import { type ArchivedFile, archive, isDirectory } from './archive.ts'
import { type Containers, containerName, displayName, isHandle } from './containers.ts'
import { type ContainerRequest, makeRequest } from './create.ts'
import type { Orders } from './create-orders.ts'
import { Displays } from './display.ts'
import type { Engine, EngineConnection, EngineVersion } from './engine.ts'
import { type EngineFacts, readEngineFacts } from './engine-facts.ts'
import { type Image, Images } from './image.ts'
import { labels } from './labels.ts'
import { mountCheckProgram } from './mount-check.ts'
import { ensureNetworks, hasNames } from './network.ts'
import { type Inspected, isUnstarted } from './observation.ts'
import { listRunFiles, noteFile, type RunFile, runFileMode } from './run-files.ts'
import { engineUnreachable, explainFailure } from './start-failure.ts'

export interface ContainerOptions extends ExecutorOptions {
  /** Address of the engine; undefined: DOCKER_HOST, or the first socket that exists. */
  engine?: string | undefined
  connection?: EngineConnection
  /** Called when the executor is closed. */
  onClose?(): Promise<void>
  /** Directory of orders and stops. */
  directory: string
  /**
   * Label of the containers, with which other servers of the installation use the engine as well. undefined: the
   * directory; then only containers with orders there belong to this server, as another one may use the same path.
   */
  owner?: string
  /** false: BERTH_URL is a loopback address, which in a container is the container itself. */
  reachesServer?: boolean
  /** The node has GPUs for jobs. */
  hasGpus?: boolean
  /** Default image. */
  image: string
  /** Image of X11 displays; undefined: jobs cannot have displays. */
  x11Image?: string | undefined
  /** Registries on this machine that jobs may name, as `localhost:5000`. */
  registries?: readonly string[]
  /** A `config.json` of Docker with credentials of registries. */
  registryAuth?: string | undefined
  /** Directories from which jobs may mount data, by name. */
  dataRoots: Readonly<Record<string, string>>
}

interface StartOptions extends Omit<ContainerOptions, 'engine' | 'owner' | keyof CompleteOptions>, CompleteOptions {
  engine: Engine
  owner: string
  /** Other servers use the engine as well. */
  isShared: boolean
  containers: Containers
  orders: Orders
}

interface Order {
  run: RunSpec
  handle: Handle
  account: Account | null
  unwanted: AbortSignal | undefined
  tell(info: string): void
}

/** A container that this server has created and not yet started. */
interface Created {
  /** The id. */
  container: string
  request: ContainerRequest
  files: readonly RunFile[]
}

const notWanted = 'The start was given up'
/** Engines mount these files in every container. */
const ofContainers = ['/run/.containerenv', '/sbin/docker-init']
const infinibandDir = '/dev/infiniband'
const startMsMax = 60_000
/** Another machine may be able to start the run. */
const lateMsOfMachine = 10_000
const pollMs = 100

/**
 * Starts the container of a run once, whatever number of servers try. The server that creates a container starts it;
 * the others wait. A container that is not started within `startMsMax`, and whose files do not grow, is removed and
 * created again, because its creator is gone; so no run begins with a part of its files. (Known race: if the creator
 * starts it between the last check and the removal, the removal ends the command.)
 *
 * Before a creation is requested, an order records it (create-orders.ts). So a run without an order has no container, even
 * while the engine is unreachable.
 */
export class ContainerStarter {
  readonly #options: StartOptions
  readonly #engine: Engine
  readonly #containers: Containers
  readonly #orders: Orders
  readonly #images: Images
  readonly #displays: Displays
  readonly #accounts: MachineAccounts
  #facts: EngineFacts | null = null
  #networks: Promise<void> | null = null

  constructor(options: StartOptions) {
    const { engine, containers, orders, owner, registries = [], x11Image, clock } = options
    this.#options = options
    this.#engine = engine
    this.#containers = containers
    this.#orders = orders
    this.#images = new Images({ ...options, registries, ofConfiguration: [options.image, x11Image ?? ''] })
    this.#accounts = new MachineAccounts({ engine, containers, rules: options.accounts, clock })
    const own = { [labels.owner]: owner }
    this.#displays = new Displays({ engine, containers, images: this.#images, x11Image, labels: own, clock })
  }

  async start(run: RunSpec, unwanted?: AbortSignal, tell: Order['tell'] = () => undefined): Promise<Handle> {
    const handle = containerName(run.runId)
    if (!isHandle(handle)) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    const { clock, isShared, accounts } = this.#options
    const account = this.#engine.isRemote ? null : await findAccount(run.unixUser, accounts)
    const order = { run, handle, account, unwanted, tell }
    if (!run.inherited) this.#orders.begin(handle)
    const starting = retryStart({
      clock,
      lateMs: isShared ? lateMsOfMachine : undefined,
      signal: unwanted,
      tell,
      attempt: () => this.#startOnce(order),
      judge: (error, isLate) => this.#judge(error, order, isLate),
    })
    await (unwanted ? Promise.race([starting, this.#rejectUnwanted(handle, unwanted)]) : starting)
    return handle
  }

  async find(runId: string): Promise<Handle | null> {
    const handle = containerName(runId)
    const found = await this.#findIfOrdered(handle)
    if (found && !(isUnstarted(found) && (await this.#containers.removeUnstarted(handle)))) return handle
    if (await this.#orders.has(handle)) await this.#containers.remove(displayName(handle))
    await this.#orders.forget(handle)
    return null
  }

  /**
   * Rejects when the start is no longer wanted, without waiting for the engine, unless the creation was already
   * requested.
   */
  #rejectUnwanted(handle: Handle, unwanted: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const giveUp = async () => {
        if (!(await this.#orders.has(handle))) reject(new StartFailed('START_FAILED', notWanted))
      }
      if (unwanted.aborted) void giveUp()
      else unwanted.addEventListener('abort', () => void giveUp(), { once: true })
    })
  }

  /**
   * Throws unless a retry may help. After the creation was requested, only the engine knows whether the container
   * exists.
   */
  async #judge(error: unknown, { handle, unwanted }: Order, isLate: boolean): Promise<StartWait> {
    if (error === unwanted?.reason) throw error
    if (!(error instanceof BackendUnreachable) && !(await this.#mayBeStarted(handle))) {
      // A leftover order is harmless: it only causes one more query to the engine.
      await this.#orders.forget(handle).catch(() => null)
      throw explainFailure(error)
    }
    if (await this.#orders.has(handle)) unwanted?.throwIfAborted()
    else if (unwanted?.aborted || isLate) throw explainFailure(error)
    return { info: error instanceof BackendRefused ? error.message : engineUnreachable }
  }

  /**
   * true: the container may be running. An overloaded engine may report an error for a request and still execute it.
   */
  async #mayBeStarted(handle: Handle): Promise<boolean> {
    if (!(await this.#orders.has(handle))) return false
    return this.#containers.find(handle).then(
      (found) => found !== null && !isUnstarted(found),
      () => true,
    )
  }

  async #startOnce(order: Order): Promise<void> {
    try {
      while (!(await this.#isStarted(order.handle))) if (await this.#create(order)) break
    } catch (error) {
      if (order.run.spec.x11 && !(error instanceof BackendUnreachable)) await this.#removeDisplay(order)
      throw error
    }
  }

  /**
   * Removes the display, except for a start that is no longer wanted: the next server may use the display, or `find`
   * removes it.
   */
  async #removeDisplay({ handle, unwanted }: Order): Promise<void> {
    if (!(await this.#orders.has(handle))) return
    unwanted?.throwIfAborted()
    await this.#containers.remove(displayName(handle))
  }

  /** Waits until the creator has started the container; removes the container if its creator is gone. */
  async #isStarted(handle: Handle): Promise<boolean> {
    const { clock } = this.#options
    let bytes: number | null = null
    for (let sinceMs = clock.monotonicMs(); ; await clock.sleep(pollMs)) {
      const found = await this.#containers.find(handle)
      if (!found) return false
      if (!isUnstarted(found)) return true
      if (bytes !== null && clock.monotonicMs() - sinceMs <= startMsMax) continue
      const earlier = bytes
      bytes = await this.#containers.measure(handle)
      // A creator that copies a large snapshot may take long.
      if (earlier === null || bytes > earlier) sinceMs = clock.monotonicMs()
      else return !(await this.#containers.removeUnstarted(handle))
    }
  }

  async #create(order: Order): Promise<boolean> {
    const { run, handle, unwanted } = order
    const image = await this.#findImage(order)
    const display = run.spec.x11 ? await this.#displays.findImage(order) : null
    const account = this.#engine.isRemote ? await this.#accounts.find(run.unixUser, image.id) : order.account
    this.#facts ??= await readEngineFacts(this.#engine, this.#options.time)
    await this.#ensureNetworks()
    await this.#refuseUnsupported(run)
    const files = listRunFiles(run)
    await using data = await this.#openData({ ...order, account }, image, files)
    const passed = pickVariables(this.#options)
    const { isRemote } = this.#engine
    const own = { image, account, files, labels: this.#labels(run), passed, infinibandDir, isRemote }
    const request = await makeRequest(run, { ...this.#options, ...data, ...this.#facts, ...own })
    await blamingSpool(this.#orders.note(handle))
    refuseUnwanted(unwanted)
    if (display !== null && !(await this.#startDisplay(order, display))) return false
    const container = await this.#containers.create({ name: handle, body: request.body })
    if (container === null) {
      await this.#refuseForeignName(handle)
      return false
    }
    await this.#startCreated(order, { container, request, files })
    return true
  }

  #findImage({ run: { spec }, unwanted, tell }: Order): Promise<Image> {
    return this.#images.find(spec.image ?? this.#options.image, { unwanted, tell }, { always: spec.pull === 'ALWAYS' })
  }

  /**
   * Creates missing networks once for concurrent starts: an engine that gets two requests at once creates a network
   * twice.
   */
  #ensureNetworks(): Promise<void> {
    this.#networks ??= ensureNetworks(this.#engine).finally(() => {
      this.#networks = null
    })
    return this.#networks
  }

  async #openData({ run, account }: Order, image: Image, files: readonly RunFile[]): Promise<OpenMounts> {
    const { data, x11 } = run.spec
    const { dataRoots: roots, accounts } = this.#options
    if (run.openSnapshot) refuseMountsInside(data)
    const targets = new Set(data.map((entry) => normaliseTarget(entry.split(':')[1] ?? '')))
    const reserved = [
      ...files.map(({ path }) => path),
      ...image.volumes.filter((path) => !targets.has(path)),
      ...(x11 ? [xSocketFolder] : []),
      ...(run.openSnapshot ? [snapshotFolder] : []),
      ...ofContainers,
    ]
    const rules = { roots, hasUsers: accounts.hasUsers, account, reserved }
    const open = this.#engine.isRemote ? mountRoots(data, rules) : await openMounts(data, rules)
    const unquoted = open.mounts.find(({ source, target }) => /[,"]/.test(source + target))
    if (!unquoted || !this.#facts?.isPodman) return open
    await open[Symbol.asyncDispose]()
    // Podman joins the fields of a mount with commas and does not quote: a target `/d,source=/` would name another source.
    const paths = `${unquoted.source}:${unquoted.target}`
    throw new StartFailed('BAD_SPEC', `data ${paths}: Podman cannot mount paths with a comma or a quotation mark`)
  }

  async #refuseForeignName(handle: Handle): Promise<void> {
    if (!(await this.#containers.isForeign(handle))) return
    throw new StartFailed('START_FAILED', `The container ${handle} belongs to another pool; remove it or its pool`)
  }

  /** Names the container by its id: if another server has removed it, its name may be that of another one by now. */
  async #startCreated(order: Order, { container, request, files }: Created): Promise<void> {
    try {
      await this.#putSnapshot(order, container, request)
      await this.#checkWorkdir(container, request)
      await this.#putFiles(container, request, files)
      await this.#engine.post(`/containers/${container}/start`)
    } catch (error) {
      const found = await this.#containers.find(order.handle)
      const isStarted = found !== null && !isUnstarted(found)
      if (!isStarted && (await this.#containers.removeUnstarted(container))) throw error
    }
  }

  async #putSnapshot({ run, unwanted, tell }: Order, container: string, { user }: ContainerRequest): Promise<void> {
    if (run.openSnapshot === null) return
    tell('The snapshot is being copied into the container')
    const target = { folder: snapshotFolder.slice(1), ...(await resolveImageUser(this.#engine, container, user)) }
    await this.#engine.putArchive(`/containers/${container}/archive`, { path: '/' }, run.openSnapshot(target), unwanted)
  }

  /** Copies files into the container. If the engine refuses only the note file, the job starts without it. */
  async #putFiles(
    container: string,
    { check, needsNoteFile }: ContainerRequest,
    ofRun: readonly RunFile[],
  ): Promise<void> {
    const files: ArchivedFile[] = ofRun.map(({ path, text }) => ({ path, mode: runFileMode, text }))
    if (needsNoteFile) files.push(noteFile)
    if (check) {
      const { Arch: architecture } = await this.#engine.get<EngineVersion>('/version')
      files.push({ path: check.path, mode: 0o755, text: mountCheckProgram(architecture) })
      files.push({ path: check.refusalPath, mode: 0o666 })
    }
    if (files.length === 0) return
    try {
      await this.#engine.putArchive(`/containers/${container}/archive`, { path: '/' }, await archive(files))
    } catch (error) {
      if (check || ofRun.length > 0 || !(error instanceof BackendRefused)) throw error
    }
  }

  /** Starts the display; false: another server created the container of the job first. */
  async #startDisplay(order: Order, imageId: string): Promise<boolean> {
    try {
      await this.#displays.start(order, imageId)
      order.unwanted?.throwIfAborted()
      return true
    } catch (error) {
      if (await this.#containers.find(order.handle)) return false
      throw error
    }
  }

  /** Refuses what Podman does not support and would silently ignore. */
  async #refuseUnsupported({ gpuIds, spec }: RunSpec): Promise<void> {
    if (gpuIds.length > 0 && this.#facts?.isPodman)
      throw new StartFailed('BAD_SPEC', 'Podman gives containers no GPUs over the API of Docker; use Docker')
    if (spec.internalDns !== null && !(await hasNames(this.#engine)))
      throw new StartFailed(
        'BAD_SPEC',
        'internalDns: the network berth of this Podman has no DNS; install dnsname or aardvark-dns, then remove the network once: podman network rm berth',
      )
  }

  /** Refuses a missing workdir, because the engine would create it. */
  async #checkWorkdir(container: string, { workdir }: ContainerRequest): Promise<void> {
    if (workdir === null || (await isDirectory(this.#engine, container, workdir))) return
    throw new StartFailed('WORKDIR_NOT_FOUND', `workdir: the directory ${workdir} does not exist in the container`)
  }

  #labels({ runId, jobId, spec }: RunSpec) {
    return {
      [labels.owner]: this.#options.owner,
      [labels.run]: runId,
      [labels.job]: jobId,
      ...(spec.name !== null && { [labels.name]: spec.name }),
    }
  }

  /** Finds the container. Also returns null while the engine is unreachable, if no creation was requested. */
  async #findIfOrdered(handle: Handle): Promise<Inspected | null> {
    try {
      return await this.#containers.find(handle)
    } catch (error) {
      if (error instanceof BackendUnreachable && !(await this.#orders.has(handle))) return null
      throw error
    }
  }
}

function refuseUnwanted(unwanted: AbortSignal | undefined): void {
  if (unwanted?.aborted) throw new StartFailed('START_FAILED', notWanted)
}

const blamingSpool = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error) => {
    throw blameSpool(error)
  })
