import type { Sql } from '../../platform/tx.ts'
import { demandToRead, seesAll, type Viewer } from '../access.ts'
import { InvalidInput } from '../errors.ts'
import { minuteSeconds } from './pool-use.ts'
import { estimateWait, parseWaits } from './waits.ts'

/** Use of pools over time, in buckets of equal length. A viewer who may not see all jobs gets the use of own jobs. */

export const usageKeys = ['POOL', 'ACCOUNT', 'TEAM', 'USER', 'QUEUE'] as const
export type UsageBy = (typeof usageKeys)[number]

export interface UsageRequest {
  /** null: all pools. */
  pool: string | null
  from: Date
  to: Date
  bucketSeconds: number
  by: UsageBy
}

export interface UsagePoint {
  at: Date
  by: UsageBy
  /** Name of the pool, account or queue, id of the team or user; null: no team. */
  key: string | null
  running: number
  queued: number
  blocked: number
  cpu: number
  gpu: number
  memoryBytes: number
  cpuSeconds: number
  gpuSeconds: number
  memoryByteSeconds: number
  cpuCapacity: number
  gpuCapacity: number
  memoryCapacityBytes: number
  started: number
  finished: number
  failed: number
  waitP50Seconds: number | null
  waitP95Seconds: number | null
  cost: number
  /** A pool whose currency `cost` has; null: no job cost anything, or pools have different currencies. */
  costPool: string | null
}

export const usagePointsMax = 1_000

export async function readUse(sql: Sql, viewer: Viewer, request: UsageRequest): Promise<UsagePoint[]> {
  demandToRead(viewer, 'job.view.own')
  demandBuckets(request)
  const { pool, from, to, bucketSeconds, by } = request
  const userId = seesAll(viewer) ? null : viewer.userId
  const rows = await sql.query<UsageRow>(useSql(by), [from, to, bucketSeconds, pool, userId, usagePointsMax + 1])
  if (rows.length > usagePointsMax)
    throw InvalidInput.at(
      'bucketSeconds',
      `The answer would have more than ${usagePointsMax} points; ask for longer buckets, a shorter time or one pool`,
    )
  return rows.map((row) => ({ ...toPoint(row), by }))
}

type UsageRow = Omit<UsagePoint, 'by' | 'waitP50Seconds' | 'waitP95Seconds'> & { waits: string }

function toPoint({ waits, ...row }: UsageRow): Omit<UsagePoint, 'by'> {
  const counts = parseWaits(waits)
  return {
    ...row,
    memoryBytes: Math.round(row.memoryBytes),
    memoryCapacityBytes: Math.round(row.memoryCapacityBytes),
    waitP50Seconds: estimateWait(counts, 0.5),
    waitP95Seconds: estimateWait(counts, 0.95),
  }
}

function demandBuckets({ from, to, bucketSeconds }: UsageRequest): void {
  if (bucketSeconds < minuteSeconds)
    throw InvalidInput.at('bucketSeconds', `Must be at least ${minuteSeconds}: pools are measured once a minute`)
  const seconds = (to.getTime() - from.getTime()) / 1_000
  if (seconds <= 0) throw InvalidInput.at('to', 'Must be after `from`')
  if (seconds > bucketSeconds * usagePointsMax)
    throw InvalidInput.at(
      'bucketSeconds',
      `Must be at least ${Math.ceil(seconds / usagePointsMax)}: an answer has at most ${usagePointsMax} points`,
    )
}

const keyColumns = {
  POOL: 'pool',
  ACCOUNT: 'account',
  TEAM: 'team_id',
  USER: 'user_id',
  QUEUE: 'queue',
} as const satisfies Record<UsageBy, string>

/** SQL of the pool whose capacity a point has; empty: the capacity of all requested pools. */
const capacityPool = (by: UsageBy) => (by === 'POOL' ? 'pool' : "''")

/** SQL of a point without jobs for every measured bucket of a pool. */
const idleSql = (by: UsageBy) =>
  by === 'POOL' ? `UNION ALL SELECT pool, bucket, pool, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM period` : ''

const inTimeSql = `at >= $1::timestamptz AND at < $2::timestamptz AND ($4::text IS NULL OR pool = $4)`
const bucketSql = 'floor(extract(epoch FROM at - $1::timestamptz) / $3::int)::int'

const currencySql = `(SELECT rates->>'currency' FROM pool WHERE name = u.pool)`

const useSql = (by: UsageBy) => `
WITH period AS MATERIALIZED (
  SELECT pool, ${bucketSql} AS bucket, sum(measured_seconds) AS seconds,
    sum(cpu_seconds) / sum(measured_seconds) AS cpu, sum(gpu_seconds) / sum(measured_seconds) AS gpu,
    sum(memory_byte_seconds) / sum(measured_seconds) AS memory
  FROM pool_period WHERE ${inTimeSql} GROUP BY 1, 2
),
capacity AS (
  SELECT ${capacityPool(by)} AS pool, bucket, sum(cpu) AS cpu, sum(gpu) AS gpu, sum(memory) AS memory
  FROM period GROUP BY 1, 2
),
used AS (
  SELECT pool, ${bucketSql} AS bucket, ${keyColumns[by]} AS key, sum(running_seconds) AS running, sum(queued_seconds) AS queued,
    sum(blocked_seconds) AS blocked, sum(cpu_seconds) AS cpu, sum(gpu_seconds) AS gpu, sum(memory_byte_seconds) AS memory,
    sum(started) AS started, sum(finished) AS finished, sum(failed) AS failed, sum(cost) AS cost, sum(waits) AS waits
  FROM pool_use WHERE ${inTimeSql} AND ($5::text IS NULL OR user_id = $5) GROUP BY 1, 2, 3
  ${idleSql(by)}
),
point AS (
  SELECT u.bucket, u.key, ${capacityPool(by) === 'pool' ? 'u.pool' : "''"} AS pool, sum(u.running / p.seconds) AS running,
    sum(u.queued / p.seconds) AS queued, sum(u.blocked / p.seconds) AS blocked, sum(u.cpu / p.seconds) AS cpu,
    sum(u.gpu / p.seconds) AS gpu, sum(u.memory / p.seconds) AS memory,
    sum(u.cpu) AS cpu_seconds, sum(u.gpu) AS gpu_seconds, sum(u.memory) AS memory_seconds,
    sum(u.started)::int AS started, sum(u.finished)::int AS finished, sum(u.failed)::int AS failed, sum(u.cost) AS cost, sum(u.waits) AS waits,
    CASE WHEN count(DISTINCT ${currencySql}) FILTER (WHERE u.cost > 0) <= 1 THEN min(u.pool) FILTER (WHERE u.cost > 0) END AS cost_pool
  FROM used u JOIN period p ON p.pool = u.pool AND p.bucket = u.bucket
  GROUP BY 1, 2, 3 ORDER BY 1, 2 LIMIT $6
)
SELECT $1::timestamptz + p.bucket * ($3::int * interval '1 second') AS at, nullif(p.key, '') AS key, p.running, p.queued, p.blocked,
  p.cpu, p.gpu, p.memory AS "memoryBytes", p.cpu_seconds AS "cpuSeconds", p.gpu_seconds AS "gpuSeconds",
  p.memory_seconds AS "memoryByteSeconds", c.cpu AS "cpuCapacity", c.gpu AS "gpuCapacity", c.memory AS "memoryCapacityBytes",
  p.started, p.finished, p.failed, p.cost, p.cost_pool AS "costPool", p.waits::text AS waits
FROM point p JOIN capacity c ON c.pool = p.pool AND c.bucket = p.bucket
ORDER BY p.bucket, key`
