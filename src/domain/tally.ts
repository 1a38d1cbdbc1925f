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

export const readTally = (sql: Sql, pool: string): Promise<Chunk[]> => sql.query<Chunk>(tallySql, [pool], 'queue_tally')

const tallySql = `
SELECT band, chunk, open, sum(entries)::int AS entries, (extract(epoch FROM min(since_min)) * 1000)::bigint AS "sinceMinMs",
  (extract(epoch FROM max(since_max)) * 1000)::bigint AS "sinceMaxMs"
FROM queue_tally WHERE pool = $1 GROUP BY band, chunk, open HAVING sum(entries) <> 0`

export async function countEntries(sql: Sql, pool: string): Promise<number> {
  const [row] = await sql.query<{ entries: number }>(countSql, [pool], 'queue_length')
  return row?.entries ?? 0
}

const countSql = 'SELECT coalesce(sum(entries), 0)::int AS entries FROM queue_tally WHERE pool = $1'

/** Rows folded by one statement. */
const foldMax = 50_000

/** Differences of the same chunk become one row, and none where nothing is left. Safe in many processes at once. */
export async function foldTally(sql: Sql): Promise<void> {
  await sql.query(foldSql, [foldMax])
}

const foldSql = `
WITH folded AS (
  DELETE FROM queue_tally WHERE id IN (SELECT id FROM queue_tally ORDER BY pool, band, chunk, open LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING *
)
INSERT INTO queue_tally (pool, band, chunk, open, entries, since_min, since_max)
SELECT pool, band, chunk, open, sum(entries), min(since_min), max(since_max) FROM folded GROUP BY 1, 2, 3, 4 HAVING sum(entries) <> 0`
