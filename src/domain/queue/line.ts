import type { Sql } from '../../platform/tx.ts'
import { computeEffectivePriority, effectivePrioritySql, type Moment, thresholdSql } from '../ageing.ts'
import { interactiveBand, type Policy, statedRunSecondsSql } from '../lanes.ts'
import { frontsSql, gatesSql, makeAfterKeySql } from './lane-fronts.ts'
import { chunkSize, readTally, type TallyChunk, totalsSql } from './tally.ts'

/**
 * Reads the queue of a pool in order, from any entry on. The sort key is (lead, -bid, sequence), smallest first. A long
 * queue is never sorted: the tally (PRIORITY) or the shares (FAIR_SHARE) show which entries can be next, and only these
 * are read. position.ts counts in the same order.
 */

export const lineJoins = `JOIN lane l ON l.id = q.lane_id JOIN pool p ON p.name = q.pool
  LEFT JOIN pool_limits pl ON pl.pool = q.pool LEFT JOIN account_view v ON v.pool = q.pool AND v.account = l.account`

export const shareSql = '1 + coalesce(v.share, 0) * 1000000000'

/** Converts a priority to the first part of the sort key: the higher the priority, the smaller the lead. */
export const toLead = (priority: number) => 51 - priority

export const leadSql = `(CASE WHEN l.interactive THEN 0 WHEN p.policy = 'FAIR_SHARE' THEN ${shareSql}
  ELSE 51 - ${effectivePrioritySql} END)::bigint`

export type LineKey = readonly [lead: number, minusBid: number, sequence: number]

export interface InLine {
  jobId: string
  lead: number
  minusBid: number
  sequence: number
  /** null: no stated maximum run time. */
  runSeconds: number | null
}

export interface Stretch {
  /** null: the beginning of the queue. */
  after: LineKey | null
  limit: number
}

export const beginning: LineKey = [-1, 0, 0]

export async function readLine(sql: Sql, pool: string, { after, limit }: Stretch): Promise<InLine[]> {
  const line = await readLineMoment(sql, pool)
  if (!line) return []
  const key = after ?? beginning
  const first =
    key[0] > 0
      ? []
      : await read(sql, 'SELECT * FROM queue_entry WHERE pool = $1 AND band = $6', {
          pool,
          key,
          limit,
          more: [interactiveBand],
        })
  const left = limit - first.length
  if (left <= 0) return first
  const rest =
    line.policy === 'FAIR_SHARE'
      ? await readShares(sql, { pool, key, limit: left, more: [] })
      : await readChunks(sql, { pool, key, limit: left, more: [] }, line)
  return [...first, ...rest]
}

export type LineMoment = Moment & { policy: Policy }

export async function readLineMoment(sql: Sql, pool: string): Promise<LineMoment | undefined> {
  const [moment] = await sql.query<LineMoment>(momentSql, [pool], 'line_moment')
  return moment
}

const momentSql = `
SELECT p.policy::text AS policy, ${thresholdSql} AS "thresholdMs", (extract(epoch FROM berth_now()) * 1000)::bigint AS "nowMs"
FROM pool p LEFT JOIN pool_limits pl ON pl.pool = p.name WHERE p.name = $1`

interface Reading {
  pool: string
  key: LineKey
  limit: number
  more: readonly unknown[]
}

async function read(sql: Sql, entries: string, { pool, key, limit, more }: Reading): Promise<InLine[]> {
  return sql.query<InLine>(lineSql(entries), [pool, ...key, limit, ...more])
}

const lineSql = (entries: string) => `
SELECT * FROM (
  SELECT q.job_id AS "jobId", ${leadSql} AS lead, -q.bid AS "minusBid", q.sequence, ${statedRunSecondsSql} AS "runSeconds"
  FROM (${entries}) q ${lineJoins}
) each WHERE (lead, "minusBid", sequence) > ($2::bigint, $3::int, $4::bigint)
ORDER BY lead, "minusBid", sequence LIMIT $5::int`

