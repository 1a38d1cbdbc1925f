import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { statedRunSecondsSql } from '../lanes.ts'
import { readNodes } from '../machines/nodes.ts'
import { readPoolReservations } from '../machines/reservations.ts'
import type { Reason } from '../reason.ts'
import { holdingSql } from '../state.ts'
import { computeFits, readWaitingShapes, type WaitingShape } from './fit.ts'
import { type ExpectedEnd, type FitQuery, findFitTime, type NodesNow, toFitKey } from './fits-at.ts'
import { type ForecastStart, readForecasts } from './forecasts.ts'
import { type InLine, readLine } from './line.ts'
import { explainWaiting, type WaitingFacts } from './why-waiting.ts'

/**
 * Estimates when a waiting job may start. p50 and p90 come from the forecast of the leader. The earliest start: all
 * gates are open, and the job fits because enough runs have reached their stated maximum run times. The latest start: all
 * runs have ended, and all jobs ahead have run one after the other; null: a run time is unknown, or too many jobs are
 * ahead. Both bounds move if jobs end sooner or other jobs join ahead. A default maximum is not used, because no
 * user stated it. If no time is known, all times are null, and the jobs without a known end are named.
 */

export interface Estimate extends Bounds {
  /** The start is as likely before this time as after it; null: no forecast. */
  p50: Date | null
  /** In nine of ten cases the job starts by this time; null: no forecast, or beyond the end of the forecast. */
  p90: Date | null
  /** Running jobs whose unknown end makes the estimate impossible. */
  unknown: readonly string[]
}

interface Bounds {
  /** null: unknown. */
  earliest: Date | null
  latest: Date | null
  basis: string
}

const unknownEnds: Bounds = {
  earliest: null,
  latest: null,
  basis: 'The job waits for others that state no maximum run time and have no earlier runs like them',
}

interface PoolNow extends NodesNow {
  front: readonly InLine[]
}

const endingsMax = 1_000
const frontMax = 1_000
/** Maximum number of reservations to read; the ones that end first. */
const reservedMax = 100

