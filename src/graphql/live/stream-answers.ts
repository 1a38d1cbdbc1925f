import type { ExecutionResult } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { formatError, presentError } from '../errors.ts'
import { readCursor } from './event-ids.ts'

/**
 * Responses to SSE requests without a stream. An `EventSource` repeats its request after a stream has ended, but not after
 * a status other than 200.
 */

const statuses: Readonly<Record<string, number>> = {
  BAD_REQUEST: 400,
  INVALID_CURSOR: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  UNAVAILABLE: 503,
}

/** Adds statuses to the errors of a subscription, for `answerWithoutStream`. */
export const refuseStream = ({ errors = [] }: ExecutionResult, log: Log): ExecutionResult => ({
  errors: errors.map((error) => {
    const shown = presentError(error, log)
    shown.extensions['http'] ??= { status: statuses[String(shown.extensions['code'])] ?? 500 }
    return shown
  }),
})

const endedStream: ExecutionResult = { extensions: { isEnded: true } }

/** Maximum wait for the end of a stream that has already ended, unless the server is overloaded. */
const endMsMax = 250

type Events = AsyncGenerator<ExecutionResult, void, void>

/** Returns `endedStream` if no events follow `lastEventId`, for `answerWithoutStream`. */
export async function findEnded(events: Events, lastEventId: string, clock: Clock): Promise<Events | ExecutionResult> {
  const begun: ReturnType<Events['next']>[] = []
  let isSearching = true
  async function isEnd(): Promise<boolean> {
    while (isSearching) {
      const reading = events.next()
      begun.push(reading)
      const { done, value } = await reading
      if (done) return true
      // `jobStatus` and `tail` send their last message again, which does not count as a new event.
      if (readCursor(value) !== lastEventId) return false
    }
    return false
  }
  const isEnded = await Promise.race([isEnd().catch(() => false), clock.sleep(endMsMax).then(() => false)])
  isSearching = false
  if (isEnded) return endedStream
  const stream: Events = {
    ...events,
    next: () => begun.shift() ?? events.next(),
    [Symbol.asyncIterator]: () => stream,
  }
  return stream
}

export const answerWithoutStream: NonNullable<Plugin['onResultProcess']> = ({
  request,
  result,
  setResultProcessor,
}) => {
  if (Array.isArray(result) || Symbol.asyncIterator in result) return
  // A client that prefers another format gets the error in that format.
  if (!request.headers.get('accept')?.trimStart().startsWith('text/event-stream')) return
  if (result.extensions?.['isEnded']) {
    setResultProcessor((_, { Response }) => new Response(null, { status: 204 }), 'text/event-stream')
    return
  }
  const { errors = [] } = result
  const http = errors.flatMap(({ extensions }) => (extensions['http'] as Http | undefined) ?? [])
  const status = Math.max(0, ...http.map((each) => each.status ?? 0))
  if (status < 400) return
  const headers = Object.assign(
    { 'content-type': 'application/json; charset=utf-8' },
    ...http.map((each) => each.headers),
  )
  const body = JSON.stringify({ errors: errors.map((error) => formatError(error)) })
  setResultProcessor((_, { Response }) => new Response(body, { status, headers }), 'application/json')
}

interface Http {
  status?: number
  headers?: Record<string, string>
}
