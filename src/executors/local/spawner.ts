import { type ChildProcess, fork } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { type Failure, fromFailure } from './remote-error.ts'
import type { ShimOrder } from './spawn.ts'

/**
 * The process that starts the shims. A fork copies the page tables of its parent: 12 ms of processor time for a server
 * of 400 MiB, 1 ms for this process. It is started with the first run, and again if it ends; it ends with its server,
 * and shims go on. An order that was not answered is given again: of two shims of one run one takes the claim.
 */
export interface Spawner {
  /** Starts a shim and waits until a shim of the run has taken the claim. */
  spawn(order: ShimOrder): Promise<void>
  /** It will tell of the end of this run. */
  watches(runId: string): boolean
  close(): void
}

export type Told = { order: number; failure: Failure | null } | { ended: string }

interface Open {
  order: ShimOrder
  given: number
  answered: PromiseWithResolvers<void>
}

const program = join(import.meta.dirname, `spawner-process${extname(import.meta.filename)}`)
/** A process that takes longer is replaced. */
const answerMsMax = 30_000
const timesGivenMax = 3

export function createSpawner(spoolDir: string, clock: Clock, onEnded: (runId: string) => void): Spawner {
  const open = new Map<number, Open>()
  const watched = new Set<string>()
  let numbers = 0
  let process: ChildProcess | undefined
  let isClosed = false

  function begin(): ChildProcess {
    const child = fork(program, [spoolDir], {
      cwd: '/',
      env: {},
      execArgv: [],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.unref()
    child.channel?.unref()
    child.on('message', (told: Told) => ('ended' in told ? end(told.ended) : answer(told.order, told.failure)))
    const lose = (error: unknown) => {
      if (process !== child) return
      process = undefined
      watched.clear()
      giveAgain(error)
    }
    child.once('error', lose)
    child.once('exit', () => lose(new Error('The process that starts runs has ended')))
    return child
  }

  function answer(number: number, failure: Failure | null) {
    const each = open.get(number)
    open.delete(number)
    if (!failure) return each?.answered.resolve()
    // No later shim tells its end: the names of failed starts would stay for ever.
    if (each) watched.delete(each.order.files.runId)
    each?.answered.reject(fromFailure(failure))
  }

  function end(runId: string) {
    watched.delete(runId)
    onEnded(runId)
  }

  function giveAgain(error: unknown) {
    for (const [number, { given, answered }] of open) {
      if (given < timesGivenMax && !isClosed) give(number)
      else {
        open.delete(number)
        answered.reject(error)
      }
    }
  }

  function give(number: number) {
    const each = open.get(number)
    if (!each) return
    each.given += 1
    process ??= begin()
    // Without a channel the process is ending, and `lose` follows.
    watched.add(each.order.files.runId)
    if (process.connected) process.send({ number, order: each.order }, () => undefined)
  }

  async function watch(answered: AbortSignal) {
    while (!answered.aborted) {
      const asked = process
      await clock.sleep(answerMsMax, answered)
      if (!answered.aborted && asked === process) asked?.kill('SIGKILL')
    }
  }

  return {
    async spawn(order) {
      const number = numbers++
      const answered = Promise.withResolvers<void>()
      const isAnswered = new AbortController()
      open.set(number, { order, given: 0, answered })
      give(number)
      void watch(isAnswered.signal)
      await answered.promise.finally(() => isAnswered.abort())
    },
    watches: (runId) => watched.has(runId),
    close() {
      isClosed = true
      if (process?.connected) process.disconnect()
    },
  }
}
