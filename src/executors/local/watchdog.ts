import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Clock } from '../../platform/clock.ts'
import { heirScript, shell } from './shell.ts'

/**
 * Outlives this server and then does for all runs what the server would have done (heir.sh): the KILL that a stop
 * announced, and the fallback deadlines. It is started when it may be needed: for runs that were found, for a run with
 * a deadline, for a stop. Until this process is over it sleeps in a read of a pipe.
 */

export interface Heir {
  /** Starts the heir if there is none. */
  ensure(): void
  close(): void
}

/** Without it the heir would not know the time. */
const hasUptime = existsSync('/proc/uptime')
/** Pause before an heir that was killed is started again. */
const againMs = 1_000

interface HeirOptions {
  spoolDir: string
  /** Between TERM and KILL at a fallback deadline. */
  graceSeconds: number
  clock: Clock
}

export function createHeir({ spoolDir, graceSeconds, clock }: HeirOptions): Heir {
  let heir: ChildProcess | undefined
  const closed = new AbortController()

  function begin(): ChildProcess {
    const args = ['-c', heirScript, 'berth-heir', spoolDir, String(graceSeconds)]
    const child = spawn(shell, args, { detached: true, env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] })
    const again = () => beginAgain(child)
    child.once('exit', again).once('error', again)
    child.stdin?.on('error', again)
    child.unref()
    return child
  }

  async function beginAgain(ended: ChildProcess): Promise<void> {
    if (heir !== ended || closed.signal.aborted) return
    heir = undefined
    await clock.sleep(againMs, closed.signal)
    if (!closed.signal.aborted) heir ??= begin()
  }

  return {
    ensure() {
      if (hasUptime) heir ??= begin()
    },
    close() {
      closed.abort()
      heir?.stdin?.end()
    },
  }
}
