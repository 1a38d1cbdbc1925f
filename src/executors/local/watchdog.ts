import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Clock } from '../../platform/clock.ts'
import { shell, watchdogScript } from './shell.ts'

/** Without it the watchdog would not know the time. */
const hasUptime = existsSync('/proc/uptime')
const restartMs = 1_000

interface WatchdogOptions {
  spoolDir: string
  /** The grace after TERM at a fallback deadline. */
  graceSeconds: number
  clock: Clock
}

/**
 * After the server dies, the watchdog sends due KILLs and TERMs (watchdog.sh): at the end of a grace, and at fallback
 * deadlines. It is started when it may be needed: for runs found at the start of the server, for a run with a deadline,
 * for a stop. Until the server is over it sleeps in a read of a pipe.
 */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #closed = new AbortController()
  #process: ChildProcess | undefined

  constructor(options: WatchdogOptions) {
    this.#options = options
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
    const { spoolDir, graceSeconds } = this.#options
    const args = ['-c', watchdogScript, 'berth-watchdog', String(graceSeconds)]
    // In the spool before `spawn` returns, so that it finds the runs also if the spool is moved at once.
    const child = spawn(shell, args, { detached: true, env: {}, cwd: spoolDir, stdio: ['pipe', 'ignore', 'ignore'] })
    const restart = () => this.#restart(child)
    child.once('exit', restart).once('error', restart)
    child.stdin?.on('error', restart)
    child.unref()
    return child
  }

  async #restart(ended: ChildProcess): Promise<void> {
    if (this.#process !== ended || this.#closed.signal.aborted) return
    this.#process = undefined
    await this.#options.clock.sleep(restartMs, this.#closed.signal)
    if (!this.#closed.signal.aborted) this.ensure()
  }
}
