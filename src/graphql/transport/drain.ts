import type { ServerResponse } from 'node:http'
import type { Clock } from '../../platform/clock.ts'
import { errorBody } from '../errors.ts'
import { partOneByOne } from './closing-streams.ts'
import { answerJson } from './refused-bodies.ts'

/**
 * The end of a server, as its callers see it: streams are cut one after the other (parting.ts) without a `complete`, so
 * that their readers come back and go on from their cursor; requests in flight may finish within `drainMsMax`, and are
 * answered UNAVAILABLE then; new ones are answered UNAVAILABLE at once, with Retry-After, on connections that close.
 * Nothing ends without an answer, except what was sent on a connection behind a request that is still in flight.
 */

export interface Drain {
  readonly isDraining: boolean
  /** Streams that are open. */
  streams(): readonly ServerResponse[]
  /** Counts the request as one in flight. false: the server is stopping, and the request has been answered so. */
  admits(response: ServerResponse): boolean
  /** Whether the drain has answered the request, whose work may still go on. */
  answered(response: ServerResponse): boolean
  run(): Promise<void>
}

/** Leaves the rest of the server time to stop within the 10 s after which supervisors kill a process. */
const drainMsDefault = 5_000
const drainPollMs = 20
/** For the last answers to leave. */
const flushMsMax = 500
const retryAfterSeconds = 2

export const stoppingText = 'The server is stopping; try again'
const lateText = 'The server stopped before the request completed; it may or may not have been carried out'

export function createDrain(clock: Clock, drainMsMax = drainMsDefault): Drain {
  const open = new Set<ServerResponse>()
  const given = new WeakSet<ServerResponse>()
  let isDraining = false

  const streams = () => [...open].filter(isStream)

  async function waitForRequests(ms: number) {
    const deadline = clock.monotonicMs() + ms
    while (open.size > streams().length && clock.monotonicMs() < deadline) await clock.sleep(drainPollMs)
  }

  return {
    get isDraining() {
      return isDraining
    },
    streams,
    admits(response) {
      if (isDraining) answerStopping(response, stoppingText)
      open.add(response)
      response.once('close', () => open.delete(response))
      return !isDraining
    },
    answered: (response) => given.has(response),
    async run() {
      isDraining = true
      const parted = partOneByOne(streams(), clock, (stream) => stream.destroy())
      await waitForRequests(drainMsMax)
      for (const response of open) {
        if (isStream(response)) continue
        given.add(response)
        if (!response.headersSent) answerStopping(response, lateText)
      }
      await waitForRequests(flushMsMax)
      await parted
      for (const begunMeanwhile of streams()) begunMeanwhile.destroy()
    },
  }
}

const isStream = (response: ServerResponse) =>
  response.headersSent && String(response.getHeader('content-type')).startsWith('text/event-stream')

function answerStopping(response: ServerResponse, message: string) {
  response.setHeader('retry-after', String(retryAfterSeconds))
  response.setHeader('connection', 'close')
  answerUnavailable(response, message)
}

export function answerUnavailable(response: ServerResponse, message: string) {
  response.setHeader('cache-control', 'no-store')
  answerJson(response, 503, errorBody('UNAVAILABLE', message))
}
