import type { Handle } from '../executor.ts'
import { type Engine, isNotFound } from './engine.ts'
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
