import { randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Handle } from '../executor.ts'
import type { Orders } from './create-orders.ts'
import {
  demandWhole,
  type Engine,
  EngineAway,
  EngineError,
  isEngineConflict,
  isNotFound,
  type Query,
} from './engine.ts'
import { labels } from './labels.ts'
import type { Inspected } from './observation.ts'

/** A handle is the name of the container, which is made of the id of its run. */
export const containerNameOf = (runId: string): Handle => `berth-${runId}`
/** Name of a container that is made to look into an image and never runs. */
export const newLookName = (): string => `berth-look-${randomUUID()}`
export const isLookName = (handle: Handle) => handle.startsWith('berth-look-')
/** Name of the container with the X11 display of a run; it is no handle. */
export const displayNameOf = (handle: Handle) => `${handle}.x11`
/** The handle of the run that a container belongs to. */
export const runHandleOf = (name: string): Handle => name.replace(/\.x11$/, '')
export const runIdOf = (handle: Handle) => handle.slice('berth-'.length)
/** Only valid handles become paths of requests. */
export const isHandle = (handle: Handle) => /^berth-[A-Za-z0-9_-]{1,128}$/.test(handle)

/** null: no container has this name. */
export const look = async (engine: Engine, handle: Handle): Promise<Inspected | null> =>
  isHandle(handle) ? inspectNamed(engine, handle) : null

export async function inspectNamed(engine: Engine, name: string): Promise<Inspected | null> {
  try {
    const found = await engine.get<Inspected>(`/containers/${name}/json`)
    demandWhole(found.State?.Status !== undefined, `/containers/${name}/json`)
    return found
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

async function listContainers<T>(engine: Engine, query: Query): Promise<readonly T[]> {
  const listed = await engine.get<readonly T[]>('/containers/json', query)
  demandWhole(Array.isArray(listed), '/containers/json')
  return listed
}

/** Another program may give its container the name of a run. */
export const isOwn = ({ Config: { Labels: given } }: Inspected, owner: string) => given?.[labels.owner] === owner

/** The container of a run, also under another name; null: there is none. */
export type LookFor = (handle: Handle) => Promise<Inspected | null>

interface FinderOptions {
  engine: Engine
  owner: string
  orders: Pick<Orders, 'mayHave' | 'mayBe'>
}

/**
 * A container that another program gave another name gets its own back. A copy of it has its labels too, so its id
 * decides; where that was not noted, two containers with the labels are none. Throws EngineAway while the name cannot be
 * given back.
 */
export function createFinder({ engine, owner, orders }: FinderOptions): LookFor {
  async function findRenamed(handle: Handle): Promise<string | null> {
    const label = [`${labels.owner}=${owner}`, `${labels.run}=${runIdOf(handle)}`]
    const query = { all: true, filters: JSON.stringify({ label }) }
    const labelled = await listContainers<{ Id: string }>(engine, query)
    const isOrdered = await Promise.all(labelled.map(({ Id: id }) => orders.mayBe(handle, id)))
    const [found, ...others] = labelled.filter((_, index) => isOrdered[index])
    return found && others.length === 0 ? found.Id : null
  }

  /** Two servers, or two questions of one, may do it at the same time; then the engine refuses the second. */
  async function restoreName(id: string, handle: Handle): Promise<Inspected | null> {
    const refusal = await engine.post(`/containers/${id}/rename`, { name: handle }).then(() => null, refusalOf)
    if (isNotFound(refusal)) return null
    const found = await look(engine, handle)
    if (found?.Id === id) return found
    throw new EngineAway(`${handle} does not get its name back: ${refusal?.message ?? 'it has another one again'}`)
  }

  return async (handle) => {
    const named = await look(engine, handle)
    const found = named && isOwn(named, owner) ? named : null
    if (found || !isHandle(handle) || !(await orders.mayHave(handle))) return found
    const id = await findRenamed(handle)
    return id === null ? null : restoreName(id, handle)
  }
}

function refusalOf(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  throw error
}

const shownMs = 100

export interface Named {
  name: string
  body: unknown
}

/** Returns its id; null: there is one with this name already. */
export async function createNamed(engine: Engine, clock: Clock, { name, body }: Named): Promise<string | null> {
  try {
    return (await engine.post<{ Id: string }>('/containers/create', { name }, body))?.Id ?? ''
  } catch (error) {
    if (isEngineConflict(error)) return null
    // Podman says 500 of a name that is taken, and shows the container a little later.
    await clock.sleep(shownMs)
    if (error instanceof EngineError && (await inspectNamed(engine, name))) return null
    throw error
  }
}

/** With its volumes that have no name. false: no container has this name. */
export async function removeNamed(engine: Engine, name: string): Promise<boolean> {
  try {
    await engine.delete(`/containers/${name}`, { force: true, v: true })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    // A conflict: it is being removed.
    if (!isEngineConflict(error)) throw error
    return true
  }
}

export interface ListedContainer {
  state: string
  /** Its name is the handle. */
  isNamed: boolean
}

/**
 * All containers of one owner, by handle. The label tells the run, because another program can change the name. Those
 * without that label are no runs: they look into an image or are displays.
 */
export async function listOwn(engine: Engine, owner: string): Promise<ReadonlyMap<Handle, ListedContainer>> {
  const query = { all: true, filters: JSON.stringify({ label: [`${labels.owner}=${owner}`] }) }
  const found = await listContainers<Summary>(engine, query)
  const listed = new Map<Handle, ListedContainer>()
  for (const {
    Names: [slashed = ''],
    State: state,
    Labels: given,
  } of found) {
    const name = slashed.replace(/^\//, '')
    const runId = given?.[labels.run]
    const handle = runId === undefined ? runHandleOf(name) : containerNameOf(runId)
    if (name === handle || !listed.has(handle)) listed.set(handle, { state, isNamed: name === handle })
  }
  return listed
}

interface Summary {
  Names: readonly string[]
  State: string
  Labels: Readonly<Record<string, string>> | null
}
