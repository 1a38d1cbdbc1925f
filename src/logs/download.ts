import { createHash } from 'node:crypto'
import type { Sql } from '../platform/tx.ts'
import { hasStream, joinBytes, readSegments } from './chunk.ts'
import { StoredPages } from './stored-pages.ts'

/**
 * A log as a file: the stored bytes of some streams, without gaps, of one run after the other. Its size is computed
 * without reading the bytes. Output that is stored after `openRawLog` is not part of the file.
 */
export interface RawLog {
  bytes: number
  /** An entity tag of these bytes. */
  tag: string
  /** Reads from an offset of the file. If retention removes output meanwhile, the file ends early. */
  read(from: number): AsyncGenerator<Buffer, void, void>
}

interface RunRow {
  runId: string
  /** Offset of the first byte that retention has kept. */
  start: number
  end: number
  bytes: number
}

interface LogChoice {
  jobId: string
  /** Number of the run; null: all runs. */
  run: number | null
  codes: ReadonlySet<number>
}

export async function openRawLog(sql: Sql, { jobId, run, codes }: LogChoice): Promise<RawLog> {
  const runs = await sql.query<RunRow>(runsSql, [jobId, run, [...codes]], 'log_file_runs')
  return {
    bytes: runs.reduce((sum, { bytes }) => sum + bytes, 0),
    tag: hashText(JSON.stringify([runs, [...codes]])),
    async *read(from) {
      let skip = from
      for (const each of runs) {
        if (skip < each.bytes) yield* readRun(sql, each, { codes, skip })
        skip = Math.max(0, skip - each.bytes)
      }
    },
  }
}

export const hashText = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22)

async function* readRun(
  sql: Sql,
  { runId, end }: RunRow,
  { codes, skip }: { codes: ReadonlySet<number>; skip: number },
): AsyncGenerator<Buffer> {
  const [first] = await sql.query<{ offset: number; before: number }>(
    placeSql,
    [runId, end, [...codes], skip],
    'log_file_place',
  )
  let left = skip - (first?.before ?? 0)
  const pages = new StoredPages(sql, { runId, end })
  for (let offset = first?.offset ?? end; offset < end; ) {
    const stored = await pages.read(offset)
    pages.readAhead(stored)
    for (const chunk of stored) {
      if (chunk.gap !== null || chunk.start >= end || !hasStream(chunk, codes)) continue
      const bytes = joinBytes([...readSegments(chunk, codes)].map((segment) => segment.bytes))
      if (left < bytes.length) yield bytes.subarray(left)
      left = Math.max(0, left - bytes.length)
    }
    offset = stored.at(-1)?.end ?? end
  }
}

/** Number of bytes of the streams $3 in chunk c. */
const sizeSql = `(SELECT coalesce(sum(c.segments[i + 1]), 0)::bigint
  FROM generate_series(1, coalesce(array_length(c.segments, 1), 0), 2) AS i WHERE c.segments[i] = ANY($3::int[]))`

const runsSql = `
SELECT l.run_id AS "runId", l.start_offset AS start, l.end_offset AS "end",
  (SELECT coalesce(sum(${sizeSql}), 0)::bigint FROM log_chunk c WHERE c.run_id = l.run_id AND c.start_offset < l.end_offset) AS bytes
FROM run_log l WHERE l.job_id = $1 AND ($2::int IS NULL OR l.number = $2) ORDER BY l.number`

/** Finds the chunk that contains a byte, and the number of bytes before that chunk. */
const placeSql = `
WITH sized AS (
  SELECT c.start_offset, ${sizeSql} AS bytes FROM log_chunk c WHERE c.run_id = $1 AND c.start_offset < $2
), placed AS (
  SELECT start_offset, bytes, sum(bytes) OVER (ORDER BY start_offset) - bytes AS before FROM sized
)
SELECT start_offset AS "offset", before::bigint FROM placed
WHERE before + bytes > $4 ORDER BY start_offset LIMIT 1`
