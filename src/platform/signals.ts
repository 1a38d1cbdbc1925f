import type { Clock } from './clock.ts'

/** npm forwards signals, so one Ctrl-C arrives twice. */
const sameSignalMs = 2_000

/** The first signal stops the process in order, a further one at once. */
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
