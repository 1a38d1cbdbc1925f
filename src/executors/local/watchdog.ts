import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Clock } from '../../platform/clock.ts'
import { shell, watchdogScript } from './shell.ts'
import { deadlineGraceSeconds } from './spawn.ts'

/** Without it the watchdog would not know the time. */
const hasUptime = existsSync('/proc/uptime')
const restartMs = 1_000

/**
 * After the server dies, the watchdog sends KILLs and TERMs that are due at the end of a grace and at fallback
 * deadlines (watchdog.sh). Until then it sleeps in a read of a pipe.
 */
export class Watchdog {
  readonly #spoolDir: string
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #process: ChildProcess | undefined

  constructor(spoolDir: string, clock: Clock) {
    this.#spoolDir = spoolDir
    this.#clock = clock
  }

  /** Starts the watchdog unless it runs. */
  ensure(): void {
    if (hasUptime) this.#process ??= this.#start()
  }

  close(): void {
    this.#closed.abort()
    this.#process?.stdin?.end()
  }

  #start(): ChildProcess {
    const args = ['-c', watchdogScript, 'berth-watchdog', String(deadlineGraceSeconds)]
    // In the spool before `spawn` returns, so that it finds the runs also if the spool is moved at once.
    const cwd = this.#spoolDir
    const child = spawn(shell, args, { detached: true, env: {}, cwd, stdio: ['pipe', 'ignore', 'ignore'] })
    const restart = () => this.#restart(child)
    child.once('exit', restart).once('error', restart)
    child.stdin?.on('error', restart)
    child.unref()
    return child
  }

  async #restart(ended: ChildProcess): Promise<void> {
    if (this.#process !== ended || this.#closed.signal.aborted) return
    this.#process = undefined
    await this.#clock.sleep(restartMs, this.#closed.signal)
    if (!this.#closed.signal.aborted) this.ensure()
  }
}
