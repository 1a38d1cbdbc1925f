import { RequestFailed, requireField } from '@berth-jobs/berth/client'
import { PoolUsageDocument, type UsageBy } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { alignFrom, chooseBucket, lengthen, type UsageRange } from './usage-range.ts'
import type { UsagePoint } from './usage-series.ts'

export interface Usage {
  bucketSeconds: number
  span: readonly [fromMs: number, toMs: number]
  /** By the chosen key. */
  byKey: readonly UsagePoint[]
  /** By pool, for what cannot be added up over keys. */
  byPool: readonly UsagePoint[]
  /** One bucket of the whole time for each key: the totals. */
  whole: readonly UsagePoint[]
}

interface Question {
  range: UsageRange
  by: UsageBy
  pool: string | undefined
}

/** The clock moves on until the server reads; the time must still be one bucket. */
const spareSeconds = 600

/** Answers have at most 1,000 points: with many keys the buckets are longer. */
export async function readUsage({ range, by, pool }: Question, signal: AbortSignal): Promise<Usage> {
  const to = range.isOpen ? null : new Date(range.toMs).toISOString()
  const read = async (key: UsageBy, bucketSeconds: number, fromMs: number) => {
    const from = new Date(fromMs).toISOString()
    const variables = { pool: pool ?? null, from, to, bucketSeconds, by: key }
    const { usage } = await client.request(PoolUsageDocument, variables, { attempts: 4, signal })
    return requireField(usage).map(({ user, team, ...point }) => ({ ...point, key: (user ?? team)?.name ?? point.key }))
  }
  for (let bucketSeconds = chooseBucket(range); ; bucketSeconds = lengthen(bucketSeconds)) {
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
