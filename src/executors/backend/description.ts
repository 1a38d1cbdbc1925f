import type { Clock } from '../../platform/clock.ts'
import type { ExecutorDescription } from '../executor.ts'
import { isBackendError } from './unreachable.ts'

/** Maximum wait for a frozen backend when the server starts. */
const answerMsMax = 5_000
/** After a read that took this long, the next one starts after a pause of ten times its duration. */
const slowMs = 1_000
const pausePerReading = 10
const pauseMsMax = 60_000

interface Describing {
  clock: Clock
  name: string
  address: string
  read(): Promise<ExecutorDescription>
}

/**
 * Describes a backend; an unreachable backend is described as unavailable. A slow read continues, and later calls wait
 * for it: a slow backend is not read again meanwhile, nor soon afterwards.
 */
export function createDescriber({ clock, name, address, read }: Describing): () => Promise<ExecutorDescription> {
  let reading: Promise<ExecutorDescription> | null = null
  let known: { description: ExecutorDescription; untilMs: number } | null = null
  const unavailable = (why: string) => ({ version: null, available: false, message: `${name} unreachable: ${why}` })

  async function readOnce(): Promise<ExecutorDescription> {
    const beganMs = clock.monotonicMs()
    const description = await read().catch((error: unknown) => {
      if (!isBackendError(error)) throw error
      return unavailable(error.message)
    })
    const nowMs = clock.monotonicMs()
    const tookMs = nowMs - beganMs
    known = tookMs < slowMs ? null : { description, untilMs: nowMs + Math.min(pauseMsMax, pausePerReading * tookMs) }
    return description
  }

  return async () => {
    if (known && clock.monotonicMs() < known.untilMs) return known.description
    reading ??= readOnce().finally(() => {
      reading = null
    })
    const late = new AbortController()
    const timeout = clock
      .sleep(answerMsMax, late.signal)
      .then(() => unavailable(`no answer from ${address} within ${answerMsMax / 1000} s`))
    try {
      return await Promise.race([reading, timeout])
    } finally {
      late.abort()
    }
  }
}
