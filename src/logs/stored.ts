import type { Sql } from '../platform/tx.ts'
import { type BytesChunk, type ChunkRow, chunkColumns, type GapChunk, type GapReason, readChunk } from './chunk.ts'
import type { LineState } from './lines.ts'

/** Bytes of one read; it may have one chunk more. Chunks are unpacked one by one. */
export const readBytes = 524_288
const pageChunksMax = 1_024

/** A gap in stored output. RETENTION: retention removed the bytes. */
export interface Gap extends Pick<GapChunk, 'start' | 'end'> {
  gap: GapReason | 'RETENTION'
  /** undefined: no output is stored after the gap. */
  lineState?: LineState | undefined
}
export type Stored = BytesChunk | Gap

/** Returns the buffers of chunks that may be in blocks (platform/blocks.ts). */
export const toFresh = (stored: readonly Stored[]): Buffer[] =>
  stored.flatMap((item) => (item.gap === null && item.fresh ? [item.fresh] : []))

/** Returns the chunks before an offset, and cuts the last one there. */
export function clipChunks(stored: readonly Stored[], end: number): Stored[] {
  return stored
    .filter((item) => item.start < end)
    .map((item) => {
      if (item.end <= end) return item
      if (item.gap !== null) return { ...item, end }
      const { start, at, lineState, segments } = item
      const bytes = item.bytes.subarray(0, end - start)
      return { start, end, at, lineState, segments: clipSegments(segments, bytes.length), bytes, gap: null }
    })
}

function clipSegments(segments: readonly number[], bytes: number): number[] {
  const clipped: number[] = []
  let left = bytes
  for (let pair = 0; pair + 1 < segments.length && left > 0; pair += 2) {
    const size = Math.min(left, segments[pair + 1] ?? 0)
    clipped.push(segments[pair] ?? 0, size)
    left -= size
  }
  return clipped
}

export async function readStoredChunks(
  sql: Sql,
  { runId, from, end, bytes = readBytes }: { runId: string; from: number; end: number; bytes?: number },
): Promise<Stored[]> {
  const rows = await sql.query<ChunkRow>(pageSql, [runId, from, bytes, pageChunksMax], 'log_page')
  const chunks = rows.map(readChunk).filter((chunk) => chunk.end > from)
  const [first] = chunks
  const start = first?.start ?? end
  if (start <= from) return chunks
  return [{ start: from, end: start, gap: 'RETENTION', lineState: first?.lineState }, ...chunks]
}

/** The page begins with the chunk that contains `from`, or with the oldest chunk. */
const pageSql = `
WITH first AS MATERIALIZED (
  SELECT coalesce(
    (SELECT start_offset FROM log_chunk WHERE run_id = $1 AND start_offset <= $2 ORDER BY start_offset DESC LIMIT 1),
    (SELECT min(start_offset) FROM log_chunk WHERE run_id = $1)) AS at
)
SELECT ${chunkColumns} FROM log_chunk c
WHERE c.run_id = $1 AND c.start_offset >= (SELECT at FROM first)
  AND c.start_offset < greatest((SELECT at FROM first), $2::bigint) + $3::bigint
ORDER BY c.start_offset LIMIT $4`

/**
 * Finds the offset of the next gap or output of these streams, or else the end, so that a reader of a stream with
 * little output skips the other streams.
 */
export async function findNextOutput(
  sql: Sql,
  { runId, from, end, codes }: { runId: string; from: number; end: number; codes: ReadonlySet<number> },
): Promise<number> {
  const [next] = await sql.query<{ offset: number }>(nextSql, [runId, from, [...codes]], 'log_next_output')
  return next?.offset ?? end
}

/** A segment whose length equals a code matches, too. The first chunk may contain `from`, because chunks are merged. */
const nextSql = `
SELECT greatest(start_offset, $2::bigint) AS "offset" FROM log_chunk
WHERE run_id = $1 AND (gap IS NOT NULL OR segments && $3::int[])
  AND start_offset >= coalesce((SELECT max(start_offset) FROM log_chunk WHERE run_id = $1 AND start_offset <= $2), $2)
ORDER BY start_offset LIMIT 1`

/** Maximum bytes read for one page, or to find the last lines. */
export const searchBytesMax = 33_554_432

/** A position in the log of a job. The offset counts the bytes of all streams of the run. */
export interface LogCursor {
  run: number
  offset: number
  /** `runMark` of the run; undefined: the cursor is at the start of a run. */
  mark?: string | undefined
}

const markChars = 8

