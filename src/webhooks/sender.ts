import type { Domain } from '../domain/domain.ts'
import { type ConditionEndpoint, writeConditionDeliveries } from '../domain/webhooks/condition-fan-out.ts'
import {
  type ClaimedDelivery,
  claimDeliveries,
  expireDeliveries,
  findWork,
  recordDelivered,
  recordFailed,
  releaseClaim,
} from '../domain/webhooks/deliveries.ts'
import { disableEndpoint } from '../domain/webhooks/endpoints.ts'
import { type FanOut, writeDeliveries } from '../domain/webhooks/fan-out.ts'
import { compileChoice, type EventChoice } from '../domain/webhooks/filter.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import { Poster } from './post.ts'
import { computePauseMs, readRetryAfter } from './retry.ts'
import { signMessage } from './signature.ts'

/**
 * Sends webhooks. Every server process runs this loop. It reads all endpoints at once, and starts the deliveries of
 * each endpoint without waiting for them, so endpoints do not delay each other.
 */

export interface WebhookTarget extends EventChoice {
  readonly name: string
  readonly url: string
  readonly secrets: readonly string[]
}

export interface WebhookOptions {
  webhooks: readonly WebhookTarget[]
  publicUrl: string | null
}

const pollMs = 1_000
/** Minimum pause between two runs of the loop. */
const gapMs = 50
const expireEveryMs = 60_000
/** Maximum number of concurrent tries of one endpoint in this process. */
const triesAtOnce = 8

export function createWebhookSender(domain: Domain, { webhooks, publicUrl }: WebhookOptions): Loop {
  const { clock, log, wakeups } = domain
  const endpoints = new Map(webhooks.map((each) => [each.name, new EndpointSender(domain, each, publicUrl)]))
  let expiredMs = -Infinity

  async function runOnce(signal: AbortSignal) {
    for (const { name, hasConditions } of await findWork(domain, [...endpoints.keys()]))
      endpoints.get(name)?.start(hasConditions)
    if (clock.monotonicMs() - expiredMs >= expireEveryMs) {
      await expireDeliveries(domain, [...endpoints.keys()])
      expiredMs = clock.monotonicMs()
    }
    await clock.sleep(gapMs, signal)
  }

  const loop = createLoop({ name: 'webhooks', pollMs, runOnce, clock, log })
  const unlisten = wakeups.on('feed', loop.wake)
  return {
    ...loop,
    async stop() {
      unlisten()
      await loop.stop()
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.stop()))
    },
  }
}

class EndpointSender {
  readonly #domain: Domain
  readonly #target: WebhookTarget
  readonly #fanOut: FanOut & ConditionEndpoint
  readonly #poster: Poster
  readonly #abort = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()
  #working: Promise<void> | undefined
  #isWanted = false
  #hasConditions = false

  constructor(domain: Domain, target: WebhookTarget, publicUrl: string | null) {
    this.#domain = domain
    this.#target = target
    this.#fanOut = { name: target.name, ...compileChoice(target), publicUrl }
    this.#poster = new Poster(target.url, { clock: domain.clock, connectionsMax: triesAtOnce })
  }

  /** Starts to send due deliveries, unless this endpoint is sending already. */
  start(hasConditions: boolean): void {
    this.#isWanted = true
    if (hasConditions) this.#hasConditions = true
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  /** Aborts open tries; another server repeats them. */
  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#working
    await Promise.all(this.#inFlight)
    this.#poster.close()
  }

  async #work(): Promise<void> {
    const { log } = this.#domain
    try {
      while (this.#isWanted && !this.#abort.signal.aborted) {
        this.#isWanted = false
        if (this.#hasConditions) {
          this.#hasConditions = false
          await writeConditionDeliveries(this.#domain, this.#fanOut)
        }
        if (await writeDeliveries(this.#domain, this.#fanOut)) this.#isWanted = true
        await this.#sendDue()
      }
    } catch (error) {
      log.error({ err: error, webhook: this.#target.name }, 'cannot read or store deliveries; the next pass retries')
    }
  }

  /** Claims no more deliveries than there are free connections, so that no lease expires while a delivery waits. */
  async #sendDue(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      const free = triesAtOnce - this.#inFlight.size
      const claimed = free > 0 ? await claimDeliveries(this.#domain, this.#target.name, free) : []
      for (const delivery of claimed) this.#track(this.#send(delivery))
      if (claimed.length < free) return
      await Promise.race(this.#inFlight)
    }
  }

  #track(sending: Promise<void>) {
    const tracked = sending
      .catch((error: unknown) =>
        this.#domain.log.error({ err: error, webhook: this.#target.name }, 'cannot store the outcome of a delivery'),
      )
      .finally(() => {
        this.#inFlight.delete(tracked)
        this.#isWanted = true
      })
    this.#inFlight.add(tracked)
  }

  async #send(delivery: ClaimedDelivery): Promise<void> {
    const { time } = this.#domain
    const { name, secrets } = this.#target
    const { id, body, tries } = delivery
    const headers = signMessage({ id, body, atMs: time.nowMs() }, secrets)
    const { status, error, retryAfter } = await this.#poster.post(body, headers, this.#abort.signal)
    if (this.#abort.signal.aborted && status === null) return void (await releaseClaim(this.#domain, delivery))
    if (error === null) return void (await recordDelivered(this.#domain, id, status ?? 0))
    const retryMs = readRetryAfter(retryAfter, time.nowMs()) ?? computePauseMs(tries)
    await recordFailed(this.#domain, delivery, { status, error, retryMs })
    if (status === gone) await disableEndpoint(this.#domain, name, 'the receiver returned HTTP status 410')
  }
}

const gone = 410
