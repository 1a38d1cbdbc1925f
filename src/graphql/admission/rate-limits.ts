import type { GraphQLError } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../domain/access.ts'
import type { Clock } from '../../platform/clock.ts'
import { rateLimited } from '../errors.ts'

export interface RateLimitConfig {
  /** Maximum cost per user and minute; null: no limit. */
  readonly costPerMinute: number | null
  readonly submissionsPerMinute: number | null
}

export interface Spending {
  cost: number
  submissions: number
}

interface Bucket {
  left: Spending
  atMs: number
}

const minuteMs = 60_000
export const bucketsMax = 10_000
const kinds = ['cost', 'submissions'] as const

/**
 * Limits cost and submissions of each user per minute. A bucket holds the amount of one minute and refills evenly. A
 * request above the whole amount needs a full bucket and leaves it negative, so it is delayed but not refused forever.
 * At most `bucketsMax` buckets are kept. The least recently used ones are removed; by then they have usually refilled.
 */
export class RateLimits {
  readonly #perMinute: Readonly<Spending>
  readonly #clock: Clock
  readonly #buckets = new LRUCache<string, Bucket>({ max: bucketsMax })

  constructor({ costPerMinute, submissionsPerMinute }: RateLimitConfig, clock: Clock) {
    this.#perMinute = { cost: costPerMinute ?? Infinity, submissions: submissionsPerMinute ?? Infinity }
    this.#clock = clock
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Takes the amounts from the user's bucket, or throws RATE_LIMITED and takes nothing. */
  spend({ userId }: Viewer, spending: Spending): void {
    const perMinute = this.#perMinute
    if (!kinds.some((kind) => Number.isFinite(perMinute[kind]))) return
    const nowMs = this.#clock.monotonicMs()
    const left = this.#fill(this.#buckets.get(userId), nowMs)
    for (const kind of kinds) {
      const missing = Math.min(spending[kind], perMinute[kind]) - left[kind]
      if (missing > 0) throw exceeded(kind, perMinute[kind], missing)
    }
    const rest = { cost: left.cost - spending.cost, submissions: left.submissions - spending.submissions }
    this.#buckets.set(userId, { left: rest, atMs: nowMs })
  }

  #fill(bucket: Bucket | undefined, nowMs: number): Spending {
    const perMinute = this.#perMinute
    if (!bucket) return perMinute
    const fill = (kind: keyof Spending) =>
      Math.min(perMinute[kind], bucket.left[kind] + (perMinute[kind] * (nowMs - bucket.atMs)) / minuteMs)
    return { cost: fill('cost'), submissions: fill('submissions') }
  }
}

function exceeded(kind: keyof Spending, perMinute: number, missing: number): GraphQLError {
  const retryAfterSeconds = Math.max(1, Math.ceil((missing / perMinute) * 60))
  const limit = kind === 'cost' ? `a cost of ${perMinute}` : `${perMinute} submissions`
  return rateLimited(`Your limit is ${limit} per minute`, retryAfterSeconds)
}