/** Identifies the run: a run with the same number in another database, or before a restore, has another mark. */
export const runMark = (runId: string): string => runId.slice(-markChars)

/** Whether this database does not have the output at the cursor. */
export const isElsewhere = ({ offset, mark }: LogCursor, { log }: RunState): boolean =>
  offset > (log?.end ?? 0) || (log !== null && mark !== undefined && mark !== runMark(log.runId))

export interface RunState {
  /** null: the run has no log yet. A run that ended without output has an empty log. */
  log: { runId: string; end: number; sealed: boolean } | null
  /** Number of the next run that has a log. */
  next: number | null
  /** Whether no further run can start. */
  closed: boolean
}

/** Reads the states in one snapshot, in the order of `places`; null: the job was deleted. */
export async function readLogStates(
  sql: Sql,
  places: readonly { jobId: string; run: number }[],
): Promise<(RunState | null)[]> {
  const rows = await sql.query<StateRow>(
    statesSql,
    [places.map((place) => place.jobId), places.map((place) => place.run)],
    'log_states',
  )
  return rows.map(({ closed, run_id, end_offset, sealed, next }) =>
    closed === null
      ? null
      : {
          log: run_id === null ? null : { runId: run_id, end: end_offset ?? 0, sealed: sealed ?? false },
          next,
          closed,
        },
  )
}

interface StateRow {
  closed: boolean | null
  run_id: string | null
  end_offset: number | null
  sealed: boolean | null
  next: number | null
}

const statesSql = `
SELECT job.log_closed AS closed, coalesce(l.run_id, over.id) AS run_id, l.end_offset, coalesce(l.sealed, over.id IS NOT NULL) AS sealed,
  (SELECT min(later.number) FROM run_log later WHERE later.job_id = w.job_id AND later.number > w.number) AS next
FROM unnest($1::text[], $2::int[]) WITH ORDINALITY AS w(job_id, number, place)
LEFT JOIN job ON job.id = w.job_id
LEFT JOIN run_log l ON l.job_id = w.job_id AND l.number = w.number
LEFT JOIN run over ON over.job_id = w.job_id AND over.number = w.number AND over.finished_at IS NOT NULL AND l.run_id IS NULL
ORDER BY w.place`

/** Whether no byte can follow; with `only`, in this run. */
export function isLogOver(state: RunState, offset: number, only: number | undefined): boolean {
  const { log, next, closed } = state
  const sent = log === null ? closed : log.sealed && offset >= log.end
  return sent && (only !== undefined || (closed && next === null))
}

/** Returns the next run if this one has no more output, else null. */
export function findNextRun(state: RunState, offset: number): number | null {
  const { log, next } = state
  return log === null || (log.sealed && offset >= log.end) ? next : null
}

/** Returns the end of each job's newest log. Before a job's first byte, this is the start of run 1. */
export async function readLogEnds(sql: Sql, jobIds: readonly string[]): Promise<LogCursor[]> {
  const rows = await sql.query<LogCursor & { jobId: string; runId: string }>(
    `SELECT j.id AS "jobId", l.run_id AS "runId", l.number AS run, l.end_offset AS "offset" FROM unnest($1::text[]) AS j(id)
     CROSS JOIN LATERAL (SELECT run_id, number, end_offset FROM run_log WHERE job_id = j.id ORDER BY number DESC LIMIT 1) l`,
    [jobIds],
    'log_ends',
  )
  const ends = new Map(rows.map(({ jobId, runId, run, offset }) => [jobId, { run, offset, mark: runMark(runId) }]))
  return jobIds.map((id) => ends.get(id) ?? start)
}

/** Returns the size of the log of each run, including removed output. */
export async function readLogSizes(sql: Sql, runIds: readonly string[]): Promise<{ bytes: number; lines: number }[]> {
  const rows = await sql.query<{ runId: string; bytes: number; lines: number }>(
    'SELECT run_id AS "runId", end_offset AS bytes, line_state[1] - 1 AS lines FROM run_log WHERE run_id = ANY($1::text[])',
    [runIds],
    'log_sizes',
  )
  const sizes = new Map(rows.map(({ runId, bytes, lines }) => [runId, { bytes, lines }]))
  return runIds.map((id) => sizes.get(id) ?? { bytes: 0, lines: 0 })
}

const start: LogCursor = { run: 1, offset: 0 }

export const logEnd = async (sql: Sql, jobId: string): Promise<LogCursor> =>
  (await readLogEnds(sql, [jobId]))[0] ?? start
