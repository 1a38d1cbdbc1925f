import type { Sql } from '../platform/tx.ts'
import { basePriority, type Viewer } from './access.ts'
import type { ApprovalNeed } from './approval-rules.ts'
import { hashVersion, type StoredKey, type SubmissionKey } from './keys.ts'
import { shapeOf } from './shape.ts'
import type { JobSpec } from './spec.ts'
import { psijState } from './state.ts'

/** The beginning of every job: job, run 1, queue entry, dependencies and event 1 in one statement for a whole group. */
export interface NewJob {
  id: string
  runId: string
  viewer: Viewer
  pool: string
  spec: JobSpec
  teamId: string | null
  key: SubmissionKey | null
  /** The same key of before, whose time is over. */
  replacedKey: StoredKey | null
  retryOf: string | null
  /** The slot reservation that it consumes. */
  slotId: string | null
  /** null: nobody need say yes. */
  approval: ApprovalNeed | null
}

export async function insertJobs(sql: Sql, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length > 0) await sql.query(insertSql, [JSON.stringify(jobs.map(jobRow))], 'insert_jobs')
}

function jobRow(job: NewJob, ord: number) {
  const { id, runId, viewer, pool, spec, teamId, key, retryOf, slotId, approval } = job
  const state = approval ? 'BLOCKED' : 'QUEUED'
  const shape = shapeOf(spec.resources)
  return {
    ord,
    id,
    run_id: runId,
    user_id: viewer.userId,
    base_priority: basePriority[viewer.level],
    pool,
    spec,
    name: spec.name,
    labels: Object.fromEntries(spec.labels.map(({ key, value }) => [key, value])),
    queue: spec.queue,
    executor: spec.executor,
    account: spec.account,
    project: spec.project,
    estimated_cost: spec.estimatedCost,
    cpu_millis: shape.cpuMillis * shape.copies,
    memory_bytes: shape.memoryBytes * shape.copies,
    gpu: shape.gpu * shape.copies,
    not_before: spec.notBefore,
    team_id: teamId,
    retry_of: retryOf,
    state,
    psij: psijState(state, false),
    slot: slotId,
    key: key?.key ?? null,
    key_hash: key?.hash ?? null,
    key_version: hashVersion,
    key_seconds: key?.ttlSeconds ?? null,
  }
}

const insertSql = `
WITH clock AS MATERIALIZED (SELECT berth_now() AS now),
new AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS n(
    ord int, id text, run_id text, user_id text, base_priority int, pool text, spec jsonb, name text, labels jsonb,
    queue text, executor text, account text, project text, estimated_cost float8, cpu_millis int, memory_bytes bigint,
    gpu int, not_before timestamptz, team_id text, retry_of text, key text, key_hash text, key_version int,
    key_seconds int, state job_state, psij text, slot text)
),
inserted AS (
  INSERT INTO job (id, user_id, name, labels, spec, state, pool, queue, executor, account, project, base_priority,
    estimated_cost, cpu_millis, memory_bytes, gpu, not_before, team_id, retry_of_id, created_at, queued_at, eligible_at)
  SELECT id, user_id, name, labels, spec, state, pool, queue, executor, account, project, base_priority,
    estimated_cost, cpu_millis, memory_bytes, gpu, not_before, team_id,
    (SELECT r.id FROM job r WHERE r.id = new.retry_of), clock.now,
    CASE WHEN state = 'QUEUED' THEN clock.now END, CASE WHEN state = 'QUEUED' THEN greatest(not_before, clock.now) END
  FROM new, clock ORDER BY ord
  RETURNING id, pool, sequence, eligible_at, user_id, team_id, account, estimated_cost, state,
    berth_scopes(user_id, team_id, queue, project, gpu) AS scopes
),
first_run AS (
  INSERT INTO run (id, job_id, number, pool, state, created_at)
  SELECT new.run_id, new.id, 1, new.pool, new.state, clock.now FROM new JOIN inserted USING (id), clock
),
entry AS (
  INSERT INTO queue_entry (job_id, pool, sequence, eligible_at, scopes)
  SELECT id, pool, sequence, eligible_at, scopes FROM inserted WHERE state = 'QUEUED'
),
waits AS (
  INSERT INTO dependency (job_id, position, on_job_id, "on")
  SELECT new.id, d.ordinality - 1, d.value->>'jobId', d.value->>'on'
  FROM new JOIN inserted USING (id), jsonb_array_elements(new.spec->'dependsOn') WITH ORDINALITY d
),
keys AS (
  INSERT INTO idempotency_key (user_id, key, payload_hash, hash_version, job_id, created_at, expires_at)
  SELECT new.user_id, new.key, decode(new.key_hash, 'hex'), new.key_version, new.id, clock.now,
    clock.now + new.key_seconds * interval '1 second'
  FROM new JOIN inserted USING (id), clock WHERE new.key IS NOT NULL
),
used AS (
  INSERT INTO usage_ledger (job_id, user_id, team_id, account, at, cost)
  SELECT id, user_id, team_id, account, clock.now, coalesce(estimated_cost, 0) FROM inserted, clock
),
consumed AS (
  UPDATE slot_reservation SET consumed_at = clock.now, job_id = new.id FROM new, clock WHERE slot_reservation.id = new.slot
)
INSERT INTO event (job_id, seq, at, type, to_state, psij_state, run, actor_id)
SELECT new.id, 1, clock.now, 'CREATED', new.state, new.psij, 1, new.user_id FROM new JOIN inserted USING (id), clock`
