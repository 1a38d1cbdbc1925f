import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Handle } from '../executor.ts'

/**
 * KILL for runs whose grace is over. Each is tried until it was sent, unless the run is over before. When it is due is
 * stored by the backend, which plans it again after a restart.
 */

export interface Kills {
  /** Replaces an earlier plan for the run. The signal fires when the run is over, or the executor is closed. */
  plan(handle: Handle, leftMs: number): AbortSignal
  /** KILL is not due any more. */
  isOver(handle: Handle): void
}

interface KillsOptions {
  kill(handle: Handle, over: AbortSignal): Promise<void>
  clock: Clock
  log: Log
  closing: AbortSignal
}

const retryMs = 1_000

export function createKills({ kill, clock, log, closing }: KillsOptions): Kills {
  const planned = new Map<Handle, AbortController>()

  async function killLater(handle: Handle, leftMs: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(leftMs, signal)
    while (!signal.aborted)
      try {
        return await kill(handle, signal)
      } catch (err) {
        if (signal.aborted) return
        log.warn({ err, run: handle }, 'a run cannot be killed now; trying again')
        await clock.sleep(retryMs, signal)
      }
  }

  function isOver(handle: Handle): void {
    planned.get(handle)?.abort()
    planned.delete(handle)
  }

  return {
    plan(handle, leftMs) {
      isOver(handle)
      const over = new AbortController()
      planned.set(handle, over)
      const signal = AbortSignal.any([over.signal, closing])
      void killLater(handle, leftMs, signal)
      return signal
    },
    isOver,
  }
}
