import { advisoryLocks, tryLock } from '../../platform/advisory-locks.ts'
import type { Db } from '../../platform/db.ts'
import { type Sql, wholeTableMsMax, withoutNestedLoops } from '../../platform/tx.ts'

/**
 * Counts entries by chunks of sequence numbers. Triggers add a row for each statement that changes entries, so
 * transactions do not wait for a shared counter; the count is the sum of the rows. Folding merges rows, so they stay
 * few.
 */

export interface TallyChunk {
  band: number
  chunk: number
  open: boolean
  entries: number
  /** Bounds of eligible_at of all past and present entries of the chunk; null: unknown. */
  sinceMinMs: number | null
  sinceMaxMs: number | null
}

type PoolChunk = TallyChunk & { pool: string }

/** Must equal the divisor in berth_chunk(). */
export const chunkSize = 2_048

export const readTally = (sql: Sql, pool: string): Promise<TallyChunk[]> =>
  readChunksOf(sql, { pools: 'pool = $1', name: 'queue_tally' }, pool)

export const readTalliesOfJobs = (sql: Sql, jobIds: readonly string[]): Promise<PoolChunk[]> =>
  readChunksOf(sql, { pools: poolsOfSql, name: 'queue_tallies' }, jobIds)

const poolsOfSql = `pool IN (SELECT q.pool FROM queue_entry q JOIN pool p ON p.name = q.pool
  WHERE q.job_id = ANY($1::text[]) AND p.policy = 'PRIORITY')`

/** `pools`: an SQL condition on the pools; `of` is its parameter $1. */
const readChunksOf = (sql: Sql, { pools, name }: { pools: string; name: string }, of: unknown): Promise<PoolChunk[]> =>
  sql.query<PoolChunk>(tallySql(pools), [of], name)

/** Accounts with non-interactive entries in the pool $1, and the number of these entries. */
export const totalsSql = `
  SELECT account, sum(entries)::int AS entries FROM account_total WHERE pool = $1 GROUP BY account HAVING sum(entries) > 0`

const tallySql = (condition: string) => `
SELECT pool, band, chunk, open, sum(entries)::int AS entries,
  (extract(epoch FROM min(since_min)) * 1000)::bigint AS "sinceMinMs",
  (extract(epoch FROM max(since_max)) * 1000)::bigint AS "sinceMaxMs"
FROM queue_tally WHERE ${condition} GROUP BY pool, band, chunk, open HAVING sum(entries) <> 0`

const foldMax = 50_000
const foldsMax = 20
const folding = { ...withoutNestedLoops, statementMsMax: wholeTableMsMax }

/**
 * Merges the rows of a chunk. A fold takes all rows of a key or none: if only some rows cancelled out, the time bounds
 * of a waiting entry would be lost. So one process folds at a time, and takes the lock before the statement that reads.
 */
export async function foldTally(db: Db, rowsMax = foldMax): Promise<void> {
  for (const text of [foldQueueSql, foldAccountsSql, foldTotalsSql])
    for (let i = 0; i < foldsMax; i++) {
      const folded = await db.transaction((sql) => foldSome(sql, text, rowsMax), folding)
      if (folded < rowsMax) break
    }
}

async function foldSome(sql: Sql, text: string, rowsMax: number): Promise<number> {
  if (!(await tryLock(sql, advisoryLocks.tally))) return 0
  const [row] = await sql.query<{ folded: number }>(text, [rowsMax])
  return row?.folded ?? 0
}

/** SQL that merges rows with the same key. Begins with the keys that have the most rows. */
const foldSql = (table: string, key: string, more: readonly [columns: string, values: string] = ['', '']) => `
WITH many AS MATERIALIZED (
  SELECT * FROM (
    SELECT ${key}, count(*) AS count, sum(count(*)) OVER (ORDER BY count(*) DESC, ${key}) AS until
    FROM ${table} GROUP BY ${key} HAVING count(*) > 1
  ) keys WHERE until - count < $1
),
folded AS (
  DELETE FROM ${table} WHERE id IN (SELECT t.id FROM ${table} t JOIN many USING (${key}))
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
const foldTotalsSql = foldSql('account_total', 'pool, account')
