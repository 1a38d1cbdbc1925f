import type { Sql } from '../platform/tx.ts'
import { readChunksBackwards, readLogsBackwards } from './backwards.ts'
import { type BytesChunk, hasStream } from './chunk.ts'
import { readLineParts } from './lines.ts'
import { type LogCursor, runMark, searchBytesMax } from './stored.ts'

export interface LastLines {
  jobId: string
  run?: number | undefined
  codes: ReadonlySet<number>
  lines: number
}

/**
 * Finds the start of the last `lines` lines, counted backwards over the runs. If `searchBytesMax` bytes are not enough,
 * it returns the first line found or, inside of one line, the end of the search.
 */
export async function findLastLinesStart(sql: Sql, { jobId, run, codes, lines }: LastLines): Promise<LogCursor> {
  let missing = lines
  let left = searchBytesMax
  let first: LogCursor = { run: run ?? 1, offset: 0 }
  for await (const { run_id: runId, number, end_offset: end } of readLogsBackwards(sql, { jobId, run })) {
    const at = (offset: number) => ({ run: number, offset, mark: runMark(runId) })
    if (lines === 0) return at(end)
    first = at(0)
    let found: number | undefined
    for await (const chunk of readChunksBackwards(sql, { runId, end, codes })) {
      if (chunk.gap !== null) continue
      const begun = lineStarts(chunk, codes)
      const start = begun.at(-missing)
      if (start !== undefined) return at(start)
      missing -= begun.length
      left -= chunk.end - chunk.start
      found = begun[0] ?? found
      if (left <= 0) return at(found ?? chunk.start)
    }
  }
  return first
}

const lineStarts = (chunk: BytesChunk, codes: ReadonlySet<number>): number[] =>
  hasStream(chunk, codes)
    ? [...readLineParts(chunk)].filter(({ begins, code }) => begins && codes.has(code)).map(({ offset }) => offset)
    : []
