import type { Sql } from '../../platform/tx.ts'
import { makeMeasuredCostSql } from '../cost.ts'
import { newId } from '../ids.ts'
import { interactiveBand } from '../lanes.ts'
import {
  type FinalState,
  holdingSql,
  isFinal,
  type JobState,
  mayMove,
  type StateReason,
  toPsijState,
} from '../state.ts'
import { nextVersionSql } from './job-change.ts'

/**
 * The only function that changes the states of jobs. Each transition is a compare-and-set on (state, run number,
 * optionally version). One statement changes job and run, writes the event, inserts or deletes the queue entry, frees
 * resources, adds the cost and creates the next run, so these always agree. After the commit the caller wakes `event`,
 * and `queue` if resources were freed or a job waits.
 */

export interface Move {
  jobId: string
  /** Number of the run; a move for an older run has no effect. */
  run: number
  from: JobState
  to: JobState
  reason: StateReason | null
  info?: string | null
  version?: number
  actorId?: string | null
  exitCode?: number | null
  /** How the old run ends when the job goes back to QUEUED. */
  runEnds?: FinalState
  /** Back-off before the next run may start. */
  eligibleInMs?: number
  /** The next run is queued behind all jobs that wait now. */
  losesTurn?: true
  /** Node names, given with STARTING, or as soon as a backend that chooses nodes reports them. */
  nodes?: readonly string[]
  gpuIds?: readonly number[]
  startedAt?: Date
  finishedAt?: Date
  nativeId?: string
  ip?: string
  imageDigest?: string
  /** Negative or infinite numbers are stored as unknown. */
  usage?: { cpuSeconds?: number; maxMemoryBytes?: number }
}

interface Moved {
  jobId: string
  runId: string
  version: number
  /** When the start was committed; null: the job never started. */
  scheduledMs: number | null
}

export async function transition(sql: Sql, moves: readonly Move[], nowMs: number): Promise<Moved[]> {
  if (moves.length === 0) return []
  if (new Set(moves.map((move) => move.jobId)).size < moves.length) throw new Error('A job may move only once')
  const rows = moves.map((move, ord) => ({ ...moveRow(move, nowMs), ord }))
  return sql.query<Moved>(moveSql, [JSON.stringify(rows), rows.length], 'transition')
}

function moveRow(move: Move, nowMs: number) {
  const { jobId, from, to, reason } = move
  if (!mayMove(from, to, reason)) throw new Error(`Illegal move ${from} → ${to} for ${reason ?? 'no reason'}`)
  const again = to === 'QUEUED' && from !== 'BLOCKED'
  if (again !== (move.runEnds !== undefined)) throw new Error('runEnds belongs to moves back to QUEUED alone')
  const changed = (wasRunning: boolean) => {
    const after = toPsijState(to, wasRunning || to === 'RUNNING')
    return toPsijState(from, wasRunning) === after ? null : after
  }
  return {
    job_id: jobId,
    run: move.run,
    from,
    to,
    reason,
    info: move.info ?? null,
    version: move.version ?? null,
    actor: move.actorId ?? null,
    exit_code: move.exitCode ?? null,
    run_state: move.runEnds ?? to,
    again,
    final: isFinal(to),
    releases: again || isFinal(to),
    new_run: again ? newId('run', nowMs) : null,
    wait_ms: move.eligibleInMs ?? 0,
    loses_turn: move.losesTurn ?? false,
    nodes: move.nodes ?? null,
    gpu_ids: move.gpuIds ?? null,
    ...backendColumns(move),
    psij_first: changed(false),
    psij_later: changed(true),
  }
}

const backendColumns = ({ startedAt, finishedAt, nativeId, ip, imageDigest, usage }: Move) => ({
  started_at: startedAt ?? null,
  finished_at: finishedAt ?? null,
  native_id: nativeId ?? null,
  ip: ip ?? null,
  image_digest: imageDigest ?? null,
  cpu_seconds: amount(usage?.cpuSeconds),
  max_memory: amount(usage?.maxMemoryBytes, Math.round),
})

/** null: the backend reported no valid amount. */
function amount(reported: number | undefined, whole = (value: number) => value): number | null {
  return reported !== undefined && reported >= 0 && reported <= Number.MAX_SAFE_INTEGER ? whole(reported) : null
}

/** SQL for the start of the job's capacity reservation; null: the job has none, or it was removed. */
const windowBegins = (laneId: string) =>
  `(SELECT c.starts_at FROM lane l JOIN capacity_reservation c ON c.id = l.reservation_id WHERE l.id = ${laneId})`

/** SQL that limits a start time from a backend to the time from the commit of the start until now. */
const started = (scheduledAt: string) => `greatest(least(m.started_at, clock.now), ${scheduledAt})`
/** SQL that limits an end time to the time since the start of the run, even if the database clock was set back. */
const finished = (startedAt: string) => `greatest(least(m.finished_at, clock.now), ${startedAt})`

