import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Clock } from '../../platform/clock.ts'
import { shell, watchdogScript } from './shell.ts'
import { deadlineGraceSeconds } from './spawn.ts'

/** Without the uptime, the watchdog does not know when an action is due. */
const hasUptime = existsSync('/proc/uptime')
const restartMs = 1_000

/**
 * The watchdog takes over after the server dies: it sends KILL and TERM when grace periods and fallback deadlines end
 * (watchdog.sh). While the server lives, it sleeps in a read of a pipe.
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

  ensure(): void {
    if (hasUptime) this.#process ??= this.#start()
  }

  close(): void {
    this.#closed.abort()
    this.#process?.stdin?.end()
  }

  #start(): ChildProcess {
    const args = ['-c', watchdogScript, 'berth-watchdog', String(deadlineGraceSeconds)]
    // The working directory is the spool, so that the watchdog finds the runs even if the spool is moved.
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
