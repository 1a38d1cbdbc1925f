import { RequestFailed, requireField } from '@berth-jobs/berth/client'
import { PoolUsageDocument, type UsageBy } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { alignFrom, chooseBucket, lengthenBucket, type UsageRange } from './usage-range.ts'
import type { UsagePoint } from './usage-series.ts'

export interface Usage {
  bucketSeconds: number
  span: readonly [fromMs: number, toMs: number]
  /** Usage over time by the chosen key. */
  byKey: readonly UsagePoint[]
  /** Usage over time by pool, for values that cannot be summed over keys. */
  byPool: readonly UsagePoint[]
  /** Totals: one bucket of the whole time for each key. */
  whole: readonly UsagePoint[]
}

interface Question {
  range: UsageRange
  by: UsageBy
  pool: string | undefined
}

/** Makes the bucket of the totals a little longer than the time, because the end is now and moves until the server reads. */
const spareSeconds = 600

/** Reads usage. A response has at most 1,000 points, so it retries with longer buckets if there are many keys. */
export async function readUsage({ range, by, pool }: Question, signal: AbortSignal): Promise<Usage> {
  const to = range.isOpen ? null : new Date(range.toMs).toISOString()
  const read = async (key: UsageBy, bucketSeconds: number, fromMs: number) => {
    const from = new Date(fromMs).toISOString()
    const variables = { pool: pool ?? null, from, to, bucketSeconds, by: key }
    const { usage } = await client.request(PoolUsageDocument, variables, { attempts: 4, signal })
    return requireField(usage).map(({ user, team, ...point }) => ({ ...point, key: (user ?? team)?.name ?? point.key }))
  }
  for (let bucketSeconds = chooseBucket(range); ; bucketSeconds = lengthenBucket(bucketSeconds)) {
    const fromMs = alignFrom(range, bucketSeconds)
    try {
      const [byKey, byPool] = await Promise.all([
        read(by, bucketSeconds, fromMs),
        by === 'POOL' ? null : read('POOL', bucketSeconds, fromMs),
      ])
      const wholeSeconds = Math.ceil((range.toMs - fromMs) / 1_000) + spareSeconds
      return {
        bucketSeconds,
        span: [fromMs, range.toMs],
        byKey,
        byPool: byPool ?? byKey,
        whole: await read(by, wholeSeconds, fromMs),
      }
    } catch (error) {
      const isTooMany = error instanceof RequestFailed && error.code === 'BAD_REQUEST'
      if (!isTooMany || bucketSeconds * 1_000 > range.toMs - range.fromMs) throw error
    }
  }
}
