import { randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { BackendRefused, ignoreNotFound, isNotFound } from '../backend/unreachable.ts'
import type { Handle } from '../executor.ts'
import { type Engine, isEngineConflict } from './engine.ts'
import { labels } from './labels.ts'
import type { Inspected } from './observation.ts'

/** A handle is the name of the container, which contains the id of its run. */
export const containerName = (runId: string): Handle => `berth-${runId}`
/** Name of a container of no run: Berth creates it to inspect an image or a machine. */
const newInspectionName = (): string => `berth-look-${randomUUID()}`
export const isInspectionName = (handle: Handle) => handle.startsWith('berth-look-')
/** Name of the container with the X11 display of a run; this name is not a handle. */
export const displayName = (handle: Handle) => `${handle}.x11`
export const handleFromName = (name: string): Handle => name.replace(/\.x11$/, '')
export const runIdFromHandle = (handle: Handle) => handle.slice('berth-'.length)
/** Only valid handles become paths of requests. */
export const isHandle = (handle: Handle) => /^berth-[A-Za-z0-9_-]{1,128}$/.test(handle)

/** Podman shows a new container with this delay. */
const shownMs = 100

export interface NamedBody {
  name: string
  body: unknown
}

interface Summary {
  Names: readonly string[]
  State: string
}

/** The containers of one pool. */
export class Containers {
  readonly #engine: Engine
  readonly #owner: string
  readonly #clock: Clock

  constructor(engine: Engine, owner: string, clock: Clock) {
    this.#engine = engine
    this.#owner = owner
    this.#clock = clock
  }

  /** The container of a run; null: it does not exist. */
  async find(handle: Handle): Promise<Inspected | null> {
    const found = isHandle(handle) ? await this.inspect(handle) : null
    return found && this.#isOwn(found) ? found : null
  }

  /**
   * true: another pool has a container with this name. A server over a copy of the database has runs with the same ids.
   */
  async isForeign(handle: Handle): Promise<boolean> {
    const found = await this.inspect(handle)
    return found !== null && !this.#isOwn(found)
  }

  #isOwn(found: Inspected): boolean {
    return found.Config.Labels?.[labels.owner] === this.#owner
  }

  /** A container of any pool; null: no container has this name. */
  async inspect(name: string): Promise<Inspected | null> {
    const path = `/containers/${name}/json`
    const found = await this.#engine.get<Inspected>(path).catch(ignoreNotFound)
    if (found) this.#engine.checkAnswer(found.State?.Status !== undefined, path)
    return found
  }

  /** The container state of each run; null: only the container of its display exists. */
  async list(): Promise<ReadonlyMap<Handle, string | null>> {
    const path = '/containers/json'
    const filters = JSON.stringify({ label: [`${labels.owner}=${this.#owner}`] })
    const found = await this.#engine.get<readonly Summary[]>(path, { all: true, filters })
    this.#engine.checkAnswer(Array.isArray(found), path)
    const listed = new Map<Handle, string | null>()
    for (const { Names: names, State: state } of found) {
      const name = names[0]?.replace(/^\//, '') ?? ''
      const handle = handleFromName(name)
      if (name === handle) listed.set(handle, state)
      else if (!listed.has(handle)) listed.set(handle, null)
    }
    return listed
  }

  /** Creates a container. Returns its id; null: the name is taken. */
  async create({ name, body }: NamedBody): Promise<string | null> {
    const path = '/containers/create'
    try {
      const { Id: id } = (await this.#engine.post<{ Id?: string }>(path, { name }, body)) ?? {}
      this.#engine.checkAnswer(id !== undefined, path)
      return id ?? null
    } catch (error) {
      if (isEngineConflict(error)) return null
      // Podman returns 500 if the name is taken.
      await this.#clock.sleep(shownMs)
      if (error instanceof BackendRefused && (await this.inspect(name))) return null
      throw error
    }
  }

  /**
   * Creates a container of the image, which only `look` may start, and removes it after `look`. If this server dies
   * meanwhile, the next server or check removes it.
   */
  async lookInto<T>(imageId: string, look: (name: string) => Promise<T>, order?: object): Promise<T> {
    const name = newInspectionName()
    const body = { Image: imageId, Cmd: ['true'], Entrypoint: [], Labels: { [labels.owner]: this.#owner } }
    await this.#engine.post('/containers/create', { name }, { ...body, ...order })
    try {
      return await look(name)
    } finally {
      await this.remove(name)
    }
  }

  async remove(name: string): Promise<void> {
    try {
      await this.#engine.delete(`/containers/${name}`, { force: true, v: true })
    } catch (error) {
      // A conflict means that the engine is already removing the container.
      if (!isNotFound(error) && !isEngineConflict(error)) throw error
    }
  }

  /** Removes stopped containers that are older. */
  async prune(age: string): Promise<void> {
    const filters = JSON.stringify({ label: [`${labels.owner}=${this.#owner}`], until: [age] })
    await this.#engine.post('/containers/prune', { filters })
  }

  /** The bytes of the files that were written into the container, apart from its mounts. */
  async measure(handle: Handle): Promise<number> {
    const { SizeRw: bytes } = await this.#engine.get<{ SizeRw?: number }>(`/containers/${handle}/json`, { size: true })
    return bytes ?? 0
  }

  /** Removes a container that was never started; false: it was started meanwhile. */
  async removeUnstarted(handle: Handle): Promise<boolean> {
    try {
      await this.#engine.delete(`/containers/${handle}`, { v: true })
      return true
    } catch (error) {
      if (isEngineConflict(error)) return false
      if (isNotFound(error)) return true
      throw error
    }
  }
}
