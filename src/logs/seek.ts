import type { Sql } from '../platform/tx.ts'
import { type ChunkRow, chunkColumns, readChunk } from './chunk.ts'
import { readLineParts } from './lines.ts'
import type { LogCursor } from './stored.ts'

/**
 * Finds a line or a moment in a log of any size. Line numbers and times grow with the offset, so a binary search over
 * the primary key finds the chunk by about thirty index rows, and needs no index that slows down appends.
 */

interface RunOfLog {
  runId: string
  number: number
}

/** Returns where a line begins, or the end of the log if it has fewer lines. Removed lines begin at 0. */
export async function findLine(
  sql: Sql,
  { jobId, run, line }: { jobId: string; run: number; line: number },
): Promise<LogCursor> {
  const [log] = await sql.query<RunOfLog>(runSql, [jobId, run], 'log_of_run')
  if (!log) return { run, offset: 0 }
  const [row] = await sql.query<ChunkRow>(chunkOfLineSql, [log.runId, line], 'log_chunk_of_line')
  if (!row) return { run, offset: 0 }
  const chunk = readChunk(row)
  const part = chunk.gap === null ? readLineParts(chunk).find((each) => each.begins && each.line === line) : undefined
  return { run, offset: part?.offset ?? chunk.end }
}

/** Returns where the first line begins that was stored at or after a moment, or else the end of the newest log. */
export async function findFirstLineAt(
  sql: Sql,
  { jobId, run, at }: { jobId: string; run: number | undefined; at: Date },
): Promise<LogCursor> {
  const [log] = await sql.query<RunOfLog & { end: number; isBefore: boolean }>(
    runOfMomentSql,
    [jobId, run ?? null, at],
    'log_run_of_moment',
  )
  if (!log) return { run: run ?? 1, offset: 0 }
  if (log.isBefore) return { run: log.number, offset: log.end }
  const [row] = await sql.query<ChunkRow>(chunkOfMomentSql, [log.runId, at], 'log_chunk_of_moment')
  if (!row) return { run: log.number, offset: log.end }
  const chunk = readChunk(row)
  const part = chunk.gap === null ? readLineParts(chunk).find((each) => each.begins) : undefined
  return { run: log.number, offset: part?.offset ?? chunk.start }
}

const runSql = 'SELECT run_id AS "runId", number FROM run_log WHERE job_id = $1 AND number = $2'

/** Finds the first run whose newest chunk was stored at or after the moment, or else the newest run. */
const runOfMomentSql = `
SELECT l.run_id AS "runId", l.number, l.end_offset AS "end", c.at IS NULL OR c.at < $3::timestamptz AS "isBefore"
FROM run_log l LEFT JOIN LATERAL (
  SELECT at FROM log_chunk WHERE run_id = l.run_id ORDER BY start_offset DESC LIMIT 1) c ON true
WHERE l.job_id = $1 AND ($2::int IS NULL OR l.number = $2)
ORDER BY "isBefore", CASE WHEN c.at >= $3::timestamptz THEN l.number ELSE -l.number END LIMIT 1`

/** A search over any offset takes fewer steps. */
const stepsMax = 64

/** `low` is the start of the first chunk for which `isBefore` is not true. */
const searchSql = (isBefore: string) => `
WITH RECURSIVE search AS (
  SELECT start_offset AS low, end_offset AS high, 0 AS step FROM run_log WHERE run_id = $1
  UNION ALL
  SELECT CASE WHEN c.is_before THEN c.end_offset ELSE s.low END, CASE WHEN c.is_before THEN s.high ELSE c.start_offset END, step + 1
  FROM search s CROSS JOIN LATERAL (
    SELECT start_offset, end_offset, ${isBefore} AS is_before FROM log_chunk
    WHERE run_id = $1 AND start_offset <= (s.low + s.high) / 2 ORDER BY start_offset DESC LIMIT 1) c
  WHERE s.low < s.high AND step < ${stepsMax}
), found AS MATERIALIZED (SELECT max(low) AS low FROM search)
SELECT ${chunkColumns} FROM log_chunk c WHERE c.run_id = $1`

/** Finds the last chunk that begins before the next line. */
const chunkOfLineSql = `${searchSql('line_state[1] <= $2')}
  AND c.start_offset < (SELECT low FROM found) ORDER BY c.start_offset DESC LIMIT 1`

const chunkOfMomentSql = `${searchSql('at < $2::timestamptz')}
  AND c.start_offset >= (SELECT low FROM found) ORDER BY c.start_offset LIMIT 1`
