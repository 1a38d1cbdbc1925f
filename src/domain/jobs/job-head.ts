import type { Sql } from '../../platform/tx.ts'
import { VersionConflict } from '../errors.ts'
import type { JobState } from '../state.ts'

export interface JobHead {
  id: string
  userId: string
  state: JobState
  run: number
  version: number
}

/** Locks in id order, so that two bulk requests wait for each other instead of deadlocking. */
export async function lockJobs(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, JobHead>> {
  const rows = await sql.query<JobHead>(
    `SELECT id, user_id AS "userId", state, run_number AS run, version FROM job
     WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Prevents transitions of these jobs; rows with a foreign key to them can still be written. Locks in id order. */
export async function lockMoves(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query('SELECT 1 FROM job WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE', [ids], 'lock_moves')
}

export function demandVersion(job: { id: string; version: number }, expected: number | null | undefined): void {
  if (expected !== null && expected !== undefined && expected !== job.version)
    throw new VersionConflict('job', { expected, actual: job.version, jobId: job.id })
}
