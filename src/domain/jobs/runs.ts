import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { type Leader, leadingSql } from '../leadership.ts'
import type { JobSpec } from '../spec.ts'
import { holdingSql, holdingStates, type JobState } from '../state.ts'
import { jobChangeSql } from './job-change.ts'

export interface HoldingRun {
  runId: string
  jobId: string
  number: number
  state: JobState
  executor: string
  handle: string | null
  spec: JobSpec
  nodes: string[]
  gpuIds: number[]
  scheduledAt: Date
  startedAt: Date | null
  expiredAt: Date | null
  /** ASKED: a preemption was requested and can still be withdrawn; SIGNALLED: the run got the signal. */
  leaves: 'ASKED' | 'SIGNALLED' | null
  /** The end of the hard reservation in which the run executes. */
  mustEndAt: Date | null
  unixUser: string | null
  queueNative: Record<string, string>
  reservationNativeId: string | null
}

/** `readStartsDue` misses a start that is committed later than this after `scheduledAt`; `readRunsDue` finds it. */
const commitMs = 2_000

const runsSql = (condition: string, runs = 'run') => `
SELECT r.id AS "runId", r.job_id AS "jobId", r.number, r.state, j.executor, r.handle, j.spec, r.nodes, r.gpu_ids AS "gpuIds",
  r.scheduled_at AS "scheduledAt", r.started_at AS "startedAt", r.expired_at AS "expiredAt", u.unix_user AS "unixUser",
  CASE WHEN r.preempt_signalled_at IS NOT NULL THEN 'SIGNALLED' WHEN r.preempt_requested_at IS NOT NULL THEN 'ASKED' END AS leaves,
  (SELECT c.ends_at FROM capacity_reservation c WHERE c.id = j.spec->>'capacityReservationId' AND c.hard) AS "mustEndAt",
  (SELECT c.native_id FROM capacity_reservation c WHERE c.id = j.spec->>'capacityReservationId') AS "reservationNativeId",
  coalesce((SELECT q.native FROM submission_queue q WHERE q.name = j.queue), '{}') AS "queueNative"
FROM ${runs} r JOIN job j ON j.id = r.job_id JOIN "user" u ON u.id = j.user_id
WHERE r.pool = $1 AND r.state IN ${holdingSql} ${condition}
  AND EXISTS (SELECT ${leadingSql('$1', '$2', '$3')})
ORDER BY r.scheduled_at, r.id`

/** Returns no runs if `term` is over. */
export const readHoldingRuns = (sql: Sql, term: Leader): Promise<HoldingRun[]> =>
  readRunsOf(sql, term, runsSql(''), 'holding_runs')

/**
 * Starts that were committed since the last read, which began `sinceMs` ago. The lower bound skips dead index entries.
 * With a lower bound alone instead of BETWEEN, PostgreSQL reads the whole table.
 */
export const readStartsDue = (sql: Sql, term: Leader, sinceMs: number): Promise<HoldingRun[]> =>
  readRunsOf(sql, term, startsSql, 'starts_due', [sinceMs + commitMs])

const startsSql = `
WITH recent AS MATERIALIZED (
  SELECT * FROM run WHERE pool = $1 AND scheduled_at BETWEEN (SELECT berth_now()) - $4::float8 * interval '1 millisecond' AND 'infinity'
) ${runsSql("AND r.state = 'STARTING' AND r.handle IS NULL", 'recent')}`

/** Runs that are due: to be started, stopped or signalled. */
export const readRunsDue = (sql: Sql, term: Leader): Promise<HoldingRun[]> => readRunsOf(sql, term, dueSql, 'runs_due')

const dueSql = runsSql(
  `AND (r.state = 'STARTING' AND r.handle IS NULL OR r.state = 'CANCELLING'
    OR r.preempt_requested_at IS NOT NULL AND r.preempt_signalled_at IS NULL)`,
)

const readRunsOf = (sql: Sql, { pool, epoch, holder }: Leader, text: string, name: string, values: unknown[] = []) =>
  sql.query<HoldingRun>(text, [pool, epoch, holder, ...values], name)

/** null: the run was removed with its job. */
export const readRunState = async (sql: Sql, runId: string): Promise<JobState | null> =>
  (await readRunStates(sql, [runId])).get(runId)?.state ?? null

interface RunWithState {
  runId: string
  jobId: string
  number: number
  state: JobState
}

export async function readRunStates(sql: Sql, runIds: readonly string[]): Promise<ReadonlyMap<string, RunWithState>> {
  const rows = await sql.query<RunWithState>(
    'SELECT id AS "runId", job_id AS "jobId", number, state FROM run WHERE id = ANY($1::text[])',
    [runIds],
    'run_states',
  )
  return new Map(rows.map((run) => [run.runId, run]))
}

export async function saveHandles(sql: Sql, handles: readonly { runId: string; handle: string }[]): Promise<void> {
  if (handles.length === 0) return
  await sql.query(
    `UPDATE run SET handle = h.handle FROM jsonb_to_recordset($1::text::jsonb) AS h("runId" text, handle text)
     WHERE run.id = h."runId"`,
    [JSON.stringify(handles)],
    'save_handles',
  )
}