/** null: the time of the start cannot be estimated. */
export async function estimateStarts(
  domain: Domain,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, Estimate | null>> {
  const { sql } = domain.db
  const [rows, waiting, fits] = await Promise.all([
    readWaitingShapes(sql, jobIds),
    explainWaiting(domain, jobIds),
    computeFits(domain, jobIds),
  ])
  const pools = new Map(
    await Promise.all(
      [...new Set(rows.map(({ pool }) => pool))].map(async (pool) => [pool, await readPool(sql, pool)] as const),
    ),
  )
  const forecasts = await readForecasts(sql, [...pools.keys()], jobIds)
  const known = new Map<string, Date | null>()
  return new Map(
    rows.map((row) => {
      const found = waiting.get(row.jobId)
      const pool = pools.get(row.pool)
      const never = found?.reasons.some(isTimeless) ?? true
      if (never || fits.get(row.jobId)?.never || !found || !pool) return [row.jobId, null]
      const opensAt = findOpeningTime(row.now, found.gates)
      if (opensAt === null) return [row.jobId, null]
      const key = `${row.pool} ${toFitKey(row, pool, opensAt)}`
      const fitsFrom = known.has(key) ? (known.get(key) ?? null) : findFitTime(row, pool, opensAt)
      const unknown = forecasts.unknown.get(row.pool) ?? listRunsWithoutEnd(pool)
      known.set(key, fitsFrom)
      const before = pool.front.findIndex(({ jobId }) => jobId === row.jobId)
      const bounds = fitsFrom ? boundsOf(row.now, fitsFrom, pool, before) : unknown.length > 0 ? unknownEnds : null
      // The forecast ignores jobs with closed gates, and may be older than the gate.
      const isOpen = opensAt.getTime() === row.now.getTime()
      return [
        row.jobId,
        estimate(row.now, bounds, { unknown, forecast: isOpen ? forecasts.starts.get(row.jobId) : undefined }),
      ]
    }),
  )
}

export async function estimateStartOfUnstored(
  { db: { sql } }: Domain,
  {
    reasons,
    gates,
    position,
    readForecast,
    ...row
  }: FitQuery &
    Pick<WaitingShape, 'pool' | 'now'> &
    Pick<WaitingFacts, 'reasons' | 'gates'> & { position: number; readForecast: () => Promise<ForecastStart | null> },
): Promise<Estimate | null> {
  const opensAt = findOpeningTime(row.now, gates)
  if (opensAt === null || reasons.some(isTimeless)) return null
  const isOpen = opensAt.getTime() === row.now.getTime()
  const [pool, forecast] = await Promise.all([readPool(sql, row.pool), isOpen ? readForecast() : null])
  const fitsFrom = findFitTime(row, pool, opensAt)
  const before = position - 1 <= pool.front.length ? position - 1 : -1
  const unknown = listRunsWithoutEnd(pool)
  const bounds = fitsFrom ? boundsOf(row.now, fitsFrom, pool, before) : unknown.length > 0 ? unknownEnds : null
  return estimate(row.now, bounds, { unknown, forecast: forecast ?? undefined })
}

const timeless: ReadonlySet<string> = new Set([
  'APPROVAL_PENDING',
  'DEPENDENCY',
  'INTERACTIVE_QUOTA',
  'UNSATISFIABLE',
  'USER_DISABLED',
  'POOL_PAUSED',
])

/** true: the reason has no known end. This includes a limit of 0. */
const isTimeless = ({ code, limit }: Reason): boolean => timeless.has(code) || limit === 0

function findOpeningTime(now: Date, gates: WaitingFacts['gates']): Date | null {
  const closed = gates.filter(({ open }) => !open)
  if (closed.some(({ opensAt }) => opensAt === null)) return null
  return latestOf([now, ...closed.flatMap(({ opensAt }) => opensAt ?? [])])
}

/** `before`: the number of known jobs that come before the job; -1: the job is behind all known jobs. */
function boundsOf(now: Date, fitsFrom: Date, pool: PoolNow, before: number): Bounds & { earliest: Date } {
  const until = findEndOfJobsAhead(before, pool, now)
  const ahead = until ? ' and of the jobs ahead' : '; those of the jobs ahead are unknown'
  const basis = `Stated maximum run times of the running jobs${ahead}`
  return { earliest: fitsFrom, latest: until && latestOf([fitsFrom, until]), basis }
}

/** Combines bounds and forecast. If jobs end early, the forecast may be before the earliest start of the bounds. */
function estimate(
  now: Date,
  bounds: Bounds | null,
  { forecast, unknown }: { forecast: ForecastStart | undefined; unknown: readonly string[] },
): Estimate | null {
  if (!forecast) return bounds && { p50: null, p90: null, ...bounds, unknown: bounds.earliest ? [] : unknown }
  const p50 = latestOf([now, forecast.p50])
  const p90 = forecast.p90 && latestOf([p50, forecast.p90])
  const earliest = bounds?.earliest ? latestOf([now, bounds.earliest < p50 ? bounds.earliest : p50]) : now
  const latest = bounds?.latest ? latestOf([bounds.latest, p90 ?? p50]) : null
  return { p50, p90, earliest, latest, basis: forecast.basis, unknown: [] }
}

const listRunsWithoutEnd = ({ endings }: PoolNow) => endings.flatMap(({ jobId, endsAt }) => (endsAt ? [] : [jobId]))

const latestOf = (times: readonly Date[]) => new Date(Math.max(...times.map((time) => time.getTime())))

/** Time at which all jobs ahead have run one after the other; null: unknown. */
function findEndOfJobsAhead(before: number, { endings, front }: PoolNow, now: Date): Date | null {
  const ahead = front.slice(0, Math.max(0, before))
  if (before < 0 || endings.length >= endingsMax || ahead.some(({ runSeconds }) => runSeconds === null)) return null
  if (endings.some(({ endsAt }) => endsAt === null)) return null
  const free = latestOf([now, ...endings.flatMap(({ endsAt }) => endsAt ?? [])])
  const seconds = ahead.reduce((sum, { runSeconds }) => sum + (runSeconds ?? 0), 0)
  return new Date(free.getTime() + seconds * 1_000)
}

async function readPool(sql: Sql, pool: string): Promise<PoolNow> {
  const [nodes, endings, reserved, front] = await Promise.all([
    readNodes(sql, pool),
    sql.query<ExpectedEnd>(endingsSql, [pool, endingsMax], 'endings'),
    readPoolReservations(sql, pool, reservedMax),
    readLine(sql, pool, { after: null, limit: frontMax }),
  ])
  return { nodes, endings, reserved, front }
}

const endingsSql = `
SELECT r.job_id AS "jobId", coalesce(r.started_at, berth_now()) + ${statedRunSecondsSql} * interval '1 second' AS "endsAt",
  coalesce((SELECT jsonb_agg(jsonb_build_object('nodeId', a.node_id, 'node', '', 'replica', a.replica, 'cpuMillis', a.cpu_millis,
      'memoryBytes', a.memory_bytes, 'infiniband', a.infiniband, 'interactive', l.interactive,
      'gpuIds', CASE WHEN a.replica = (SELECT min(b.replica) FROM allocation b WHERE b.run_id = r.id AND b.node_id = a.node_id) THEN coalesce((SELECT jsonb_agg(c.device) FROM held_device c
        WHERE c.run_id = r.id AND c.node_id = a.node_id), '[]') ELSE '[]' END))
    FROM allocation a WHERE a.run_id = r.id), '[]') AS placements
FROM run r JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id
WHERE r.pool = $1 AND r.state IN ${holdingSql}
ORDER BY 2 NULLS LAST LIMIT $2`
