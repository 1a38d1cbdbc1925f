import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { createKills } from '../backend/pending-kills.ts'
import type { Handle } from '../executor.ts'
import { type Engine, EngineError } from './engine.ts'
import { containerNameOf, type LookFor, runIdOf } from './handle.ts'
import { phaseOf } from './observation.ts'
import { openStops } from './requested-stops.ts'

/**
 * Ends a container: sends TERM to its first process, which passes it to all others (init.sh), and records when KILL is
 * due. This server or the next one sends KILL. When the first process ends, the kernel ends all other processes of the
 * container.
 */

export interface Stopper {
  stop(handle: Handle, graceMs: number): Promise<void>
  /** Whether a stop was requested. */
  isAsked(handle: Handle): Promise<boolean>
  /** The container is over: KILL is not due any more. */
  isOver(handle: Handle): void
  forget(handle: Handle): Promise<void>
}

/** Maximum wait until the first process of a container can take signals. */
const readyMsMax = 2_000
const readyLookMs = 20

interface StopOptions {
  engine: Engine
  lookFor: LookFor
  /** Directory of the records. */
  directory: string
  clock: Clock
  log: Log
  closing: AbortSignal
}

export async function createStopper(options: StopOptions): Promise<Stopper> {
  const { engine, lookFor, directory, clock, log, closing } = options
  const stops = await openStops(directory)
  const kills = createKills({ kill: (handle) => send(handle, 'KILL'), clock, log, closing })

  /** Before the first process has a child, it takes no signal, and the kernel drops TERM. */
  async function signalWhenReady(handle: Handle, pid: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < readyMsMax && (await isAlone(pid)); waitedMs += readyLookMs)
      await clock.sleep(readyLookMs)
    await send(handle, 'TERM')
  }

  /** A container that is over cannot be signalled; that is no error. One that was paused would not end. */
  async function send(handle: Handle, signal: 'TERM' | 'KILL'): Promise<void> {
    const present = await lookFor(handle)
    if (present?.State.Status === 'paused') await engine.post(`/containers/${handle}/unpause`)
    try {
      await engine.post(`/containers/${handle}/kill`, { signal })
    } catch (error) {
      const found = error instanceof EngineError ? await lookFor(handle) : null
      if (!(error instanceof EngineError) || (found && phaseOf(found.State.Status) !== 'over')) throw error
    }
  }

  const killWhenDue = (handle: Handle, killUp: number) => kills.plan(handle, Math.max(0, killUp - uptime()) * 1000)

  for (const runId of await stops.list()) killWhenDue(containerNameOf(runId), (await stops.read(runId)) ?? 0)

  return {
    async stop(handle, graceMs) {
      const found = await lookFor(handle)
      if (!found || phaseOf(found.State.Status) === 'over') return
      const runId = runIdOf(handle)
      const killUp = uptime() + graceMs / 1000
      const [recorded] = await Promise.allSettled([stops.record(runId, killUp)])
      if (graceMs > 0) await signalWhenReady(handle, found.State.Pid)
      killWhenDue(handle, (await stops.read(runId)) ?? killUp)
      // A job that fills the disk is stopped all the same. The caller tries again, until the next server would know.
      if (recorded.status === 'rejected') throw recorded.reason
    },
    isAsked: async (handle) => (await stops.read(runIdOf(handle))) !== null,
    isOver: kills.isOver,
    async forget(handle) {
      kills.isOver(handle)
      await stops.forget(runIdOf(handle))
    },
  }
}

/** Whether a process has no child; false for a process that cannot be seen from here. */
async function isAlone(pid: number): Promise<boolean> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => null)
  return children === ''
}
