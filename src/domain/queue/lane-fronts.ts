import { statedRunSecondsSql } from '../lanes.ts'

/**
 * SQL that reads the first entries of many lanes in queue order, using the index of each lane. Lanes are sorted by
 * their first entry. For the first `limit` entries overall, only the first `limit` lanes matter: at most `limit` + 1 −
 * n entries of the n-th of these lanes, and none behind the first entry of the last one.
 */

export interface Fronts {
  /** SQL whose rows have lane_id, open and lead, and the columns that `entries` uses. */
  lanes: string
  /** The condition on rows of queue_entry that selects entries of the lane `w`. It must fit the index of the lane. */
  entries: string
  limit: string
}

/**
 * Returns rows of InLine. `w.open` is unknown when PostgreSQL plans the query, which makes it use the index of the
 * lane.
 */
export function frontsSql({ lanes, entries, limit }: Fronts): string {
  const first = (many: string, until = '') => `SELECT q.bid, q.sequence FROM queue_entry q
    WHERE q.lane_id = w.lane_id AND q.open = w.open AND ${entries} ${until} ORDER BY (-q.bid), q.sequence LIMIT ${many}`
  const untilLast = `AND (-q.bid, q.sequence) <= (CASE WHEN w.lead < last.lead THEN 1 ELSE -last.bid END, last.sequence)`
  return `
WITH lanes AS MATERIALIZED (${lanes}),
heads AS MATERIALIZED (
  SELECT * FROM (
    SELECT w.*, e.bid, e.sequence, row_number() OVER (ORDER BY w.lead, -e.bid, e.sequence) AS place
    FROM lanes w CROSS JOIN LATERAL (${first('1')}) e
  ) each WHERE place <= ${limit}::int
),
last AS MATERIALIZED (
  SELECT coalesce(max(lead), ${beyond}) AS lead, coalesce(max(bid), 0) AS bid, coalesce(max(sequence), 0) AS sequence
  FROM heads WHERE place = ${limit}::int
),
page AS MATERIALIZED (
  SELECT w.lane_id, w.open, w.lead, e.bid, e.sequence FROM heads w
  CROSS JOIN last CROSS JOIN LATERAL (${first(`${limit}::int + 1 - w.place`, untilLast)}) e
  ORDER BY w.lead, -e.bid, e.sequence LIMIT ${limit}::int
)
SELECT q.job_id AS "jobId", p.lead, -p.bid AS "minusBid", p.sequence, ${statedRunSecondsSql} AS "runSeconds"
FROM page p JOIN lane l ON l.id = p.lane_id CROSS JOIN LATERAL (SELECT job_id FROM queue_entry
  WHERE lane_id = p.lane_id AND open = p.open AND (-bid, sequence) = (-p.bid, p.sequence) OFFSET 0) q
ORDER BY p.lead, -p.bid, p.sequence`
}

/** SQL condition: the entry is after a key, or its lane has a greater lead. Uses a single row comparison. */
export const makeAfterKeySql = (lead: string, minusBid: string, sequence: string): string =>
  `(-q.bid, q.sequence) > (CASE WHEN w.lead > ${lead}::bigint THEN ${beforeEveryBid} ELSE ${minusBid}::int END, ${sequence}::bigint)`

const beyond = '9223372036854775807'

const beforeEveryBid = '(-2147483648)::int'

/** SQL that selects the distinct values of `open` among the entries of the pool $1. */
export const gatesSql = '(SELECT open FROM queue_tally WHERE pool = $1 GROUP BY open HAVING sum(entries) > 0)'
