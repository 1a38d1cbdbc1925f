import { stat } from 'node:fs/promises'
import { BackendRefused } from '../backend/unreachable.ts'
import { readFile } from './archive.ts'
import { type Engine, isPodman } from './engine.ts'
import type { Inspected } from './observation.ts'
import { notePath } from './run-files.ts'

/**
 * true: dockerd or its machine ended the container. Without live-restore, dockerd ends all containers when it stops, and
 * when it starts after it was killed: TERM, and KILL ten seconds later. Such a run was interrupted, whatever its exit code.
 * Podman has no daemon.
 */
export async function wasEndedByEngine(engine: Engine, { Id: id, State: state }: Inspected): Promise<boolean> {
  if (Date.parse(state.FinishedAt) >= (await readEngineStart(engine)) || (await isPodman(engine))) return false
  const note = (await readFile(engine, { container: id, path: notePath })) ?? ''
  const [, asked, code = state.ExitCode] = /^ended( TERM)?(?: (\d+))?/.exec(note) ?? []
  // An image without a shell has no note.
  if (!note.includes('ended')) return killedCodes.includes(state.ExitCode)
  return asked !== undefined || (state.ExitCode === lostCode && Number(code) !== lostCode)
}

/** The process was gone when dockerd started, as after a restart of the machine. */
const lostCode = 255
const killedCodes: readonly number[] = [137, 143, lostCode]

/**
 * A dockerd that starts after it was killed creates its socket, ends the containers, and then serves requests. This
 * takes at most this long.
 */
const restoreMsMax = 15_000

/**
 * The time at which dockerd started: it creates its default network at each start. Without that network, the time of
 * its socket counts. 0: unknown.
 */
async function readEngineStart(engine: Engine): Promise<number> {
  const network = await engine.get<{ Created?: string }>('/networks/bridge').catch((error: unknown) => {
    if (error instanceof BackendRefused) return { Created: '' }
    throw error
  })
  const createdMs = Date.parse(network.Created ?? '')
  if (createdMs > 0) return createdMs
  if (engine.isRemote) return 0
  const socket = await stat(engine.address.replace('unix://', '')).catch(() => null)
  return socket ? socket.mtimeMs + restoreMsMax : 0
}
