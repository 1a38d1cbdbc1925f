import { stat } from 'node:fs/promises'
import { readFile } from './archive.ts'
import { begunFileOf } from './begun-file.ts'
import { type Engine, EngineError, isPodman } from './engine.ts'
import { labels } from './labels.ts'
import type { Inspected } from './observation.ts'

/**
 * dockerd without live-restore ends all containers when it stops, and when it starts after a kill: it sends TERM, and KILL
 * ten seconds later. Such a run is interrupted, whatever the exit code is. An end counts as one if dockerd served after it
 * and the first process was ended from outside. Podman has no daemon that ends containers.
 */
export async function isEndOfEngine(engine: Engine, { Id: id, State: state, Config }: Inspected): Promise<boolean> {
  if (Date.parse(state.FinishedAt) >= (await readEngineStart(engine)) || (await isPodman(engine))) return false
  const note = (await readFile(engine, id, begunFileOf(Config.Labels?.[labels.run] ?? ''))) ?? ''
  // The note of init.sh; an image without a shell has none.
  return note.includes('ended') ? note.includes('TERM') : killedCodes.includes(state.ExitCode)
}

const killedCodes: readonly number[] = [137, 143]

/** A dockerd that starts after a kill ends the containers after it made its socket, and before it serves. */
const restoreMsMax = 15_000

/** dockerd makes its default network at each start; where it has none, its socket. 0: unknown. */
async function readEngineStart(engine: Engine): Promise<number> {
  const network = await engine.get<{ Created?: string }>('/networks/bridge').catch((error: unknown) => {
    if (error instanceof EngineError) return { Created: '' }
    throw error
  })
  const createdMs = Date.parse(network.Created ?? '')
  if (createdMs > 0) return createdMs
  const socket = await stat(engine.address.replace('unix://', '')).catch(() => null)
  return socket ? socket.mtimeMs + restoreMsMax : 0
}
