import type { Handle } from '../executor.ts'
import { type Engine, isNotFound } from './engine.ts'
import { labels } from './labels.ts'
import type { Inspected } from './observation.ts'

/** A handle is the name of the container, which is made of the id of its run. */
export const containerNameOf = (runId: string): Handle => `berth-${runId}`
export const runIdOf = (handle: Handle) => handle.slice('berth-'.length)
/** Only valid handles become paths of requests. */
export const isHandle = (handle: Handle) => /^berth-[A-Za-z0-9_-]{1,128}$/.test(handle)

/** null: there is no such container. */
export async function look(engine: Engine, handle: Handle): Promise<Inspected | null> {
  if (!isHandle(handle)) return null
  try {
    return await engine.get<Inspected>(`/containers/${handle}/json`)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** The states of all containers of one owner, by handle. */
export async function listOwn(engine: Engine, owner: string): Promise<ReadonlyMap<Handle, string>> {
  const query = { all: true, filters: JSON.stringify({ label: [`${labels.owner}=${owner}`] }) }
  const found = await engine.get<{ Names: readonly string[]; State: string }[]>('/containers/json', query)
  return new Map(found.map(({ Names: [name = ''], State: state }) => [name.replace(/^\//, ''), state]))
}
