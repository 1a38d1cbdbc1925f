import { createBatcher } from '../platform/batch.ts'
import { isUnavailable, readSqlState, type Sql } from '../platform/tx.ts'
import { type Chunk, type LogPiece, type NewChunk, packChunks } from './chunk.ts'
import { type LineState, noLines } from './lines.ts'

/**
 * Writes the log of a run, up to `logBytesPerRunMax`. The first append creates the row of the log, so a run without
 * output stores nothing. An append compares and sets the end of the log in one statement: if two pumps carry the same
 * run, one writes and the other gets LogMoved, so no byte is stored twice. The caller pokes the topic `log` after the
 * commit.
 */

export interface LogHead {
  readonly runId: string
  readonly end: number
  readonly lineState: LineState
  /** The executor's read position, stored with the bytes before it. */
  readonly position: unknown
  readonly sealed: boolean
  readonly isStored: boolean
}

/** The log of a run that was just started for the first time. */
export const makeEmptyLog = (runId: string): LogHead => ({
  runId,
  end: 0,
  lineState: noLines,
  position: null,
  sealed: false,
  isStored: false,
})

/** Another pump appended to this log, or sealed it. */
export class LogMoved extends Error {
  override name = 'LogMoved'
}

/** Reads the end of the log. The log of a run that has ended, or was removed, is sealed. */
export async function openLog(sql: Sql, runId: string): Promise<LogHead> {
  const [row] = await sql.query<HeadRow>(
    `SELECT l.end_offset, l.line_state, l.position, coalesce(l.sealed, r.finished_at IS NOT NULL) AS sealed
     FROM run r LEFT JOIN run_log l ON l.run_id = r.id WHERE r.id = $1`,
    [runId],
    'open_log',
  )
  if (!row?.line_state) return { ...makeEmptyLog(runId), sealed: row?.sealed ?? true }
  const lineState = row.line_state.map(Number)
  return { runId, end: row.end_offset, lineState, position: row.position, sealed: row.sealed, isStored: true }
}

interface HeadRow {
  end_offset: number
  line_state: readonly (string | number)[] | null
  position: unknown
  sealed: boolean
}

export interface Append {
  pieces: readonly LogPiece[]
  position: unknown
  /** Maximum size of the log. Further bytes become one OVER_LIMIT gap that grows. */
  bytesMax: number
  /** Receives the stored chunks, or none if a stored gap grew instead. */
  onStored?: (chunks: Chunk[]) => void
}

export type Appender = (head: LogHead, what: Append) => Promise<LogHead>

const sharedMax = 64
/** Maximum size of an append that shares a statement, so that small appends do not wait for large ones. */
const sharedBytesMax = 16_384

/**
 * Stores small appends of many runs in one statement. The statement skips logs whose rows are locked: these appends
 * wait in statements of their own.
 */
export function createAppender(sql: Sql): Appender {
  const share = createBatcher<Item, boolean>({
    max: sharedMax,
    // A single item may cause a deadlock.
    mayBeOneItem: (error) => !isUnavailable(error) || readSqlState(error) === '40P01',
    run: (items) => storeShared(sql, items),
  })
  return async (head, what) => {
    const item = itemOf(head, what)
    const isSmall = item.chunks.reduce((sum, chunk) => sum + costOf(chunk), 0) <= sharedBytesMax
    if (!isSmall || !(await share(item))) await storeAlone(sql, item)
    return item.next
  }
}

interface Item extends Pick<Append, 'onStored'> {
  head: LogHead
  next: LogHead
  chunks: readonly NewChunk[]
}

function itemOf(head: LogHead, { pieces, position, bytesMax, onStored }: Append): Item {
  const { kept, over } = cutAtLimit(pieces, Math.max(0, bytesMax - head.end))
  const { chunks, head: last } = packChunks(head, kept)
  const gap = packChunks(last, over === 0 ? [] : [{ gap: 'OVER_LIMIT', bytes: over }])
  const next = { ...head, ...gap.head, position, isStored: true }
  return { head, next, chunks: [...chunks, ...gap.chunks], ...(onStored && { onStored }) }
}

/** Returns whether each item was stored. Of two appends to one log, only the first is stored. */
async function storeShared(sql: Sql, items: readonly Item[]): Promise<boolean[]> {
  const byRun = Map.groupBy(items, ({ head }) => head.runId)
  const stored = await store(
    sql,
    [...byRun.values()].flatMap(([first]) => first ?? []),
    'SKIP LOCKED',
  )
  return items.map((item) => stored.has(item))
}

async function storeAlone(sql: Sql, item: Item): Promise<void> {
  const { runId, end } = item.head
  if (!(await store(sql, [item], 'WAIT')).has(item))
    throw new LogMoved(`The log of ${runId} does not end at ${end} any more`)
}

/** Returns the stored items. All items belong to different runs. */
async function store(sql: Sql, items: readonly Item[], waiting: Waiting): Promise<ReadonlySet<Item>> {
  const chunks = items.flatMap((item) => item.chunks.map((chunk) => ({ runId: item.head.runId, chunk })))
  const data = Buffer.concat(chunks.map(({ chunk }) => (chunk.gap === null ? chunk.data : nothing)))
  let at = 1
  const chunkRows = chunks.map(({ runId, chunk }) => {
    const size = sizeOf(chunk)
    const row = { run_id: runId, ...placeOf(chunk), data_at: at, data_size: chunk.gap === null ? size : null }
    at += size
    return row
  })
  const values = [JSON.stringify(items.map(rowOf)), JSON.stringify(chunkRows), data]
  const { text, name } = statements[waiting]
  const rows = await sql.query<StoredRow>(text, values, name)
  const byRun = Map.groupBy(rows, (row) => row.run_id)
  const stored = items.filter(({ head }) => byRun.has(head.runId))
  for (const item of stored) tell(item, byRun.get(item.head.runId) ?? [])
  return new Set(stored)
}

