import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname, join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { ShimOrder } from './spawn.ts'
import { decodeFailure, type Failure, type SpawnerMessage } from './spawner-messages.ts'

/**
 * The spawner is a separate process that starts the shims, because a fork of a large server is slow: 12 ms at 400 MiB,
 * against 1 ms for the spawner. It starts with the first run, is restarted if it ends, and ends with its server; shims
 * continue. An order without a response is sent again; if that starts two shims of one run, one of them takes the
 * claim.
 */

interface PendingOrder {
  order: ShimOrder
  timesSent: number
  answered: PromiseWithResolvers<void>
}

const program = join(import.meta.dirname, `spawner-process${extname(import.meta.filename)}`)
/** The compile cache of the server halves the start time of the spawner. */
const compileCache = getCompileCacheDir()
const environment = compileCache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compileCache) }
/** A spawner that takes longer to respond is restarted. */
const answerMsMax = 30_000
const timesSentMax = 3

export class Spawner {
  readonly #spoolDir: string
  readonly #clock: Clock
  readonly #onEnded: (runId: string) => void
  readonly #pending = new Map<number, PendingOrder>()
  readonly #watched = new Set<string>()
  #orders = 0
  #process: ChildProcess | undefined
  #isClosed = false

  constructor(spoolDir: string, clock: Clock, onEnded: (runId: string) => void) {
    this.#spoolDir = spoolDir
    this.#clock = clock
    this.#onEnded = onEnded
  }

  /** Starts a shim and waits until a shim of the run has taken the claim. */
  async spawn(order: ShimOrder): Promise<void> {
    const number = this.#orders++
    const answered = Promise.withResolvers<void>()
    const isAnswered = new AbortController()
    this.#pending.set(number, { order, timesSent: 0, answered })
    this.#send(number)
    void this.#replaceFrozenProcess(isAnswered.signal)
    await answered.promise.finally(() => isAnswered.abort())
  }

  /** true: the spawner will report the end of this run. */
  watches(runId: string): boolean {
    return this.#watched.has(runId)
  }

  close(): void {
    this.#isClosed = true
    if (this.#process?.connected) this.#process.disconnect()
  }

  #send(number: number): void {
    const pending = this.#pending.get(number)
    if (!pending) return
    pending.timesSent += 1
    this.#process ??= this.#startProcess()
    this.#watched.add(pending.order.files.runId)
    // Without a channel the spawner is exiting; its exit event sends the order again.
    if (this.#process.connected) this.#process.send({ number, order: pending.order }, () => undefined)
  }

  #startProcess(): ChildProcess {
    const child = fork(program, [this.#spoolDir], {
      cwd: '/',
      env: environment,
      execArgv: [],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.unref()
    child.channel?.unref()
    child.on('message', (message: SpawnerMessage) => {
      if ('ended' in message) this.#reportEnd(message.ended)
      else this.#settle(message.order, message.failure)
    })
    child.once('error', (error) => this.#loseProcess(child, error))
    child.once('exit', () => this.#loseProcess(child, new Error('The spawner process has ended')))
    return child
  }

  #reportEnd(runId: string): void {
    this.#watched.delete(runId)
    this.#onEnded(runId)
  }

  #settle(number: number, failure: Failure | null): void {
    const pending = this.#pending.get(number)
    this.#pending.delete(number)
    if (!pending) return
    if (failure) {
      // The end of this run will not be reported.
      this.#watched.delete(pending.order.files.runId)
      pending.answered.reject(decodeFailure(failure))
    } else pending.answered.resolve()
  }

  #loseProcess(child: ChildProcess, error: unknown): void {
    if (this.#process !== child) return
    this.#process = undefined
    this.#watched.clear()
    for (const [number, { timesSent, answered }] of this.#pending) {
      if (timesSent < timesSentMax && !this.#isClosed) this.#send(number)
      else {
        this.#pending.delete(number)
        answered.reject(error)
      }
    }
  }

  async #replaceFrozenProcess(answered: AbortSignal): Promise<void> {
    while (!answered.aborted) {
      const current = this.#process
      await this.#clock.sleep(answerMsMax, answered)
      if (!answered.aborted && current === this.#process) current?.kill('SIGKILL')
    }
  }
}
