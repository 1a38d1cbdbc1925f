import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Preloaded into a measured server (delays.ts). The first SIGUSR2 starts the measurement of event-loop delays; the next
 * one writes p99 and maximum, in ms, to the file BENCH_DELAYS and stops.
 */
const resolutionMs = 10
const delays = monitorEventLoopDelay({ resolution: resolutionMs })
const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolutionMs)
let isMeasuring = false

process.on('SIGUSR2', () => {
  isMeasuring = !isMeasuring
  if (isMeasuring) return void delays.enable()
  delays.disable()
  const { BENCH_DELAYS = '' } = process.env
  const measured = { p99: late(delays.percentile(99)), max: late(delays.max) }
  writeFileSync(`${BENCH_DELAYS}.new`, JSON.stringify(measured))
  renameSync(`${BENCH_DELAYS}.new`, BENCH_DELAYS)
  delays.reset()
})
