import type { Sql } from '../../platform/tx.ts'
import { dependencyMetSql } from '../jobs/dependencies.ts'
import type { ReasonCode } from '../reason.ts'

/**
 * Counts waiting jobs by reason, at a cost that does not depend on the length of the queue. The jobs of a lane wait
 * for the reason that the leader found last; jobs that it has not seen yet have NO_CAPACITY. Closed gates are read of at
 * most `gatedMax` jobs, those that open first.
 */
export interface ReasonCount {
  pool: string
  code: ReasonCode
  count: number
}

export const gatedMax = 20_000

export const countReasons = (sql: Sql, pools: readonly string[]): Promise<ReasonCount[]> =>
  sql.query<ReasonCount>(reasonsSql, [pools, gatedMax], 'queue_reasons')

const reasonsSql = `
WITH chosen AS MATERIALIZED (SELECT name AS pool FROM unnest($1::text[]) AS name),
seen AS MATERIALIZED (
  SELECT v.pool, v.waiting, coalesce(v.reason->>'code', 'NO_CAPACITY') AS code
  FROM chosen JOIN lane_view v ON v.pool = chosen.pool WHERE v.waiting > 0
),
gated AS (
  SELECT q.pool, CASE
      WHEN j.not_before > clock.now THEN 'NOT_BEFORE'
      WHEN EXISTS (SELECT FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = j.id AND NOT ${dependencyMetSql})
        THEN 'DEPENDENCY'
      WHEN l.reservation_id IS NOT NULL AND NOT coalesce(clock.now >= r.starts_at AND clock.now < r.ends_at, false)
        THEN 'RESERVATION_WINDOW'
      ELSE 'RESTART_BACKOFF' END AS code
  FROM (SELECT berth_now() AS now) clock CROSS JOIN chosen CROSS JOIN LATERAL (
    SELECT * FROM queue_entry e WHERE e.pool = chosen.pool AND NOT e.open ORDER BY e.eligible_at LIMIT $2
  ) q JOIN job j ON j.id = q.job_id JOIN lane l ON l.id = q.lane_id LEFT JOIN capacity_reservation r ON r.id = l.reservation_id
),
part AS (
  SELECT pool, code, count(*) FROM gated GROUP BY 1, 2
  UNION ALL SELECT pool, code, sum(waiting) FROM seen GROUP BY 1, 2
  UNION ALL SELECT chosen.pool, 'NO_CAPACITY', greatest(0,
      coalesce((SELECT sum(t.entries) FROM queue_tally t WHERE t.pool = chosen.pool AND t.open), 0)
      - coalesce((SELECT sum(seen.waiting) FROM seen WHERE seen.pool = chosen.pool), 0)) FROM chosen
  UNION ALL SELECT j.pool, 'APPROVAL_PENDING', count(*) FROM approval a JOIN job j ON j.id = a.job_id
    JOIN chosen ON chosen.pool = j.pool WHERE a.status = 'PENDING' AND j.state = 'BLOCKED' GROUP BY 1
)
SELECT pool, code, sum(count)::int AS count FROM part GROUP BY 1, 2 HAVING sum(count) > 0 ORDER BY count DESC, code`
