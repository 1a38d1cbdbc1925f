import type { Domain } from '../../domain/domain.ts'
import { asLeader, type Leader } from '../../domain/leadership.ts'
import { relaxed, type Sql } from '../../platform/tx.ts'
import type { Forecast } from '../plan/forecast.ts'
import { historyMax } from '../plan/run-times.ts'

const runsMax = 10_000

/** The kind of a job: jobs with the same user, name and size take about the same time. */
const kindSql = `json_build_array(j.user_id, j.name, j.cpu_millis, j.memory_bytes, j.gpu)::text`

/** Run times in milliseconds, by kind, of the latest runs that were not ended by Berth. */
export async function readHistories(sql: Sql, pool: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await sql.query<{ kind: string; history: number[] }>(
    historySql,
    [pool, runsMax, historyMax],
    'histories',
  )
  return new Map(rows.map(({ kind, history }) => [kind, history]))
}

const historySql = `
SELECT kind, array_agg(ms) AS history FROM (
  SELECT kind, ms, row_number() OVER (PARTITION BY kind ORDER BY scheduled_at DESC) AS place FROM (
    SELECT ${kindSql} AS kind, r.scheduled_at, (extract(epoch FROM r.finished_at - r.started_at) * 1000)::float8 AS ms
    FROM (SELECT * FROM run WHERE pool = $1 AND scheduled_at IS NOT NULL ORDER BY scheduled_at DESC LIMIT $2) r
    JOIN job j ON j.id = r.job_id
    WHERE r.state IN ('SUCCEEDED', 'FAILED') AND r.started_at IS NOT NULL AND r.finished_at IS NOT NULL
  ) run
) latest WHERE place <= $3 GROUP BY kind`

export async function readKinds(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (jobIds.length === 0) return new Map()
  const rows = await sql.query<{ id: string; kind: string }>(
    `SELECT j.id, ${kindSql} AS kind FROM job j WHERE j.id = ANY($1::text[])`,
    [jobIds],
    'kinds_of_jobs',
  )
  return new Map(rows.map(({ id, kind }) => [id, kind]))
}

export function storeForecast(domain: Domain, leader: Leader, { starts, ...of }: Forecast): Promise<void> {
  const rows = Object.fromEntries([...starts].map(([jobId, { p50Ms, p90Ms }]) => [jobId, [p50Ms, p90Ms]]))
  const work = async (sql: Sql) => {
    await sql.query(storeSql, [leader.pool, basisText(of), JSON.stringify(rows)], 'store_forecast')
  }
  return asLeader(domain, leader, work, relaxed)
}

const storeSql = `
INSERT INTO pool_forecast (pool, at, basis, starts) VALUES ($1, berth_now(), $2, $3::text::jsonb)
ON CONFLICT (pool) DO UPDATE SET at = excluded.at, basis = excluded.basis, starts = excluded.starts`

function basisText({ plays, basis: { history, limit, unknown } }: Omit<Forecast, 'starts'>): string {
  const parts = [
    ...(history > 0
      ? [
          `${history} ${history === 1 ? 'job runs' : 'jobs run'} as long as earlier runs like ${history === 1 ? 'it' : 'them'}`,
        ]
      : []),
    ...(limit > 0 ? [`${limit} ${limit === 1 ? 'job runs until its' : 'jobs run until their'} maximum run time`] : []),
    ...(unknown > 0 ? [`${unknown} ${unknown === 1 ? 'job has' : 'jobs have'} no known run time`] : []),
  ]
  return `The queue simulated ${plays === 1 ? 'once' : `${plays} times`}: ${parts.join(', ')}`
}
