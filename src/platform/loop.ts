import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { backOffMs } from './retry.ts'

/**
 * Background work. `runOnce` does everything that can be done now. The loop calls it after each wake-up, and every
 * `pollMs` in case a wake-up was lost. A wake-up during a run makes the loop run once more. A failed run is retried
 * after a growing pause. `stop` waits for the current run.
 */

export interface Loop {
  start(): void
  wake(): void
  stop(): Promise<void>
}

export interface LoopOptions {
  name: string
  /** Maximum pause between runs. If it is a function, it is called after each run. */
  pollMs: number | (() => number)
  runOnce: (signal: AbortSignal) => Promise<unknown>
  clock: Clock
  log: Log
}

export function createLoop({ name, pollMs, runOnce, clock, log }: LoopOptions): Loop {
  const abort = new AbortController()
  let wakeUp: AbortController | undefined
  let woken = false
  let failures = 0
  let running: Promise<void> | undefined

  async function pass() {
    woken = false
    try {
      await runOnce(abort.signal)
      failures = 0
    } catch (error) {
      failures += 1
      if (!abort.signal.aborted)
        log.error({ err: error, loop: name, failures }, 'a pass failed; it will be tried again')
    }
  }

  async function wait() {
    if (abort.signal.aborted || (woken && failures === 0)) return
    wakeUp = new AbortController()
    const nextMs = typeof pollMs === 'number' ? pollMs : pollMs()
    const pauseMs = failures === 0 ? nextMs : backOffMs(failures, 100)
    await clock.sleep(pauseMs, wakeUp.signal)
    wakeUp = undefined
  }

  async function run() {
    while (!abort.signal.aborted) {
      await pass()
      await wait()
    }
  }

  return {
    start() {
      running ??= run()
    },
    wake() {
      woken = true
      // Without a reason, abort() would create an exception with a stack.
      if (failures === 0) wakeUp?.abort('woken')
    },
    async stop() {
      abort.abort()
      wakeUp?.abort()
      await running
    },
  }
}
