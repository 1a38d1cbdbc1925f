import type { Clock } from './clock.ts'

/** Repetitions of a signal within this time count once: npm forwards signals, so one Ctrl-C arrives twice. */
const sameSignalMs = 2_000

/**
 * Ignores signals that programs send after rotating logs. By default, Node opens its debugger to every account on
 * SIGUSR1, and ends on SIGUSR2.
 */
export function ignoreUserSignals(): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined)
}

/** The first signal stops the process in order, a further one stops it at once. */
export function onStopSignal(clock: Clock, stop: (signal: string) => void): void {
  let sinceMs: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (sinceMs !== undefined && clock.monotonicMs() - sinceMs < sameSignalMs) return
      if (sinceMs !== undefined) process.exit(1)
      sinceMs = clock.monotonicMs()
      stop(signal)
    })
}
