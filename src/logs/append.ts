import type { Sql } from '../platform/tx.ts'
import { type Chunk, type LogPiece, type NewChunk, packChunks } from './chunk.ts'
import { type LineState, noLines } from './lines.ts'

/**
 * Writing a run's log. `openLog` answers the head: where the log ends and where its reader in the backend stands. A log
 * has no row before its first append, so a run without output stores nothing. `append` puts pieces after a head and answers the next one, in one statement that compares and sets the end: of two
 * pumps that carry the same run one writes, the other gets LogMoved, so no byte is stored twice. `seal` says that no
 * byte will follow. The caller pokes the wake-up topic `log` after the commit.
 */

export interface LogHead {
  readonly runId: string
  /** Bytes so far. */
  readonly end: number
  readonly lineState: LineState
  /** The executor's position, stored with the bytes before it. */
  readonly position: unknown
  readonly sealed: boolean
  /** It has a row. */
  readonly isStored: boolean
}

/** The head of the log of a run that has just been started for the first time. */
export const emptyLog = (runId: string): LogHead => ({
  runId,
  end: 0,
  lineState: noLines,
  position: null,
  sealed: false,
  isStored: false,
})

/** Another pump appended to this log, or sealed it: open it again for the new head. */
export class LogMoved extends Error {
  override name = 'LogMoved'
}

/** A run that is over or was removed gets no further bytes. */
export async function openLog(sql: Sql, runId: string): Promise<LogHead> {
  const [row] = await sql.query<HeadRow>(
    `SELECT l.end_offset, l.line_state, l.position, coalesce(l.sealed, r.finished_at IS NOT NULL) AS sealed
     FROM run r LEFT JOIN run_log l ON l.run_id = r.id WHERE r.id = $1`,
    [runId],
    'open_log',
  )
  if (!row?.line_state) return { ...emptyLog(runId), sealed: row?.sealed ?? true }
  const lineState = row.line_state.map(Number)
  return { runId, end: row.end_offset, lineState, position: row.position, sealed: row.sealed, isStored: true }
}

interface HeadRow {
  end_offset: number
  /** null: the log has no row. */
  line_state: readonly (string | number)[] | null
  position: unknown
  sealed: boolean
}

export interface Append {
  pieces: readonly LogPiece[]
  /** The executor's position after the last piece. */
  position: unknown
  /** logBytesPerRunMax of the configuration: what lies beyond becomes one OVER_LIMIT gap that grows. */
  bytesMax: number
  /** Gets the chunks that were stored; none if a stored gap grew instead. */
  onStored?: (chunks: Chunk[]) => void
}

/** Statements that insert so many chunks are prepared; few appends insert more. */
const preparedChunksMax = 4

export async function append(
  sql: Sql,
  head: LogHead,
  { pieces, position, bytesMax, onStored }: Append,
): Promise<LogHead> {
  const { kept, over } = cutAtLimit(pieces, Math.max(0, bytesMax - head.end))
  const { chunks, head: last } = packChunks(head, kept)
  const gap = packChunks(last, over === 0 ? [] : [{ gap: 'OVER_LIMIT', bytes: over }])
  const next = { ...head, ...gap.head, position, isStored: true }
  const all = [...chunks, ...gap.chunks]
  const rows = await sql.query<{ start: number | null; at: Date }>(
    appendSql(head, all.length),
    [head.runId, head.end, next.end, next.lineState, JSON.stringify(position ?? null), ...all.flatMap(chunkValues)],
    all.length > preparedChunksMax ? undefined : `append_log_${head.isStored ? 'more' : 'first'}_${all.length}`,
  )
  if (rows.length === 0) throw new LogMoved(`The log of ${head.runId} does not end at ${head.end} any more`)
  const times = new Map(rows.map(({ start, at }) => [start, at]))
  onStored?.(all.flatMap((chunk) => storedChunk(chunk, times.get(chunk.start))))
  return next
}

/** Without the packed bytes, which no reader needs. */
function storedChunk(chunk: NewChunk, at: Date | undefined): Chunk[] {
  if (!at) return []
  const { start, end, lineState } = chunk
  const place = { start, end, lineState, at }
  return [
    chunk.gap === null
      ? { ...place, gap: null, segments: chunk.segments, bytes: chunk.bytes }
      : { ...place, gap: chunk.gap },
  ]
}

function cutAtLimit(pieces: readonly LogPiece[], room: number): { kept: LogPiece[]; over: number } {
  const kept: LogPiece[] = []
  let left = room
  let over = 0
  for (const piece of pieces) {
    const size = 'gap' in piece ? Math.max(1, piece.bytes) : piece.bytes.length
    const fits = Math.min(size, left)
    if (fits > 0)
      kept.push('gap' in piece ? { ...piece, bytes: fits } : { ...piece, bytes: piece.bytes.subarray(0, fits) })
    left -= fits
    over += size - fits
  }
  return { kept, over }
}

/** A log over its limit already ends with the gap: the gap grows, and no row is inserted. */
function appendSql({ isStored }: LogHead, chunks: number): string {
  const rows = Array.from({ length: chunks }, (_, row) => {
    const first = 6 + row * 6
    return `($${first}::bigint, $${first + 1}::bigint, $${first + 2}::bigint[], $${first + 3}::int[], $${first + 4}::bytea, $${first + 5}::text)`
  })
  const store = `, grown AS (
      UPDATE log_chunk SET end_offset = $3 FROM moved
      WHERE log_chunk.run_id = $1 AND log_chunk.end_offset = $2 AND log_chunk.gap = 'OVER_LIMIT'
      RETURNING 1
    ), stored AS (
      INSERT INTO log_chunk (run_id, start_offset, end_offset, line_state, segments, data, gap)
      SELECT moved.run_id, v.* FROM moved, (VALUES ${rows.join(', ')}) AS v WHERE NOT EXISTS (SELECT 1 FROM grown)
      RETURNING start_offset, at
    )`
  const moved = `WITH moved AS (${isStored ? moveSql : beginSql})`
  return chunks === 0
    ? `${moved} SELECT NULL::bigint AS start, NULL::timestamptz AS at FROM moved`
    : `${moved}${store} SELECT stored.start_offset AS start, stored.at FROM moved LEFT JOIN stored ON true`
}

const moveSql = `
  UPDATE run_log SET end_offset = $3, line_state = $4, position = $5::jsonb
  WHERE run_id = $1 AND end_offset = $2 AND NOT sealed RETURNING run_id`

/** The lock waits for a transaction that ends the run at this moment: then no log begins. */
const beginSql = `
  INSERT INTO run_log (run_id, job_id, number, end_offset, line_state, position)
  SELECT id, job_id, number, $3, $4, $5::jsonb FROM run WHERE id = $1 AND finished_at IS NULL AND $2 = 0 FOR SHARE
  ON CONFLICT (run_id) DO NOTHING RETURNING run_id`

const chunkValues = (chunk: NewChunk) => [
  chunk.start,
  chunk.end,
  chunk.lineState,
  chunk.gap === null ? chunk.segments : [],
  chunk.gap === null ? chunk.data : null,
  chunk.gap,
]

/** Seals the logs of these runs: no byte will follow, and open lines end. */
export async function seal(sql: Sql, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return
  await sql.query(
    'UPDATE run_log SET sealed = true, line_state = ARRAY[line_state[1], 0, 0, 0] WHERE run_id = ANY($1::text[]) AND NOT sealed',
    [runIds],
    'seal_logs',
  )
}
