import type { Domain } from '../../domain/domain.ts'
import { statedRunSecondsSql } from '../../domain/lanes.ts'
import { type Leader, runAsLeader } from '../../domain/leadership.ts'
import { relaxed, type Sql } from '../../platform/tx.ts'
import type { Forecast } from '../plan/forecast.ts'
import type { Source } from '../plan/run-times.ts'
import { endedSql, ranMsSql } from './run-histories.ts'

/** A job that started in the past day. */
export interface PastStart {
  laneId: string
  userId: string
  eligibleMs: number
  /** null: the run has not ended. */
  ranMs: number | null
  /** The stated maximum run time; null: none, or Berth ended the run. */
  statedMs: number | null
}

const startsMax = 2_000

/** Reads the latest starts of the past day. `sinceMs`: the time from which on no start is missing. */
export async function readPastStarts(sql: Sql, pool: string): Promise<{ sinceMs: number; starts: PastStart[] }> {
  const starts = await sql.query<PastStart & { sinceMs: number }>(startsSql, [pool, startsMax], 'past_starts')
  return { sinceMs: starts[0]?.sinceMs ?? Number.POSITIVE_INFINITY, starts }
}

/** `sinceMs` is the first start of the pool, a day ago, or the oldest row if there are more than `startsMax`. */
const startsSql = `
SELECT j.lane_id AS "laneId", j.user_id AS "userId", (extract(epoch FROM j.eligible_at) * 1000)::float8 AS "eligibleMs",
  ${ranMsSql} AS "ranMs", CASE WHEN ${endedSql} THEN nullif(${statedRunSecondsSql}, 0)::float8 * 1000 END AS "statedMs",
  (extract(epoch FROM CASE WHEN count(*) OVER () = $2 THEN min(r.scheduled_at) OVER ()
    ELSE greatest((SELECT berth_now()) - interval '1 day', (SELECT min(scheduled_at) FROM run WHERE pool = $1)) END) * 1000)::float8 AS "sinceMs"
FROM (SELECT * FROM run WHERE pool = $1 AND number = 1 AND scheduled_at > (SELECT berth_now()) - interval '1 day'
  ORDER BY scheduled_at DESC LIMIT $2) r
JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id ORDER BY r.scheduled_at`

export function storeForecast(domain: Domain, leader: Leader, { starts, unknown, ...of }: Forecast): Promise<void> {
  const rows = Object.fromEntries([...starts].map(([jobId, { p50Ms, p90Ms }]) => [jobId, [p50Ms, p90Ms]]))
  const work = async (sql: Sql) => {
    await sql.query(storeSql, [leader.pool, describeBasis(of), JSON.stringify(rows), unknown], 'store_forecast')
  }
  return runAsLeader(domain, leader, work, relaxed)
}

const storeSql = `
INSERT INTO pool_forecast (pool, at, basis, starts, unknown) VALUES ($1, berth_now(), $2, $3::text::jsonb, $4::text[])
ON CONFLICT (pool) DO UPDATE SET at = excluded.at, basis = excluded.basis, starts = excluded.starts, unknown = excluded.unknown`

const sourceTexts: Readonly<Record<Source, readonly [one: string, several: string]>> = {
  history: ['job runs as long as earlier runs like it', 'jobs run as long as earlier runs like them'],
  parts: [
    'job takes the part of its maximum run time that earlier jobs took',
    'jobs take the part of their maximum run time that earlier jobs took',
  ],
  stated: ['job runs until its maximum run time', 'jobs run until their maximum run time'],
  unknown: ['job has no known run time', 'jobs have no known run time'],
}

export function describeBasis({ plays, basis, hasLater }: Pick<Forecast, 'plays' | 'basis' | 'hasLater'>): string {
  const parts = (Object.keys(sourceTexts) as Source[])
    .filter((source) => basis[source] > 0)
    .map((source) => `${basis[source]} ${sourceTexts[source][basis[source] === 1 ? 0 : 1]}`)
  if (hasLater) parts.push('others join as in the past day')
  return `The queue simulated ${plays === 1 ? 'once' : `${plays} times`}: ${parts.join(', ')}`
}
