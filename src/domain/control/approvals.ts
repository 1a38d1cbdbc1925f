import type { Approval } from '../../platform/generated/client.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { newId } from '../ids.ts'
import { jobChangeSql } from '../jobs/job-change.ts'
import { transition } from '../jobs/transition.ts'
import { type ApprovalNeed, describeApprovers } from './approval-rules.ts'

/**
 * Approvals before a job is queued. Requests and decisions are events of the job, next to the event for its change of
 * state.
 */

/** Stores the requests of jobs that this transaction inserted BLOCKED, with an event one version above CREATED. */
export async function insertApprovals(
  sql: Sql,
  requests: readonly { jobId: string; requestedById: string; need: ApprovalNeed }[],
  { nowMs, singleUser }: { nowMs: number; singleUser: boolean },
): Promise<void> {
  if (requests.length === 0) return
  const rows = requests.map(({ jobId, requestedById, need }) => ({
    id: newId('approval', nowMs),
    job_id: jobId,
    requested_by: requestedById,
    reason: need.reason,
    rule_name: need.rule,
    required_level: need.requiredLevel,
    expires_after: need.expiresAfterSeconds,
    approvers: describeApprovers(need, singleUser),
  }))
  await sql.query(insertSql, [JSON.stringify(rows)], 'insert_approvals')
}

const infoSql = `'Waiting for the approval of ' || new.approvers || ' until '
  || to_char((clock.now + new.expires_after * interval '1 second') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': ' || new.reason`

const insertSql = `
WITH clock AS MATERIALIZED (SELECT berth_now() AS now),
new AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS n(
    id text, job_id text, requested_by text, reason text, rule_name text, required_level user_level, expires_after int, approvers text)
),
requested AS (
  INSERT INTO approval (id, job_id, reason, rule_name, required_level, requested_by, requested_at, expires_at)
  SELECT id, job_id, reason, rule_name, required_level, requested_by, clock.now, clock.now + expires_after * interval '1 second'
  FROM new, clock
),
${jobChangeSql({
  jobs: 'FROM new, clock WHERE job.id = new.job_id',
  set: ["state_reason = 'APPROVAL_PENDING'", `state_info = ${infoSql}`],
  type: 'APPROVAL_REQUESTED',
  event: {
    at: 'clock.now',
    message: 'new.reason',
    run: '1',
    actor_id: 'new.requested_by',
    metadata: `jsonb_build_object('rule', new.rule_name, 'requiredLevel', new.required_level)`,
  },
})}
SELECT 1 FROM told`

/** Closes requests with their decision. `byUserId` null: the requests expired. */
export async function closeApprovals(
  sql: Sql,
  jobIds: readonly string[],
  status: 'CANCELLED' | 'EXPIRED',
  byUserId: string | null,
): Promise<void> {
  if (jobIds.length === 0) return
  await sql.query(
    `UPDATE approval SET status = $2::approval_status, decided_by = $3, decided_at = berth_now()
     WHERE job_id = ANY($1::text[]) AND status = 'PENDING'`,
    [jobIds, status, byUserId],
    'end_approvals',
  )
}

/** Condition on a table alias: the request is pending and has not expired. */
export const isPendingSql = (alias: string) =>
  `${alias}.status = 'PENDING' AND ${alias}.expires_at > (SELECT berth_now())`

export interface KnownApproval extends Approval {
  /** true: the requester is disabled, so the request cannot be approved. */
  requesterDisabled: boolean
}

/** A pending request is EXPIRED here as soon as it has expired by database time, even if the sweep has not run yet. */
export function readApprovals(sql: Sql, by: 'id' | 'job_id', keys: readonly string[]): Promise<KnownApproval[]> {
  return sql.query<KnownApproval>(
    `SELECT a.id, a.job_id AS "jobId", CASE WHEN late THEN 'EXPIRED' ELSE a.status::text END AS status, a.reason,
       a.rule_name AS "ruleName", a.required_level::text AS "requiredLevel", a.requested_by AS "requestedById",
       a.requested_at AS "requestedAt", a.expires_at AS "expiresAt", a.decided_by AS "decidedById",
       CASE WHEN late THEN a.expires_at ELSE a.decided_at END AS "decidedAt", a.comment,
       u.disabled AS "requesterDisabled"
     FROM approval a JOIN "user" u ON u.id = a.requested_by, LATERAL (SELECT a.status = 'PENDING' AND NOT (${isPendingSql('a')}) AS late) l
     WHERE a.${by} = ANY($1::text[])`,
    [keys],
    `approvals_by_${by}`,
  )
}

const sweepMax = 500

/** Fails the jobs whose request has expired. Returns their number. */
export async function expireApprovals({ db, time, wakeups }: Domain): Promise<number> {
  if ((await db.sql.query(anyOverdueSql, [], 'any_overdue')).length === 0) return 0
  const moved = await db.transaction(async (sql) => {
    const jobs = await sql.query<{ id: string; run: number }>(overdueSql, [sweepMax], 'overdue_approvals')
    const ids = jobs.map(({ id }) => id)
    await closeApprovals(sql, ids, 'EXPIRED', null)
    const moves = jobs.map(({ id, run }) => ({
      jobId: id,
      run,
      from: 'BLOCKED' as const,
      to: 'FAILED' as const,
      reason: 'APPROVAL_EXPIRED' as const,
      info: 'The approval request expired without a decision',
    }))
    return transition(sql, moves, time.nowMs())
  })
  if (moved.length > 0) wakeups.poke('event')
  return moved.length
}

/** A check before the transaction, because usually no request has expired. */
const anyOverdueSql = `SELECT 1 FROM approval WHERE status = 'PENDING' AND expires_at <= (SELECT berth_now()) LIMIT 1`

/** Checks the request again after locking the job, so that a job with a decision is skipped. */
const overdueSql = `
SELECT j.id, j.run_number AS run FROM approval a JOIN job j ON j.id = a.job_id
WHERE a.status = 'PENDING' AND a.expires_at <= (SELECT berth_now()) AND j.state = 'BLOCKED'
ORDER BY a.expires_at LIMIT $1 FOR UPDATE OF j SKIP LOCKED`
