import type { Sql } from '../../platform/tx.ts'
import { jobChangeSql } from './job-change.ts'
import { lockMoves } from './job-head.ts'

/**
 * Called by the runner right before it signals a victim of preemption, in a transaction of the leader. If the hold of the
 * claimant is gone, the request is withdrawn and the run continues.
 */

type PreemptionAnswer = 'SIGNAL' | 'SPARED' | 'NOT_REQUESTED'

export async function confirmPreemption(sql: Sql, run: { runId: string; jobId: string }): Promise<PreemptionAnswer> {
  await lockMoves(sql, [run.jobId])
  const [asked] = await sql.query<{ claimant: string; wanted: boolean }>(
    `SELECT p.claimant_job_id AS claimant, EXISTS (SELECT FROM hold h WHERE h.job_id = p.claimant_job_id) AS wanted
     FROM run r JOIN preemption p ON p.victim_run_id = r.id
     WHERE r.id = $1 AND r.preempt_requested_at IS NOT NULL AND r.state IN ('STARTING', 'RUNNING')`,
    [run.runId],
    'preemption_request',
  )
  if (!asked) return 'NOT_REQUESTED'
  if (await markSignalled(sql, run.runId, asked.wanted)) return 'SIGNAL'
  const message = `Preemption withdrawn: job ${asked.claimant} no longer needs its resources`
  await sql.query(spareSql, [run.runId, message], 'spare')
  return 'SPARED'
}

/** Returns whether to signal the run: the claimant still waits (`wanted`), or the run was signalled before. */
async function markSignalled(sql: Sql, runId: string, wanted: boolean): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE run SET preempt_signalled_at = coalesce(preempt_signalled_at, berth_now())
     WHERE id = $1 AND ($2 OR preempt_signalled_at IS NOT NULL) RETURNING 1`,
    [runId, wanted],
    'signal_leaving',
  )
  return rows.length > 0
}

const spareSql = `
WITH spared AS (
  UPDATE run SET preempt_requested_at = NULL, lost_seconds = NULL WHERE id = $1 RETURNING id, job_id, number, pool
),
forgotten AS (DELETE FROM preemption WHERE victim_run_id = $1),
${jobChangeSql({
  jobs: 'FROM spared WHERE job.id = spared.job_id',
  set: ['state_reason = NULL', 'state_info = NULL'],
  type: 'PREEMPT_WITHDRAWN',
  event: { message: '$2', run: 'spared.number' },
})}
INSERT INTO pool_change (pool, kind, run_id) SELECT pool, 'RUN', id FROM spared`