/** Reasons of ends that count as attempts of `retry`. The expected cost at submission included these attempts. */
const countedAttemptSql = "('EXIT_CODE', 'SIGNAL', 'OOM_KILLED')"

/**
 * OFFSET 0 forces a lookup by key: a plan that PostgreSQL cached while the table was small would read the whole table.
 */
const runOf = '(SELECT * FROM run WHERE run.job_id = m.job_id AND run.number = m.run OFFSET 0)'

/**
 * Locks rows in id order, so two batches do not deadlock. Dependents of ended jobs are read last, in a new snapshot, so
 * they include a submission that was committed while this waited for a lock; a later submission sees the end itself.
 * Start times within a batch are a microsecond apart, in order. LIMIT tells PostgreSQL that there are few transitions
 * (it assumes 100 rows for a JSON list), so that it finds runs by their index.
 */
const moveSql = `
WITH clock AS MATERIALIZED (SELECT berth_now() AS now),
move AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS m(
    job_id text, run int, "from" job_state, "to" job_state, reason text, info text, version bigint, actor text,
    exit_code int, run_state job_state, again boolean, final boolean, releases boolean, new_run text, wait_ms float8, loses_turn boolean,
    nodes text[], gpu_ids int[], started_at timestamptz, finished_at timestamptz, native_id text, ip text, image_digest text,
    cpu_seconds float8, max_memory bigint, psij_first text,
    psij_later text, ord int)
  LIMIT $2
),
locked AS MATERIALIZED (
  SELECT job.id, job.started_at IS NOT NULL AS ran FROM job
  WHERE job.id IN (SELECT job_id FROM move) ORDER BY job.id FOR UPDATE
),
priced AS MATERIALIZED (
  SELECT m.job_id, ${makeMeasuredCostSql(finished('run.started_at'))} AS cost
  FROM move m CROSS JOIN LATERAL ${runOf} run JOIN pool ON pool.name = run.pool, clock
  WHERE m.releases AND pool.rates IS NOT NULL
),
moved AS (
  UPDATE job SET
    state = m."to", state_reason = m.reason, state_info = m.info, ${nextVersionSql},
    run_number = job.run_number + CASE WHEN m.again THEN 1 ELSE 0 END,
    exit_code = m.exit_code,
    turn = CASE WHEN m.loses_turn THEN nextval(pg_get_serial_sequence('job', 'sequence')) ELSE job.turn END,
    queued_at = CASE WHEN m."to" = 'QUEUED' THEN coalesce(job.queued_at, clock.now) ELSE job.queued_at END,
    eligible_at = CASE WHEN m."to" = 'QUEUED' THEN coalesce(job.eligible_at, greatest(job.not_before, ${windowBegins('job.lane_id')}, clock.now)) ELSE job.eligible_at END,
    started_at = CASE WHEN m."to" = 'RUNNING' THEN coalesce(job.started_at, ${started('r.scheduled_at')}) ELSE job.started_at END,
    finished_at = CASE WHEN m.final THEN ${finished('job.started_at, r.started_at')} END,
    log_closed = m.final,
    cost = CASE WHEN p.cost IS NULL THEN job.cost ELSE coalesce(job.cost, 0) + p.cost END
  FROM move m JOIN locked ON locked.id = m.job_id CROSS JOIN LATERAL ${runOf} r
    LEFT JOIN priced p ON p.job_id = m.job_id, clock
  WHERE job.id = m.job_id AND job.state = m."from" AND job.run_number = m.run
    AND (m.version IS NULL OR job.version = m.version)
  RETURNING job.id, job.version AS at_version, job.pool, job.lane_id, coalesce(job.turn, job.sequence) AS place,
    job.not_before, (job.spec->>'bid')::int AS bid, job.spec->'dependsOn' = '[]' AS independent, job.cost, p.cost AS run_cost,
    locked.ran, m.final AND NOT locked.ran AND m.exit_code IS NULL AS never_ran, m.*
),
measured AS (
  UPDATE usage_ledger SET cost = CASE WHEN m.final THEN coalesce(m.cost, 0) ELSE usage_ledger.cost + m.run_cost END
  FROM moved m WHERE usage_ledger.job_id = m.id AND (m.run_cost IS NOT NULL OR m.never_ran)
    AND (m.final OR m.reason NOT IN ${countedAttemptSql})
),
this_run AS (
  UPDATE run SET
    state = m.run_state, state_reason = m.reason, state_info = m.info, exit_code = coalesce(m.exit_code, run.exit_code),
    scheduled_at = CASE WHEN m."to" = 'STARTING' THEN clock.now + m.ord * interval '1 microsecond' ELSE run.scheduled_at END,
    pool_revision = CASE WHEN m."to" = 'STARTING' THEN (SELECT revision FROM pool WHERE name = m.pool) ELSE run.pool_revision END,
    started_at = CASE WHEN m."to" = 'RUNNING' THEN ${started('run.scheduled_at')} ELSE run.started_at END,
    finished_at = CASE WHEN m.releases THEN ${finished('run.started_at')} END,
    cancel_requested_at = CASE WHEN m."to" IN ('CANCELLING', 'CANCELLED') THEN coalesce(run.cancel_requested_at, clock.now) ELSE run.cancel_requested_at END,
    cancelled_at = CASE WHEN m."to" = 'CANCELLED' THEN clock.now END,
    nodes = coalesce(m.nodes, run.nodes), gpu_ids = coalesce(m.gpu_ids, run.gpu_ids),
    native_id = coalesce(m.native_id, run.native_id), ip = coalesce(m.ip, run.ip), image_digest = coalesce(m.image_digest, run.image_digest),
    cpu_seconds = coalesce(m.cpu_seconds, run.cpu_seconds), max_memory_bytes = coalesce(m.max_memory, run.max_memory_bytes)
  FROM moved m, clock WHERE run.job_id = m.id AND run.number = m.run
  RETURNING run.id AS run_id, run.job_id, run.interactive_user_id, run.native_id, run.scheduled_at, m.releases
),
next_run AS (
  INSERT INTO run (id, job_id, number, pool, state, interactive_user_id, created_at)
  SELECT m.new_run, m.id, m.run + 1, m.pool, 'QUEUED', this_run.interactive_user_id, clock.now
  FROM moved m JOIN this_run ON this_run.job_id = m.id, clock WHERE m.again
),
left_queue AS (
  DELETE FROM queue_entry USING moved m WHERE queue_entry.job_id = m.id AND m."from" = 'QUEUED'
),
joined_queue AS (
  INSERT INTO queue_entry (job_id, pool, lane_id, band, bid, sequence, open, eligible_at, run_id, run)
  SELECT m.id, m.pool, m.lane_id, CASE WHEN lane.interactive THEN ${interactiveBand} ELSE lane.priority END,
    CASE WHEN lane.interactive OR pool.policy = 'FAIR_SHARE' THEN coalesce(m.bid, 0) ELSE 0 END, m.place,
    m.at <= clock.now AND m.independent, m.at, coalesce(m.new_run, this_run.run_id), m.run + CASE WHEN m.again THEN 1 ELSE 0 END
  FROM clock, (
    SELECT moved.*, greatest(not_before, ${windowBegins('moved.lane_id')}, clock.now + wait_ms * interval '1 millisecond') AS at
    FROM moved, clock
  ) m
    JOIN this_run ON this_run.job_id = m.id JOIN lane ON lane.id = m.lane_id JOIN pool ON pool.name = m.pool
  WHERE m."to" = 'QUEUED'
),
told_leader AS (
  INSERT INTO pool_change (pool, kind, run_id)
  SELECT m.pool, 'RUN', this_run.run_id FROM moved m JOIN this_run ON this_run.job_id = m.id
  WHERE m."from" IN ${holdingSql}
),
told_dependents AS (
  INSERT INTO pool_change (pool, kind, job_id)
  SELECT d.pool, 'GATED', d.job_id FROM (SELECT array_agg(id) AS ids FROM moved WHERE final) ended, berth_dependents(ended.ids) d
),
freed AS (
  DELETE FROM allocation USING this_run WHERE allocation.run_id = this_run.run_id AND this_run.releases
  RETURNING allocation.node_id, allocation.cpu_millis, allocation.memory_bytes
),
unclaimed AS (
  DELETE FROM device_claim USING this_run WHERE device_claim.run_id = this_run.run_id AND this_run.releases
),
node_back AS (
  UPDATE node SET free_cpu_millis = free_cpu_millis + f.cpu, free_memory_bytes = free_memory_bytes + f.memory
  FROM (SELECT node_id, sum(cpu_millis)::int AS cpu, sum(memory_bytes)::bigint AS memory FROM freed GROUP BY node_id ORDER BY node_id) f
  WHERE node.id = f.node_id
),
told AS (
  INSERT INTO event (job_id, seq, at, type, from_state, to_state, psij_state, reason, message, exit_code, run, actor_id, metadata)
  SELECT m.id, m.at_version, clock.now, 'STATE_CHANGED', m."from", m."to",
    CASE WHEN m.ran THEN m.psij_later ELSE m.psij_first END, m.reason, m.info, m.exit_code, m.run, m.actor,
    nullif(jsonb_strip_nulls(jsonb_build_object('nativeId', this_run.native_id, 'requeued', nullif(m.again, false))), '{}')
  FROM moved m JOIN this_run ON this_run.job_id = m.id, clock
)
SELECT m.id AS "jobId", this_run.run_id AS "runId", m.at_version AS version,
  (extract(epoch FROM this_run.scheduled_at) * 1000)::float8 AS "scheduledMs"
FROM moved m JOIN this_run ON this_run.job_id = m.id`