/** Stores whether a preemption started the run, and on whose planned start it is a backfill. */
export async function recordStartKind(
  sql: Sql,
  runs: readonly { runId: string; wonTier: number | null; backfilledOn: string | null }[],
): Promise<void> {
  if (runs.length === 0) return
  const rows = runs.map(({ runId, wonTier, backfilledOn }) => ({ runId, wonTier, backfilledOn }))
  await sql.query(
    `UPDATE run SET won_tier = p."wonTier", backfilled_on = p."backfilledOn"
     FROM jsonb_to_recordset($1::text::jsonb) AS p("runId" text, "wonTier" int, "backfilledOn" text) WHERE run.id = p."runId"`,
    [JSON.stringify(rows)],
    'record_start_kind',
  )
}

export type TimeLimit = 'MAXIMUM' | 'RESERVATION'

/** Stores why the run is stopped, for a later leader. false: the reservation that set the limit no longer exists. */
export async function markExpired(sql: Sql, runId: string, limit: TimeLimit): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE run SET expired_at = coalesce(expired_at, berth_now()) FROM job j
     WHERE run.id = $1 AND j.id = run.job_id AND ($2 = 'MAXIMUM' OR EXISTS (
       SELECT FROM capacity_reservation c WHERE c.id = j.spec->>'capacityReservationId' AND c.hard)) RETURNING 1`,
    [runId, limit],
    'mark_expired',
  )
  return rows.length > 0
}

export interface ReportedJob {
  jobId: string
  state: JobState
  run: number
  spec: JobSpec
  expired: boolean
  /** true: the hard reservation ends before the maximum run time. */
  endsWithReservation: boolean
  /** Message of the preemption request; null: preemption was not requested. */
  leaving: string | null
  preempted: boolean
  /** Tier of the preemption request; null: preemption was not requested. */
  tier: number | null
  startFailures: number
  /** Number of runs of this job that ended by their exit code. */
  exits: number
  /** The job saved a closure, so its next run can continue. */
  hasClosure: boolean
  /** Time since the start was decided. */
  heldSeconds: number
}

export async function lockReportedJobs(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, ReportedJob>> {
  const rows = await sql.query<ReportedJob>(
    `WITH locked AS MATERIALIZED (SELECT id, state, state_info, run_number, spec FROM job WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE)
     SELECT l.id AS "jobId", l.state, l.run_number AS run, l.spec, r.expired_at IS NOT NULL AS expired,
       CASE WHEN r.preempt_requested_at IS NOT NULL THEN coalesce(l.state_info, '') END AS leaving,
       r.preempt_signalled_at IS NOT NULL AS preempted, (SELECT p.tier FROM preemption p WHERE p.victim_run_id = r.id) AS tier,
       EXISTS (SELECT FROM capacity_reservation c
         WHERE c.id = l.spec->>'capacityReservationId' AND c.hard AND ((l.spec->>'maxRunTimeSeconds')::float8 = 0
           OR c.ends_at <= r.started_at + (l.spec->>'maxRunTimeSeconds')::float8 * interval '1 second')) AS "endsWithReservation",
       (SELECT count(*) FROM run f WHERE f.job_id = l.id AND f.state_reason = 'START_FAILED') AS "startFailures",
       (SELECT count(*) FROM run e WHERE e.job_id = l.id AND e.state = 'FAILED' AND e.exit_code IS NOT NULL) AS exits,
       EXISTS (SELECT FROM closure c WHERE c.job_id = l.id) AS "hasClosure",
       coalesce(extract(epoch FROM berth_now() - r.scheduled_at), 0)::float8 AS "heldSeconds"
     FROM locked l JOIN run r ON r.job_id = l.id AND r.number = l.run_number`,
    [jobIds],
    'lock_reported',
  )
  return new Map(rows.map((row) => [row.jobId, row]))
}

/** Stores a report about a run that is over as an event. */
export async function recordLateReport(
  sql: Sql,
  { jobId, run, message }: { jobId: string; run: number; message: string },
): Promise<void> {
  await sql.query(`WITH ${lateReportSql} SELECT 1 FROM told`, [jobId, run, message])
}

const lateReportSql = jobChangeSql({
  jobs: 'WHERE job.id = $1',
  type: 'LATE_REPORT',
  event: { run: '$2::int', message: '$3::text' },
})

/** true: the backend still has runs of the pool that are active, or whose output is not completely stored. */
export async function hasUnreadRuns({ db }: Pick<Domain, 'db'>, pool: string, executor: string): Promise<boolean> {
  const unread = { OR: [{ state: { in: holdingStates } }, { log: { sealed: false } }] }
  const where = { pool, handle: { not: null }, job: { executor }, ...unread }
  return (await db.prisma.run.findFirst({ where, select: { id: true } })) !== null
}
