import type { ServerResponse } from 'node:http'
import { errorBody } from '../errors.ts'
import { createUnderWay } from '../in-flight.ts'
import { limits } from '../request-limits.ts'
import { answerJson } from './refused-bodies.ts'

/**
 * Requests with a large body: to parse and check one keeps the event loop for a tenth of a second, before its cost is
 * known. Few of a user are carried out at once. The wait begins when the body has arrived: one that stops holds up no other.
 */
export type LargeBodies = (sender: Sender, work: () => Promise<void>) => Promise<void>

interface Sender {
  userId: string
  bytes: number
  response: ServerResponse
}

class TooManyLarge extends Error {}

const retryAfterSeconds = 1
const text =
  `${limits.largeBodiesAtOnceMax} requests of yours above ${limits.largeBodyBytes} bytes are carried out at a time, ` +
  `and this one waited ${limits.waitMsMax / 1_000} s; try again in ${retryAfterSeconds} s`

export function createLargeBodies(): LargeBodies {
  const wait = { msMax: limits.waitMsMax, refusal: () => new TooManyLarge() }
  const inFlight = createUnderWay(limits.largeBodiesAtOnceMax, wait)
  return async ({ userId, bytes, response }, work) => {
    if (bytes <= limits.largeBodyBytes) return work()
    try {
      await inFlight(userId, 1, work)
    } catch (error) {
      if (!(error instanceof TooManyLarge)) throw error
      response.setHeader('retry-after', String(retryAfterSeconds))
      answerJson(response, 429, errorBody('RATE_LIMITED', text, { retryAfterSeconds }))
    }
  }
}
