import type { Sql } from '../../platform/tx.ts'

export interface FairShare {
  account: string
  /** The share that the leader computed last. Jobs are ordered by it. */
  share: number
  weight: number
  bid: number
}

/** Omits jobs of other pools and jobs that ended long ago. */
export async function readFairShares(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, FairShare>> {
  const rows = await sql.query<FairShare & { id: string }>(sharesSql, [jobIds], 'fair_shares')
  return new Map(rows.map(({ id, ...share }) => [id, share]))
}

const sharesSql = `
SELECT j.id, l.account, coalesce(a.share, 0) AS share, coalesce((p.weights->>l.account)::float8, 1) AS weight,
  CASE WHEN q.job_id IS NULL THEN coalesce((j.spec->>'bid')::int, 0) ELSE q.bid END AS bid
FROM job j JOIN pool p ON p.name = j.pool AND p.policy = 'FAIR_SHARE' JOIN lane l ON l.id = j.lane_id
LEFT JOIN account_view a ON a.pool = j.pool AND a.account = l.account LEFT JOIN queue_entry q ON q.job_id = j.id
WHERE j.id = ANY($1::text[])`
