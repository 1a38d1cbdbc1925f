import { newId } from '../../src/domain/ids.ts'
import { type Append, createAppender, type LogHead, openLog } from '../../src/logs/append.ts'
import type { LogPiece } from '../../src/logs/chunk.ts'
import type { Sql } from '../../src/platform/tx.ts'

/** Appends in a statement of its own. */
export const append = (sql: Sql, head: LogHead, what: Append): Promise<LogHead> => createAppender(sql)(head, what)

export const out = (text: string | Buffer): LogPiece => ({ stream: 'STDOUT', bytes: Buffer.from(text) })
export const err = (text: string): LogPiece => ({ stream: 'STDERR', bytes: Buffer.from(text) })

export async function writeLog(sql: Sql, jobId: string, pieces: readonly LogPiece[]): Promise<void> {
  const [run] = await sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
  await append(sql, await openLog(sql, run?.id ?? ''), { pieces, position: null, bytesMax: 2 ** 40 })
}

/** Replaces a run like a restored backup: another run has the same number. */
export async function replaceRun(sql: Sql, jobId: string): Promise<void> {
  await sql.query('DELETE FROM run_log WHERE job_id = $1', [jobId])
  await sql.query('UPDATE run SET id = $2 WHERE job_id = $1', [jobId, newId('run', Date.UTC(2026, 0, 1))])
}
