import type { Sql } from '../platform/tx.ts'
import { type Chunk, type ChunkRow, chunkColumns, readChunk } from './chunk.ts'

/** Maximum number of chunks per query. */
const stepChunksMax = 16

interface LogRow {
  run_id: string
  number: number
  end_offset: number
}

/** Reads the logs of a job's runs, the newest first. `run`: only this run. `fromRun`: starts with this run. */
export async function* readLogsBackwards(
  sql: Sql,
  { jobId, run, fromRun = run }: { jobId: string; run: number | undefined; fromRun?: number | undefined },
): AsyncGenerator<LogRow> {
  let before = fromRun === undefined ? null : fromRun + 1
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

/** Reads gaps, and chunks with output of these streams, backwards from the last one that begins before `end`. */
export async function* readChunksBackwards(
  sql: Sql,
  { runId, end, codes }: { runId: string; end: number; codes: ReadonlySet<number> },
): AsyncGenerator<Chunk> {
  for (let before = end; ; ) {
    const rows = await sql.query<ChunkRow>(chunksSql, [runId, before, [...codes]], 'log_page_back')
    for (const row of rows) yield readChunk(row)
    const last = rows.at(-1)
    if (!last) return
    before = last.start_offset
  }
}

const chunksSql = `
SELECT ${chunkColumns} FROM log_chunk c
WHERE run_id = $1 AND start_offset < $2 AND (gap IS NOT NULL OR segments && $3::int[])
ORDER BY start_offset DESC LIMIT ${stepChunksMax}`
