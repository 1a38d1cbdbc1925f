import type { Sql } from '../../platform/tx.ts'
import { jobChangeSql } from './job-change.ts'
import { lockMoves } from './job-head.ts'

/**
 * Holds keep placements for waiting jobs until the job starts or leaves the queue; preemption requests free the
 * placements. Called by the leader in its open transaction; after the commit the caller wakes `event` and `run`.
 */

interface StoredHold {
  id: string
  jobId: string
  placements: readonly unknown[]
  sinceMs: number
  backfilledOn: string | null
}

export interface EvictionRequest {
  hold: StoredHold
  claimant: { jobId: string; account: string }
  victims: readonly {
    running: { runId: string; jobId: string; run: number; lane: { account: string } }
    tier: number
    shares: { claimant: readonly [number, number]; victim: readonly [number, number] }
  }[]
}

/** Stores holds of jobs that still wait, replacing their planned starts. Returns the ids of these jobs. */
async function putHolds(sql: Sql, pool: string, holds: readonly StoredHold[]): Promise<ReadonlySet<string>> {
  if (holds.length === 0) return new Set()
  const rows = await sql.query<{ jobId: string }>(
    `INSERT INTO hold (id, pool, job_id, kind, placements, since, backfilled_on)
     SELECT h.id, $1, h."jobId", 'PREEMPTION', h.placements, to_timestamp(h."sinceMs" / 1000), h."backfilledOn"
     FROM jsonb_to_recordset($2::text::jsonb) AS h(id text, "jobId" text, placements jsonb, "sinceMs" float8, "backfilledOn" text)
     WHERE h."jobId" IN (SELECT job_id FROM queue_entry WHERE job_id = h."jobId" FOR KEY SHARE)
     ON CONFLICT (job_id) DO UPDATE SET kind = excluded.kind, placements = excluded.placements, since = excluded.since,
       backfilled_on = excluded.backfilled_on, expected_at = NULL RETURNING job_id AS "jobId"`,
    [pool, JSON.stringify(holds)],
    'put_holds',
  )
  return new Set(rows.map(({ jobId }) => jobId))
}

/** Drops holds. Victims that were not signalled yet keep running (confirm-preemption.ts). */
export async function dropHolds(sql: Sql, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length > 0) await sql.query('DELETE FROM hold WHERE job_id = ANY($1::text[])', [jobIds], 'drop_holds')
}

/**
 * Stores holds and preemption requests, without claimants that no longer wait and victims that have ended. Returns the
 * claimants that still wait.
 */
export async function requestEvictions(
  sql: Sql,
  { pool, epoch, evictions }: { pool: string; epoch: number; evictions: readonly EvictionRequest[] },
): Promise<ReadonlySet<string>> {
  if (evictions.length === 0) return new Set()
  const victims = evictions.flatMap(victimRows)
  // Locks jobs before entries, in id order, as transitions do.
  const jobIds = [...evictions.map(({ claimant }) => claimant.jobId), ...victims.map(({ jobId }) => jobId)]
  await lockMoves(sql, jobIds)
  const holds = evictions.map(({ hold }) => hold)
  const waiting = await putHolds(sql, pool, holds)
  await sql.query(requestSql, [pool, epoch, JSON.stringify(victims)], 'request_evictions')
  return waiting
}

const victimRows = ({ claimant, victims }: EvictionRequest) =>
  victims.map(({ running: { runId, jobId, run, lane }, tier, shares }) => ({
    id: `preemption_${runId.slice(runId.indexOf('_') + 1)}`,
    runId,
    jobId,
    run,
    account: lane.account,
    tier,
    shares,
    claimantJobId: claimant.jobId,
    claimant: claimant.account,
  }))

const requestSql = `
WITH victim AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($3::text::jsonb) AS v(id text, "runId" text, "jobId" text, run int, account text, tier int,
    shares jsonb, "claimantJobId" text, claimant text)
),
ordered AS (
  UPDATE run SET preempt_requested_at = berth_now(),
    lost_seconds = coalesce(extract(epoch FROM berth_now() - greatest(run.started_at, c.saved_at)), 0)
  FROM victim v LEFT JOIN closure c ON c.job_id = v."jobId"
  WHERE run.id = v."runId" AND run.state IN ('STARTING', 'RUNNING') AND run.preempt_requested_at IS NULL
    AND EXISTS (SELECT FROM hold h WHERE h.job_id = v."claimantJobId")
  RETURNING v.*
),
${jobChangeSql({
  jobs: 'FROM ordered o WHERE job.id = o."jobId"',
  set: [`state_reason = 'PREEMPTING'`, `state_info = 'Being preempted by ' || o."claimantJobId"`],
  type: 'PREEMPT_REQUESTED',
  event: {
    reason: `'PREEMPTING'`,
    message: `'Being preempted by ' || o."claimantJobId"`,
    run: 'o.run',
    metadata: `jsonb_build_object('claimantJobId', o."claimantJobId", 'claimantAccount', o.claimant, 'tier', o.tier)`,
  },
})},
audited AS (
  INSERT INTO preemption (id, pool, epoch, tier, claimant_job_id, claimant, victim_job_id, victim_run_id, victim, shares)
  SELECT id, $1, $2, tier, "claimantJobId", claimant, "jobId", "runId", account, shares FROM ordered
)
INSERT INTO pool_change (pool, kind, run_id) SELECT $1, 'RUN', "runId" FROM ordered`
