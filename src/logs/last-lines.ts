import type { Sql } from '../platform/tx.ts'
import { type ChunkRow, chunkColumns, hasStream, readChunk } from './chunk.ts'
import { lineParts } from './lines.ts'
import { type LogCursor, runMark, searchBytesMax } from './stored.ts'

const stepChunksMax = 16

export interface LastLines {
  jobId: string
  run?: number | undefined
  codes: ReadonlySet<number>
  lines: number
}

/**
 * The start of the last lines, counted backwards over the runs. After `searchBytesMax` it is the first line found or,
 * inside of one line, the end of the search.
 */
export async function lastLinesStart(sql: Sql, { jobId, run, codes, lines }: LastLines): Promise<LogCursor> {
  let missing = lines
  let left = searchBytesMax
  let first: LogCursor = { run: run ?? 1, offset: 0 }
  for await (const log of logsBackwards(sql, { jobId, run })) {
    const at = (offset: number) => ({ run: log.number, offset, mark: runMark(log.run_id) })
    first = at(missing === 0 ? log.end_offset : 0)
    let found: number | undefined
    for await (const step of stepsBackwards(sql, log, codes)) {
      if (missing === 0) return first
      const start = step.lines.at(-missing)
      if (start !== undefined) return at(start)
      missing -= step.lines.length
      left -= step.bytes
      found = step.lines[0] ?? found
      if (left <= 0) return at(found ?? step.start)
    }
  }
  return first
}

interface LogRow {
  run_id: string
  number: number
  end_offset: number
}

/** The logs of a job from the newest one, or the run `until`, to the first one; `run`: this log only. */
export async function* logsBackwards(
  sql: Sql,
  { jobId, run, until = run }: { jobId: string; run: number | undefined; until?: number | undefined },
): AsyncGenerator<LogRow> {
  let before = until === undefined ? null : until + 1
  for (;;) {
    const [row] = await sql.query<LogRow>(
      `SELECT run_id, number, end_offset FROM run_log
       WHERE job_id = $1 AND ($2::int IS NULL OR number < $2) ORDER BY number DESC LIMIT 1`,
      [jobId, before],
    )
    if (!row || (run !== undefined && row.number !== run)) return
    yield row
    before = row.number
  }
}

interface Step {
  start: number
  bytes: number
  /** Offsets of lines, in order. */
  lines: number[]
}

async function* stepsBackwards(sql: Sql, log: LogRow, codes: ReadonlySet<number>): AsyncGenerator<Step> {
  let before = log.end_offset
  for (;;) {
    const rows = await sql.query<ChunkRow>(
      `SELECT ${chunkColumns} FROM log_chunk c WHERE run_id = $1 AND start_offset < $2 AND segments && $3::int[]
       ORDER BY start_offset DESC LIMIT ${stepChunksMax}`,
      [log.run_id, before, [...codes]],
      'log_step_back',
    )
    const last = rows.at(-1)
    if (!last) return
    const bytes = rows.reduce((sum, row) => sum + row.end_offset - row.start_offset, 0)
    yield { start: last.start_offset, bytes, lines: rows.toReversed().flatMap((row) => starts(row, codes)) }
    before = last.start_offset
  }
}

function starts(row: ChunkRow, codes: ReadonlySet<number>): number[] {
  const chunk = readChunk(row)
  if (chunk.gap !== null || !hasStream(chunk, codes)) return []
  return [...lineParts(chunk)].filter((part) => part.begins && codes.has(part.code)).map((part) => part.offset)
}