async function readChunks(sql: Sql, reading: Reading, moment: Moment): Promise<InLine[]> {
  const { pool, key, limit } = reading
  const [chunks, overridden] = await Promise.all([
    readTally(sql, pool),
    sql.query<{ band: number }>('SELECT DISTINCT priority AS band FROM lane WHERE pool = $1 AND overridden', [pool]),
  ])
  const stays = new Set(overridden.map(({ band }) => band))
  const bounds = chunks.filter(({ band }) => band !== interactiveBand).map((chunk) => boundsOf(chunk, stays, moment))
  const wanted = selectNextChunks(bounds, key, limit)
  if (wanted.length === 0) return []
  const rows = wanted.map(({ chunk: { band, chunk, open } }) => ({ band, chunk, open }))
  return read(sql, chunksSql, { ...reading, more: [JSON.stringify(rows), chunkSize] })
}

/** Reads one chunk after the other by the index, whose key has the bid (0 for these entries) before the sequence. */
const chunksSql = `SELECT e.* FROM jsonb_to_recordset($6::text::jsonb) AS c(band int, chunk bigint, open boolean)
  CROSS JOIN LATERAL (SELECT * FROM queue_entry WHERE pool = $1 AND band = c.band AND bid = 0 AND open = c.open
    AND sequence >= c.chunk * $7::bigint AND sequence < (c.chunk + 1) * $7::bigint OFFSET 0) e`

interface Bounds {
  chunk: TallyChunk
  best: LineKey
  worst: LineKey
}

function boundsOf(chunk: TallyChunk, stays: ReadonlySet<number>, moment: Moment): Bounds {
  const { band, open, sinceMinMs, sinceMaxMs } = chunk
  const at = (sinceMs: number) => computeEffectivePriority({ band, open, sinceMs, overridden: false }, moment)
  const least = stays.has(band) ? band : at(sinceMaxMs ?? moment.nowMs)
  const from = chunk.chunk * chunkSize
  return {
    chunk,
    best: [toLead(at(sinceMinMs ?? 0)), 0, from],
    worst: [toLead(least), 0, from + chunkSize - 1],
  }
}

function compare(a: LineKey, b: LineKey): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

/** Selects the chunks that may contain the next `limit` entries after a key. */
function selectNextChunks(bounds: readonly Bounds[], key: LineKey, limit: number): Bounds[] {
  const left = bounds.filter(({ worst }) => compare(worst, key) > 0).toSorted((a, b) => compare(a.worst, b.worst))
  let sure = 0
  let last: LineKey | null = null
  for (const { best, worst, chunk } of left) {
    if (compare(best, key) > 0) sure += chunk.entries
    if (sure < limit) continue
    last = worst
    break
  }
  return last === null ? left : left.filter(({ best }) => compare(best, last) <= 0)
}

const readShares = (sql: Sql, { pool, key, limit }: Reading): Promise<InLine[]> =>
  sql.query<InLine>(sharesSql, [pool, ...key, limit], 'line_of_shares')

/** Reads enough of the next accounts in order; accounts with equal shares count as one. */
const sharesSql = frontsSql({
  limit: '$5',
  lanes: `SELECT w.id AS lane_id, gate.open, next.share AS lead FROM (
      SELECT a.account, a.share,
        sum(a.queued) OVER (ORDER BY a.share) - sum(a.queued) OVER (PARTITION BY a.share) AS before FROM (
        SELECT w.account, (${shareSql})::bigint AS share,
          CASE WHEN (${shareSql})::bigint > $2::bigint THEN w.entries ELSE 0 END AS queued
        FROM (${totalsSql}) w LEFT JOIN account_view v ON v.pool = $1 AND v.account = w.account
      ) a WHERE a.share >= $2::bigint
    ) next JOIN lane w ON w.pool = $1 AND w.account = next.account AND NOT w.interactive CROSS JOIN ${gatesSql} gate
    WHERE next.before < $5::int`,
  entries: makeAfterKeySql('$2', '$3', '$4'),
})
