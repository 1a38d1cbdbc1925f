import { type ExecutionArgs, type FieldNode, type GraphQLError, getArgumentValues } from 'graphql'
import type { Viewer } from '../../domain/access.ts'
import type { Clock } from '../../platform/clock.ts'
import { rateLimited } from '../errors.ts'

/**
 * What a user may ask of this process in a minute: cost and submissions, each a bucket that holds the amount of one
 * minute and fills evenly. A request that costs more than a bucket can hold needs a full bucket and leaves a debt, so
 * that it is delayed and not refused for ever. Each process has its own buckets: a user may spend the sum of them.
 *
 * Above `bucketsMax` the least recently used bucket is forgotten: it is full again, or nearly.
 */

export interface AllowanceLimits {
  /** null: none. */
  readonly costPerMinute: number | null
  readonly submissionsPerMinute: number | null
}

export interface Spending {
  cost: number
  submissions: number
}

export interface Allowances {
  /** Takes it from the buckets of the user, all or nothing. Throws RATE_LIMITED. */
  spend(viewer: Viewer, spending: Spending): void
  /** Users with a bucket. */
  readonly size: number
}

const minuteMs = 60_000
export const bucketsMax = 10_000

const amounts = { cost: 'costPerMinute', submissions: 'submissionsPerMinute' } as const satisfies Record<
  keyof Spending,
  keyof AllowanceLimits
>
const kinds = Object.keys(amounts) as (keyof Spending)[]

interface Bucket {
  left: Spending
  atMs: number
}

export function createAllowances(allowanceLimits: AllowanceLimits, clock: Clock): Allowances {
  const buckets = new Map<string, Bucket>()
  const perMinute = (kind: keyof Spending) => allowanceLimits[amounts[kind]] ?? Number.POSITIVE_INFINITY
  const isLimited = kinds.some((kind) => Number.isFinite(perMinute(kind)))

  /** What the bucket holds at this moment. */
  function filled({ left, atMs }: Bucket, nowMs: number): Spending {
    const of = (kind: keyof Spending) =>
      Math.min(perMinute(kind), left[kind] + (perMinute(kind) * (nowMs - atMs)) / minuteMs)
    return { cost: of('cost'), submissions: of('submissions') }
  }

  return {
    get size() {
      return buckets.size
    },
    spend({ userId }, spending) {
      if (!isLimited) return
      const nowMs = clock.monotonicMs()
      const bucket = buckets.get(userId)
      const left = bucket ? filled(bucket, nowMs) : { cost: perMinute('cost'), submissions: perMinute('submissions') }
      for (const kind of kinds) {
        const missing = Math.min(spending[kind], perMinute(kind)) - left[kind]
        if (missing > 0) throw limited(kind, perMinute(kind), missing)
      }
      // The first of the map was used the longest ago.
      buckets.delete(userId)
      const [oldest] = buckets.keys()
      if (buckets.size >= bucketsMax && oldest !== undefined) buckets.delete(oldest)
      const rest = { cost: left.cost - spending.cost, submissions: left.submissions - spending.submissions }
      buckets.set(userId, { left: rest, atMs: nowMs })
    },
  }
}

function limited(kind: keyof Spending, perMinute: number, missing: number): GraphQLError {
  const retryAfterSeconds = Math.max(1, Math.ceil((missing / perMinute) * 60))
  const what = kind === 'cost' ? `a cost of ${perMinute}` : `${perMinute} submissions`
  return rateLimited(`Your limit is ${what} per minute`, retryAfterSeconds)
}

type Counted = number | ((args: Record<string, unknown>) => number)

/** Submissions that an operation makes, by the `submissions` of its fields. */
export function submissionsOf({ schema, fields, values }: Root): number {
  const known = schema.getMutationType()?.getFields() ?? {}
  return fields.reduce((sum, node) => {
    const field = known[node.name.value]
    const counted = field?.extensions['submissions'] as Counted | undefined
    if (!field || counted === undefined) return sum
    return sum + (typeof counted === 'number' ? counted : counted(getArgumentValues(field, node, values)))
  }, 0)
}

interface Root {
  schema: ExecutionArgs['schema']
  fields: readonly FieldNode[]
  values: Record<string, unknown>
}
