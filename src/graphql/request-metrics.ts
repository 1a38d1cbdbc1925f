import type { ExecutionResult } from 'graphql'
import { defineCounter, defineGauge, defineHistogram, requestBuckets } from '../platform/metrics.ts'

const requests = defineCounter({
  name: 'berth_requests_total',
  help: 'GraphQL operations by kind and outcome. refused: an error of the caller; failed: an error of the server or its database.',
  labelNames: ['kind', 'outcome'],
})

const requestTimes = defineHistogram({
  name: 'berth_request_duration_seconds',
  help: 'Time to execute queries and mutations, with their wait for the rate limits.',
  labelNames: ['kind'],
  buckets: requestBuckets,
})

const streams = defineGauge({
  name: 'berth_streams',
  help: 'Open subscriptions by field and transport.',
  labelNames: ['field', 'transport'],
})

const resets = defineCounter({
  name: 'berth_stream_resets_total',
  help: 'Messages that tell a subscriber to start again, because jobs or events were deleted.',
  labelNames: ['field'],
})

const failures = ['INTERNAL_SERVER_ERROR', 'UNAVAILABLE', 'QUERY_TIMEOUT']

function nameOutcome({ errors = [] }: ExecutionResult): string {
  if (errors.length === 0) return 'ok'
  return errors.some(({ extensions }) => failures.includes(String(extensions['code']))) ? 'failed' : 'refused'
}

type Report = (result: ExecutionResult, ms: number) => void

/** Starts to measure an operation. Pass the result through the returned function. */
export function measureRequest(
  kind: string,
  report: Report,
): <Result extends ExecutionResult>(result: Result) => Result {
  const end = requestTimes.startTimer({ kind })
  return (result) => {
    const seconds = end()
    requests.inc({ kind, outcome: nameOutcome(result) })
    report(result, seconds * 1_000)
    return result
  }
}

export function countSubscription<Result extends ExecutionResult>(result: Result): Result {
  requests.inc({ kind: 'subscription', outcome: nameOutcome(result) })
  return result
}

/** Counts a document that is not executed. */
export const countInvalidRequest = (): void => requests.inc({ kind: 'invalid', outcome: 'refused' })

/** Counts an open subscription. Call the returned function at its end. */
export function countStream(field: string, transport: 'sse' | 'websocket'): () => void {
  const labels = { field, transport }
  streams.inc(labels)
  let isOpen = true
  return () => {
    if (isOpen) streams.dec(labels)
    isOpen = false
  }
}

export function countReset(field: string, message: unknown): void {
  const isReset = typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'reset'
  if (isReset) resets.inc({ field })
}