/** Approximate size in the statement: the bytes, and eight for each number of the segments. */
const costOf = (chunk: NewChunk) => sizeOf(chunk) + (chunk.gap === null ? 8 * chunk.segments.length : 0)

const nothing = Buffer.alloc(0)
const sizeOf = (chunk: NewChunk) => (chunk.gap === null ? chunk.data.length : 0)

interface StoredRow {
  run_id: string
  start: number | null
  at: Date
}

const rowOf = ({ head, next, chunks }: Item) => ({
  run_id: head.runId,
  from_offset: head.end,
  end_offset: next.end,
  line_state: next.lineState,
  position: next.position ?? null,
  is_stored: head.isStored,
  is_over: chunks.length === 1 && chunks[0]?.gap === 'OVER_LIMIT',
})

const placeOf = (chunk: NewChunk) => ({
  start_offset: chunk.start,
  end_offset: chunk.end,
  line_state: chunk.lineState,
  segments: chunk.gap === null ? chunk.segments : [],
  gap: chunk.gap,
})

function tell({ chunks, onStored }: Item, rows: readonly StoredRow[]) {
  const times = new Map(rows.map(({ start, at }) => [start, at]))
  onStored?.(chunks.flatMap((chunk) => storedChunk(chunk, times.get(chunk.start))))
}

/** Drops the packed bytes, which readers do not need. */
function storedChunk(chunk: NewChunk, at: Date | undefined): Chunk[] {
  if (!at) return []
  const { start, end, lineState } = chunk
  const place = { start, end, lineState, at }
  return [
    chunk.gap === null
      ? { ...place, gap: null, segments: chunk.segments, bytes: chunk.bytes, fresh: chunk.bytes }
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

type Waiting = 'WAIT' | 'SKIP LOCKED'

/**
 * The first append of a run inserts the row of its log. Its lock waits for a transaction that ends the run; then no log
 * is created.
 */
const storeSql = (lock: '' | 'SKIP LOCKED') => `
WITH item AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json) AS i(run_id text, from_offset bigint, end_offset bigint,
    line_state bigint[], position jsonb, is_stored boolean, is_over boolean)
), ended AS MATERIALIZED (
  SELECT i.* FROM item i JOIN run_log l ON l.run_id = i.run_id AND l.end_offset = i.from_offset
  WHERE i.is_stored AND NOT l.sealed FOR NO KEY UPDATE OF l ${lock}
), moved AS (
  UPDATE run_log l SET end_offset = e.end_offset, line_state = e.line_state, position = e.position
  FROM ended e WHERE l.run_id = e.run_id AND l.end_offset = e.from_offset AND NOT l.sealed RETURNING l.run_id
), living AS MATERIALIZED (
  SELECT r.job_id, r.number, i.* FROM item i JOIN run r ON r.id = i.run_id
  WHERE NOT i.is_stored AND i.from_offset = 0 AND r.finished_at IS NULL FOR SHARE OF r ${lock}
), begun AS (
  INSERT INTO run_log (run_id, job_id, number, end_offset, line_state, position)
  SELECT run_id, job_id, number, end_offset, line_state, position FROM living ORDER BY run_id
  ON CONFLICT (run_id) DO NOTHING RETURNING run_id
), mine AS (
  SELECT run_id FROM moved UNION ALL SELECT run_id FROM begun
), grown AS (
  UPDATE log_chunk c SET end_offset = i.end_offset FROM item i JOIN mine USING (run_id)
  WHERE i.is_over AND c.run_id = i.run_id AND c.gap = 'OVER_LIMIT' AND c.end_offset = i.from_offset
    AND c.start_offset = (SELECT max(n.start_offset) FROM log_chunk n WHERE n.run_id = i.run_id)
  RETURNING c.run_id
), stored AS (
  INSERT INTO log_chunk (run_id, start_offset, end_offset, line_state, segments, data, gap)
  SELECT n.run_id, n.start_offset, n.end_offset, n.line_state, n.segments, substring($3::bytea FROM n.data_at FOR n.data_size), n.gap
  FROM json_to_recordset($2::json) AS n(run_id text, start_offset bigint, end_offset bigint, line_state bigint[],
    segments int[], data_at int, data_size int, gap text) JOIN mine USING (run_id)
  WHERE NOT EXISTS (SELECT 1 FROM grown WHERE grown.run_id = n.run_id)
  RETURNING run_id, start_offset, at
)
SELECT mine.run_id, stored.start_offset AS start, stored.at FROM mine LEFT JOIN stored USING (run_id)`

const statements = {
  WAIT: { text: storeSql(''), name: 'append_log' },
  'SKIP LOCKED': { text: storeSql('SKIP LOCKED'), name: 'append_logs' },
} as const satisfies Record<Waiting, object>

/** Seals the logs, so that no byte can follow, and ends open lines. */
export async function sealLog(sql: Sql, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return
  await sql.query(
    'UPDATE run_log SET sealed = true, line_state = ARRAY[line_state[1], 0, 0, 0] WHERE run_id = ANY($1::text[]) AND NOT sealed',
    [runIds],
    'seal_logs',
  )
}
