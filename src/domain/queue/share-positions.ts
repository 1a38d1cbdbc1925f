import type { Sql } from '../../platform/tx.ts'
import { interactiveBand } from '../lanes.ts'
import { chunkSize, totalsSql } from './tally.ts'

/**
 * Positions of batch jobs in a pool with fair shares: behind accounts with a smaller share, and among equal shares by
 * (-bid, sequence).
 *
 * A thousand accounts with one share, or half a million entries of one account, are not counted one by one. Accounts
 * with smaller shares are summed by their totals. The tally divides accounts into sixteen parts, by bid and chunk of
 * sequences. For each part, either the accounts with the same share are counted by their rows, or the part is summed
 * and the other accounts are subtracted, whichever reads less. In the chunk that contains the job, rows are counted.
 *
 * Each row is read once for all jobs: it counts for the jobs (in the order of `sequences`) from the index `first` up to
 * `until`.
 */

export async function countAmongShares(
  sql: Sql,
  pool: string,
  jobs: readonly { jobId: string; account: string; bid: number; sequence: number }[],
): Promise<ReadonlyMap<string, number>> {
  if (jobs.length === 0) return new Map()
  const asked = jobs.map(({ jobId, account, bid, sequence }) => ({ jobId, account, bid, sequence }))
  const values = [pool, JSON.stringify(asked), chunkSize, interactiveBand]
  const rows = await sql.query<{ job: string; count: number }>(placesSql, values, 'share_places')
  return new Map(rows.map(({ job, count }) => [job, count]))
}

const askedSql = `
  SELECT row_number() OVER () AS id, each.*, sequences[cardinality(sequences)] AS last,
    ARRAY(SELECT s / $3::bigint FROM unnest(sequences) s ORDER BY 1) AS chunks
  FROM (
    SELECT coalesce(v.share, 0) AS share, a.bid,
      array_agg(a."jobId" ORDER BY a.sequence) AS jobs, array_agg(a.sequence ORDER BY a.sequence) AS sequences
    FROM jsonb_to_recordset($2::text::jsonb) AS a("jobId" text, account text, bid int, sequence bigint)
    LEFT JOIN account_view v ON v.pool = $1 AND v.account = a.account GROUP BY 1, 2
  ) each`

const accountsSql = `
  SELECT t.*, berth_part(t.account) AS part, coalesce(v.share, 0) AS share
  FROM (${totalsSql}) t LEFT JOIN account_view v ON v.pool = $1 AND v.account = t.account`

/** Assumes that reading an account costs as much as reading an entry. */
const partsSql = `
  SELECT share, part, whole - own < own AS summed FROM (
    SELECT share, part, sum(entries + 1) AS own, sum(sum(entries + 1)) OVER (PARTITION BY part) AS whole
    FROM accounts GROUP BY 1, 2
  ) each WHERE share IN (SELECT share FROM asked)`

/**
 * Lanes whose rows are counted: those with the same share, or in a part that is summed, those of the other accounts.
 */
const listedSql = `
  SELECT p.share, l.id, CASE WHEN p.summed THEN -1 ELSE 1 END AS sign
  FROM parts p JOIN accounts a ON a.part = p.part AND (a.share = p.share) <> p.summed
  JOIN lane l ON l.pool = $1 AND l.account = a.account AND NOT l.interactive`

const aheadInLaneSql =
  'q.lane_id = l.id AND q.open = ANY (ARRAY[true, false]) AND (-q.bid, q.sequence) < (-g.bid, g.last)'

const ofListedSql = `
  SELECT g.id, c.first, NULL::int AS until, sum(l.sign * c.count) AS count
  FROM asked g JOIN listed l ON l.share = g.share AND cardinality(g.sequences) > 1 CROSS JOIN LATERAL (
    SELECT CASE WHEN q.bid > g.bid THEN 0 ELSE width_bucket(q.sequence, g.sequences) END AS first, count(*) FROM queue_entry q
    WHERE ${aheadInLaneSql} GROUP BY 1
  ) c GROUP BY 1, 2`

/** Like `ofListedSql` for a single job, at half the cost. */
const ofListedOnceSql = `
  SELECT g.id, 0, NULL, sum(l.sign * c.count) AS count
  FROM asked g JOIN listed l ON l.share = g.share AND cardinality(g.sequences) = 1 CROSS JOIN LATERAL (
    SELECT count(*) FROM queue_entry q WHERE ${aheadInLaneSql}
  ) c GROUP BY 1`

const ofSummedSql = `
  SELECT g.id, CASE WHEN t.bid > g.bid THEN 0 ELSE width_bucket(t.chunk, g.chunks) END, NULL, sum(t.entries)
  FROM asked g JOIN parts p ON p.share = g.share AND p.summed JOIN account_tally t ON t.pool = $1 AND t.part = p.part
  WHERE (-t.bid, t.chunk) < (-g.bid, g.last / $3::bigint) GROUP BY 1, 2`

const ownChunksSql = `
  SELECT g.id, g.share, q.lane_id, width_bucket(q.sequence, g.sequences) AS first, width_bucket(c.chunk, g.chunks) AS until
  FROM asked g CROSS JOIN LATERAL (SELECT DISTINCT unnest(g.chunks) AS chunk) c CROSS JOIN generate_series(0, 50) b(band)
  CROSS JOIN LATERAL (SELECT lane_id, sequence FROM queue_entry WHERE pool = $1 AND band = b.band AND bid = g.bid
    AND sequence >= c.chunk * $3::bigint AND sequence < least((c.chunk + 1) * $3::bigint, g.last) OFFSET 0) q
  WHERE g.share IN (SELECT share FROM parts WHERE summed)`

const ofOwnChunksSql = `
  SELECT q.id, q.first, q.until, count(*) FROM own_chunks q JOIN lane l ON l.id = q.lane_id
  JOIN parts p ON p.share = q.share AND p.summed AND p.part = berth_part(l.account) GROUP BY 1, 2, 3`

const smallerSql = `
  SELECT share, sum(sum(entries)) OVER (ORDER BY share) - sum(entries) AS count
  FROM (SELECT share, entries FROM accounts UNION ALL SELECT share, 0 FROM asked) each GROUP BY share`

const placesSql = `
WITH asked AS MATERIALIZED (${askedSql}),
accounts AS MATERIALIZED (${accountsSql}),
parts AS MATERIALIZED (${partsSql}),
listed AS MATERIALIZED (${listedSql}),
own_chunks AS MATERIALIZED (${ownChunksSql}),
counts AS MATERIALIZED (
  ${ofListedSql} UNION ALL ${ofListedOnceSql} UNION ALL ${ofSummedSql} UNION ALL ${ofOwnChunksSql}
),
smaller AS MATERIALIZED (${smallerSql}),
interactive AS MATERIALIZED (SELECT coalesce(sum(entries), 0) AS count FROM queue_tally WHERE pool = $1 AND band = $4::int)
SELECT j.job, (interactive.count + s.count + coalesce((
    SELECT sum(c.count) FROM counts c WHERE c.id = g.id AND c.first < j.place AND (c.until IS NULL OR j.place <= c.until)
  ), 0))::int AS count
FROM asked g JOIN smaller s ON s.share = g.share CROSS JOIN interactive
CROSS JOIN LATERAL unnest(g.jobs) WITH ORDINALITY AS j(job, place)`
