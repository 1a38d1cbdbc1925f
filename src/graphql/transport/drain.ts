import type { ServerResponse } from 'node:http'
import type { Clock } from '../../platform/clock.ts'
import { closeGradually } from './closing-streams.ts'
import { sendError } from './refused-bodies.ts'

/** Default time to drain. Supervisors kill a process after 10 s, and the rest of the server needs time too. */
const drainMsDefault = 5_000
const drainPollMs = 20
const flushMsMax = 500
const retryAfterSeconds = 2

export const stoppingText = 'The server is stopping; try again'
const lateText = 'The server stopped before the request completed; it may or may not have been carried out'

/**
 * Ends requests when the server stops. Streams are cut gradually without `complete`, so that their clients resume from
 * their cursors. Requests in flight get `drainMsMax`, then UNAVAILABLE. New requests get UNAVAILABLE with Retry-After
 * at once, and their connections close. Only a pipelined request that waits behind another one ends without a response.
 */
export class Drain {
  readonly #clock: Clock
  readonly #drainMsMax: number
  readonly #open = new Set<ServerResponse>()
  readonly #ended = new WeakSet<ServerResponse>()
  #isDraining = false
  #isLeaving = false

  constructor(clock: Clock, drainMsMax = drainMsDefault) {
    this.#clock = clock
    this.#drainMsMax = drainMsMax
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  openStreams(): readonly ServerResponse[] {
    return [...this.#open].filter(isStream)
  }

  /**
   * Still serves requests, but closes each connection after its response, so that the load balancer sends the next request
   * to another server. A balancer of TCP connections would otherwise keep them at this server.
   */
  beginLeaving(): void {
    this.#isLeaving = true
  }

  /** Admits a request. false: the server is stopping, and the response was already sent. */
  admit(response: ServerResponse): boolean {
    if (this.#isLeaving) response.setHeader('connection', 'close')
    if (this.#isDraining) sendStopping(response, stoppingText)
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
    return !this.#isDraining
  }

  /** true: the drain has ended the request; its work may continue. */
  hasEnded(response: ServerResponse): boolean {
    return this.#ended.has(response)
  }

  async run(): Promise<void> {
    this.#isDraining = true
    const closed = closeGradually(this.openStreams(), this.#clock, (stream) => stream.destroy())
    await this.#waitForRequests(this.#drainMsMax)
    for (const response of this.#open) {
      if (isStream(response)) continue
      this.#ended.add(response)
      if (!response.headersSent) sendStopping(response, lateText)
    }
    await this.#waitForRequests(flushMsMax)
    await closed
    for (const begunMeanwhile of this.openStreams()) begunMeanwhile.destroy()
  }

  async #waitForRequests(ms: number) {
    const deadline = this.#clock.monotonicMs() + ms
    while (this.#open.size > this.openStreams().length && this.#clock.monotonicMs() < deadline)
      await this.#clock.sleep(drainPollMs)
  }
}

const isStream = (response: ServerResponse) =>
  response.headersSent && String(response.getHeader('content-type')).startsWith('text/event-stream')

function sendStopping(response: ServerResponse, message: string) {
  response.setHeader('retry-after', String(retryAfterSeconds))
  response.setHeader('connection', 'close')
  sendUnavailable(response, message)
}

export function sendUnavailable(response: ServerResponse, message: string) {
  response.setHeader('cache-control', 'no-store')
  sendError(response, 503, 'UNAVAILABLE', message)
}
