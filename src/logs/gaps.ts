import type { Sql } from '../platform/tx.ts'
import { type LogGap, makeGapMessage, pageGapsMax } from './read.ts'
import { type Gap, runMark } from './stored.ts'

interface GapRow {
  run_id: string
  number: number
  start_offset: number
  end_offset: number
  gap: Gap['gap']
  line_state: readonly string[] | null
}

/** Reads the first gaps in the log of a job or a run, without the bytes of the chunks, so 16 GiB take 0.1 s. */
export async function readLogGaps(sql: Sql, jobId: string, run: number | undefined): Promise<LogGap[]> {
  const rows = await sql.query<GapRow>(gapsSql, [jobId, run ?? null, pageGapsMax], 'log_gaps')
  return rows.map(({ run_id, number, start_offset, end_offset, gap, line_state }) => {
    const start = { run: number, offset: start_offset, mark: runMark(run_id) }
    return makeGapMessage(start, { start: start_offset, end: end_offset, gap, lineState: line_state?.map(Number) })
  })
}

/** Output that retention removed is a gap before the first chunk. */
const gapsSql = `
SELECT l.run_id, l.number, g.* FROM run_log l CROSS JOIN LATERAL (
  (SELECT 0::bigint AS start_offset, coalesce(c.start_offset, l.end_offset) AS end_offset, 'RETENTION' AS gap, c.line_state
   FROM (SELECT 1) one LEFT JOIN LATERAL (
     SELECT start_offset, line_state FROM log_chunk WHERE run_id = l.run_id ORDER BY start_offset LIMIT 1) c ON true
   WHERE coalesce(c.start_offset, l.end_offset) > 0)
  UNION ALL
  (SELECT start_offset, end_offset, gap, line_state FROM log_chunk
   WHERE run_id = l.run_id AND gap IS NOT NULL ORDER BY start_offset LIMIT $3)) g
WHERE l.job_id = $1 AND ($2::int IS NULL OR l.number = $2)
ORDER BY l.number, g.start_offset LIMIT $3`
