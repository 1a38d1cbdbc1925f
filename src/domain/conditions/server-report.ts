import type { ServerGauges } from '../../platform/server-gauges.ts'
import type { Sql } from '../../platform/tx.ts'

export interface ServerReport {
  /** `host:pid:start`. */
  id: string
  host: string
  pid: number
  version: string
  /** A hash of the settings of each pool in its configuration. */
  pools: Readonly<Record<string, string>>
  gauges: ServerGauges
}

/** A server that has not reported for this time counts as gone. */
const aliveMs = 30_000
export const aliveServersSql = `(SELECT * FROM server_process WHERE seen_at > (SELECT berth_now()) - ${aliveMs} * interval '1 millisecond')`

/**
 * Stores the report, and claims the next evaluation. Returns the time of the claim; null: another server has evaluated
 * within `everyMs`.
 */
export async function storeServerReport(sql: Sql, report: ServerReport, everyMs: number): Promise<string | null> {
  const { id, host, pid, version, pools, gauges } = report
  const values = [id, host, pid, version, JSON.stringify(pools), JSON.stringify(gauges), everyMs]
  const [claim] = await sql.query<{ at: string }>(reportSql, values, 'server_report')
  return claim?.at ?? null
}

const reportSql = `
WITH reported AS (
  INSERT INTO server_process (id, host, pid, version, pools, gauges) VALUES ($1, $2, $3, $4, $5::text::jsonb, $6::text::jsonb)
  ON CONFLICT (id) DO UPDATE SET gauges = excluded.gauges, pools = excluded.pools, seen_at = berth_now()
)
UPDATE condition_check SET at = berth_now()
WHERE at <= berth_now() - $7 * interval '1 millisecond' OR at > berth_now() -- The clock was set back.
RETURNING at::text`

export interface ReportedGauges {
  host: string
  pid: number
  gauges: ServerGauges
}

export const readGauges = (sql: Sql): Promise<ReportedGauges[]> =>
  sql.query<ReportedGauges>(
    `SELECT host, pid, gauges FROM ${aliveServersSql} s ORDER BY host, pid LIMIT ${serversMax}`,
    [],
    'server_gauges',
  )

const serversMax = 100

export const forgetServers = (sql: Sql): Promise<unknown> =>
  sql.query(`DELETE FROM server_process WHERE seen_at < (SELECT berth_now()) - interval '1 day'`)
