import type { Sql } from '../../platform/tx.ts'

/** Forecasts that the leader computes every few seconds for the first jobs of the queue (scheduler/forecaster.ts). */
export interface ForecastStart {
  p50: Date
  /** null: beyond the end of the forecast. */
  p90: Date | null
  basis: string
}

/** Maximum age of a forecast. An older one means that the leader is gone, or that no job was waiting. */
export const forecastSecondsMax = 60

/** `unknown`: ids of running jobs without a known end, by pool. */
export interface Forecasts {
  starts: ReadonlyMap<string, ForecastStart>
  unknown: ReadonlyMap<string, readonly string[]>
}

export async function readForecasts(sql: Sql, pools: readonly string[], jobIds: readonly string[]): Promise<Forecasts> {
  const [rows, unknown] = await Promise.all([
    sql.query<ForecastStart & { jobId: string }>(forecastSql, [pools, jobIds], 'forecast_of_jobs'),
    sql.query<{ pool: string; unknown: string[] }>(unknownSql, [pools], 'forecast_unknown'),
  ])
  return {
    starts: new Map(rows.map(({ jobId, ...start }) => [jobId, start])),
    unknown: new Map(unknown.map((row) => [row.pool, row.unknown])),
  }
}

const recentSql = `f.pool = ANY($1::text[]) AND f.at > (SELECT berth_now()) - interval '${forecastSecondsMax} seconds'`

const unknownSql = `SELECT f.pool, f.unknown FROM pool_forecast f WHERE ${recentSql}`

const forecastSql = `
SELECT s.key AS "jobId", to_timestamp((s.value->>0)::float8 / 1000) AS p50, to_timestamp((s.value->>1)::float8 / 1000) AS p90, f.basis
FROM pool_forecast f CROSS JOIN LATERAL jsonb_each(f.starts) s
WHERE ${recentSql}
  AND s.key = ANY($2::text[])`
