import type { IncomingMessage } from 'node:http'
import type { Exchange } from './compression.ts'
import { errorBody } from './errors.ts'
import { limits } from './limits.ts'
import { createUnderWay } from './under-way.ts'
import { answerJson } from './unread.ts'

/**
 * Requests with a large body: to read, parse and check one keeps the event loop for a tenth of a second, before its cost
 * is known. Few of a sender are read and carried out at once; the bodies of further ones stay on the network.
 */
export type LargeBodies = (sender: string, exchange: Exchange, work: () => Promise<void>) => Promise<void>

class TooManyLarge extends Error {}

const retryAfterSeconds = 1
const text =
  `${limits.largeBodiesAtOnceMax} requests of yours above ${limits.largeBodyBytes} bytes are carried out at a time, ` +
  `and this one waited ${limits.waitMsMax / 1_000} s; try again in ${retryAfterSeconds} s`

export function createLargeBodies(): LargeBodies {
  const wait = { msMax: limits.waitMsMax, refusal: () => new TooManyLarge() }
  const inFlight = createUnderWay(limits.largeBodiesAtOnceMax, wait)
  return async (sender, { request, response }, work) => {
    if (!isLarge(request)) return work()
    try {
      await inFlight(sender, 1, work)
    } catch (error) {
      if (!(error instanceof TooManyLarge)) throw error
      response.setHeader('retry-after', String(retryAfterSeconds))
      answerJson(response, 429, errorBody('RATE_LIMITED', text, { retryAfterSeconds }))
    }
  }
}

/** The request of a stream is small, and may last for days. */
const isLarge = ({ headers }: IncomingMessage) =>
  headers['content-length'] === undefined
    ? headers['transfer-encoding'] !== undefined && !headers.accept?.includes('text/event-stream')
    : Number(headers['content-length']) > limits.largeBodyBytes
