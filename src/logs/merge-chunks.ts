import type { Db } from '../platform/db.ts'
import { removeInBatches } from '../platform/remove-in-batches.ts'
import type { Sql } from '../platform/tx.ts'
import {
  type BytesChunk,
  type Chunk,
  type ChunkRow,
  chunkColumns,
  hasTooManySegments,
  logChunkBytesMax,
  mergedLevel,
  pack,
  readChunk,
} from './chunk.ts'

/**
 * Merges small chunks of sealed runs, and removes old ones. For readers, merging changes the time of a line by less
 * than `mergedSpanMs`, and removed output becomes a RETENTION gap.
 */

const mergedSpanMs = 1_000
/** Logs with larger chunks, on average, are not merged. */
const goodChunkBytes = 65_536
const stepChunksMax = 512

/** Finds the sealed logs of these jobs that have many small chunks. */
export async function findUnmergedLogs(sql: Sql, jobIds: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT l.run_id AS id FROM run_log l
     WHERE l.job_id = ANY($1::text[]) AND l.sealed
       AND (SELECT count(*) FROM log_chunk c WHERE c.run_id = l.run_id) > 1 + l.end_offset / ${goodChunkBytes}`,
    [jobIds],
  )
  return rows.map(({ id }) => id)
}

/** Returns by how many chunks the log shrank. Safe at any time, and if called twice. */
export async function mergeChunks(db: Db, runId: string): Promise<number> {
  let from = 0
  let saved = 0
  for (;;) {
    const step = await db.transaction((sql) => mergeStep(sql, runId, from))
    if (!step) return saved
    saved += step.saved
    from = step.next
  }
}

async function mergeStep(sql: Sql, runId: string, from: number): Promise<{ saved: number; next: number } | undefined> {
  const sealed = await sql.query('SELECT 1 FROM run_log WHERE run_id = $1 AND sealed FOR UPDATE', [runId])
  if (sealed.length === 0) return undefined
  const rows = await sql.query<ChunkRow>(
    `SELECT ${chunkColumns} FROM log_chunk c WHERE run_id = $1 AND start_offset >= $2 ORDER BY start_offset LIMIT $3`,
    [runId, from, stepChunksMax],
  )
  const last = rows.at(-1)
  if (!last) return undefined
  const groups = groupsOf(rows.map(readChunk)).filter((group) => group.length > 1)
  for (const group of groups) await replace(sql, runId, group)
  return { saved: groups.reduce((sum, group) => sum + group.length - 1, 0), next: last.end_offset }
}

function groupsOf(chunks: readonly Chunk[]): BytesChunk[][] {
  const groups: BytesChunk[][] = []
  for (const chunk of chunks) {
    const group = groups.at(-1)
    if (chunk.gap !== null) groups.push([])
    else if (group && fits(group, chunk)) group.push(chunk)
    else groups.push([chunk])
  }
  return groups
}

function fits(group: readonly BytesChunk[], chunk: BytesChunk): boolean {
  const [first] = group
  return (
    first === undefined ||
    (chunk.end - first.start <= logChunkBytesMax &&
      chunk.at.getTime() - first.at.getTime() < mergedSpanMs &&
      !hasTooManySegments([...group, chunk]))
  )
}

async function replace(sql: Sql, runId: string, group: readonly BytesChunk[]): Promise<void> {
  const [first] = group
  const last = group.at(-1)
  if (!first || !last) return
  await sql.query(
    `WITH merged AS (DELETE FROM log_chunk WHERE run_id = $1 AND start_offset > $2 AND start_offset < $3)
     UPDATE log_chunk SET end_offset = $3, segments = $4, data = $5 WHERE run_id = $1 AND start_offset = $2`,
    [
      runId,
      first.start,
      last.end,
      segmentsOf(group),
      pack(Buffer.concat(group.map(({ bytes }) => bytes)), mergedLevel),
    ],
  )
}

function segmentsOf(group: readonly BytesChunk[]): number[] {
  const merged: number[] = []
  for (const { segments } of group)
    for (let pair = 0; pair + 1 < segments.length; pair += 2) {
      const code = segments[pair] ?? 0
      const count = segments[pair + 1] ?? 0
      if (merged.at(-2) === code) merged.push((merged.pop() ?? 0) + count)
      else merged.push(code, count)
    }
  return merged
}

/** Removes chunks that were stored before a moment (null: all), and returns their number. */
export const expireLogs = (sql: Sql, jobIds: readonly string[], before: Date | null): Promise<number> =>
  removeInBatches(sql, expireSql, [jobIds, before ?? 'infinity'])

/** Removes only the beginning of a log: the chunks before the first one that is kept. */
const expireSql = `
WITH old AS (
  SELECT c.place FROM run_log l
  CROSS JOIN LATERAL (
    SELECT min(e.start_offset) AS first FROM log_chunk e
    WHERE e.run_id = l.run_id AND e.start_offset >= l.start_offset AND e.at >= $3::timestamptz) kept
  CROSS JOIN LATERAL (
    SELECT o.ctid AS place FROM log_chunk o
    WHERE o.run_id = l.run_id AND o.start_offset >= l.start_offset AND o.start_offset < coalesce(kept.first, l.end_offset)
    ORDER BY o.start_offset LIMIT $1) c
  WHERE l.job_id = ANY($2::text[]) LIMIT $1
),
gone AS (
  DELETE FROM log_chunk WHERE ctid = ANY(ARRAY(SELECT place FROM old)) RETURNING run_id, end_offset
),
moved AS (
  UPDATE run_log SET start_offset = greatest(run_log.start_offset, g.reached)
  FROM (SELECT run_id, max(end_offset) AS reached FROM gone GROUP BY run_id) g WHERE run_log.run_id = g.run_id
)
SELECT 1 FROM gone`
