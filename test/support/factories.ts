import { newId } from '../../src/domain/ids.ts'
import { openLog, sealLog } from '../../src/logs/append.ts'
import type { LogPiece } from '../../src/logs/chunk.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { append } from './log.ts'

/** Creates rows as they are after a submission, for tests of rooms that only read them. */
export async function addUser(sql: Sql, name: string): Promise<string> {
  const id = newId('user', Date.UTC(2026, 0, 1))
  await sql.query(`INSERT INTO "user" (id, name, level) VALUES ($1, $2, 'RESEARCHER')`, [id, name])
  return id
}

export interface AddedJob {
  jobId: string
  /** Id of the first run. */
  runId: string
  userId: string
}

/** Creates a RUNNING job with run 1 and without events; `fields`: columns of the job. */
export async function addJob(
  sql: Sql,
  userId: string,
  fields: { name?: string; pool?: string; state?: string } = {},
): Promise<AddedJob> {
  const jobId = newId('job', Date.UTC(2026, 0, 1))
  const { name = null, pool = 'local', state = 'RUNNING' } = fields
  await sql.query(
    `INSERT INTO job (id, user_id, name, spec, state, pool, queue, executor, account, base_priority, cpu_millis, memory_bytes, gpu, lane_id)
     VALUES ($1, $2, $3, '{}', $4::job_state, $5, 'default', 'local', 'users.test', 10, 1000, 0, 0, gen_random_uuid())`,
    [jobId, userId, name, state, pool],
  )
  const runId = await addRun(sql, { jobId, number: 1, state })
  return { jobId, runId, userId }
}

export async function addRun(
  sql: Sql,
  { jobId, number, state = 'RUNNING' }: { jobId: string; number: number; state?: string },
): Promise<string> {
  const runId = newId('run', Date.UTC(2026, 0, 1))
  await sql.query(`INSERT INTO run (id, job_id, number, pool, state) VALUES ($1, $2, $3, 'local', $4::job_state)`, [
    runId,
    jobId,
    number,
    state,
  ])
  return runId
}

export async function endRun(sql: Sql, runId: string): Promise<void> {
  await sql.query(`UPDATE run SET state = 'INTERRUPTED', finished_at = berth_now() WHERE id = $1`, [runId])
}

/** Sets the job and its last run to SUCCEEDED, without an event. */
export async function finishJob(sql: Sql, jobId: string): Promise<void> {
  await sql.query(
    `UPDATE run SET state = 'SUCCEEDED', finished_at = berth_now() WHERE job_id = $1 AND finished_at IS NULL`,
    [jobId],
  )
  await sql.query(`UPDATE job SET state = 'SUCCEEDED', finished_at = berth_now(), log_closed = true WHERE id = $1`, [
    jobId,
  ])
}

/**
 * Writes the next event under the row lock of the job, and updates the version of the job and, for a transition, its
 * state.
 */
export async function addEvent(
  sql: Sql,
  jobId: string,
  event: { type?: string; from?: string | null; to?: string | null } = {},
): Promise<number> {
  const { type = 'STATE_CHANGED', from = null, to = null } = event
  const [row] = await sql.query<{ seq: number }>(
    `WITH moved AS (
       UPDATE job SET version = coalesce((SELECT max(seq) FROM event WHERE job_id = $1), 0) + 1 WHERE id = $1
       RETURNING version
     )
     INSERT INTO event (job_id, seq, type, from_state, to_state)
     SELECT $1, version, $2, $3::job_state, $4::job_state FROM moved RETURNING seq`,
    [jobId, type, from, to],
  )
  if (!row) throw new Error(`No job ${jobId}`)
  return row.seq
}

/** Creates a job with a closed log, whose runs have these appends. */
export async function storeLog(sql: Sql, userId: string, runs: readonly (readonly (readonly LogPiece[])[])[]) {
  const { jobId, runId } = await addJob(sql, userId)
  const runIds = [runId]
  for (const [index, appends] of runs.entries()) {
    const id = index === 0 ? runId : await addRun(sql, { jobId, number: index + 1 })
    if (index > 0) runIds.push(id)
    let head = await openLog(sql, id)
    for (const pieces of appends) head = await append(sql, head, { pieces, position: null, bytesMax: 2 ** 34 })
    await sealLog(sql, [id])
    if (index < runs.length - 1) await endRun(sql, id)
  }
  await finishJob(sql, jobId)
  return { jobId, runIds, runId }
}
