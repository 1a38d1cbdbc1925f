import type { Sql } from '../platform/tx.ts'

/**
 * How many entries the queue of a pool has, by chunks of places in line. The triggers of the queue add a row for every
 * statement that changes entries, so nobody waits for a counter; the sum is what is there. Folding keeps the rows few.
 */
export interface Chunk {
  band: number
  chunk: number
  open: boolean
  entries: number
  /** Bounds of eligible_at over all that ever came; null: not known. */
  sinceMinMs: number | null
  sinceMaxMs: number | null
}

/** As berth_chunk() divides. */
export const chunkSize = 2_048

export const readTally = (sql: Sql, pool: string): Promise<Chunk[]> =>
  sql.query<Chunk>(tallySql('pool = $1'), [pool], 'queue_tally')

/** Of the pools that order by priority in which these jobs wait. */
export const readTallies = (sql: Sql, jobIds: readonly string[]): Promise<(Chunk & { pool: string })[]> =>
  sql.query(tallySql(poolsOfSql), [jobIds], 'queue_tallies')

const poolsOfSql = `pool IN (SELECT q.pool FROM queue_entry q JOIN pool p ON p.name = q.pool
  WHERE q.job_id = ANY($1::text[]) AND p.policy = 'PRIORITY')`

const tallySql = (condition: string) => `
SELECT pool, band, chunk, open, sum(entries)::int AS entries, (extract(epoch FROM min(since_min)) * 1000)::bigint AS "sinceMinMs",
  (extract(epoch FROM max(since_max)) * 1000)::bigint AS "sinceMaxMs"
FROM queue_tally WHERE ${condition} GROUP BY pool, band, chunk, open HAVING sum(entries) <> 0`

/** Rows folded by one statement, and statements of one fold. */
const foldMax = 50_000
const foldsMax = 20

/** Differences of the same chunk become one row, and none where nothing is left. Safe in many processes at once. */
export async function foldTally(sql: Sql): Promise<void> {
  for (const text of [foldQueueSql, foldAccountsSql])
    for (let i = 0; i < foldsMax; i++) {
      const [row] = await sql.query<{ folded: number }>(text, [foldMax])
      if (!row || row.folded < foldMax) break
    }
}

/** What is one row already is left alone. */
const foldSql = (table: string, key: string, more: readonly [columns: string, values: string] = ['', '']) => `
WITH folded AS (
  DELETE FROM ${table} WHERE id IN (
    SELECT t.id FROM ${table} t JOIN (
      SELECT ${key} FROM ${table} GROUP BY ${key} HAVING count(*) > 1 ORDER BY count(*) DESC LIMIT $1
    ) many USING (${key}) LIMIT $1 FOR UPDATE OF t SKIP LOCKED)
  RETURNING *
),
kept AS (
  INSERT INTO ${table} (${key}, entries${more[0]})
  SELECT ${key}, sum(entries)${more[1]} FROM folded GROUP BY ${key} HAVING sum(entries) <> 0
)
SELECT count(*)::int AS folded FROM folded`

const foldQueueSql = foldSql('queue_tally', 'pool, band, chunk, open', [
  ', since_min, since_max',
  ', min(since_min), max(since_max)',
])
const foldAccountsSql = foldSql('account_tally', 'pool, part, bid, chunk')
