import type { Sql } from '../../platform/tx.ts'
import { basePriority } from '../access.ts'
import type { ApprovalNeed } from '../control/approval-rules.ts'
import { computeBand, computeCountedBid, insertLanes, type Lane, listLanes, makeLane, type Policy } from '../lanes.ts'
import { toShape } from '../shape.ts'
import { toPsijState } from '../state.ts'
import { hashVersion, type StoredKey, type SubmissionKey } from './keys.ts'
import { type Beginning, type Inserted, type JobRow, toStoredJob } from './stored-job.ts'

export interface NewJob extends Beginning {
  runId: string
  policy: Policy
  shareAccount: string
  /** Expected cost; null: unknown. */
  cost: number | null
  key: SubmissionKey | null
  /** The expired key to replace; null: none. */
  replacedKey: StoredKey | null
  /** Start of the window of the capacity reservation, in milliseconds; null: no reservation. */
  opensMs: number | null
  slotId: string | null
  approval: ApprovalNeed | null
}

/** Inserts jobs. Returns the rows of those that are QUEUED. */
export async function insertJobs(sql: Sql, jobs: readonly NewJob[]): Promise<JobRow[]> {
  if (jobs.length === 0) return []
  const forms = new Map<string, Form>()
  const formed = jobs.map((job) => ({ job, form: addForm(job, forms) }))
  const rows = formed.map(({ job, form }, ord) => ({ ...jobRow(job), ord, form: form.n }))
  const lanes = listLanes([...forms.values()])
  const inserted = await sql.query<Inserted>(
    insertSql,
    [JSON.stringify(rows), `[${[...forms.values()].map(({ json }) => json).join()}]`, JSON.stringify(lanes)],
    'insert_jobs',
  )
  const byId = new Map(inserted.map((row) => [row.id, row]))
  return formed.flatMap(({ job, form }) => {
    const row = byId.get(job.id)
    return row ? [toStoredJob(job, row, form.lane.id)] : []
  })
}

function jobRow({ id, runId, key, slotId, approval }: NewJob) {
  const state = approval ? 'BLOCKED' : 'QUEUED'
  return {
    id,
    run_id: runId,
    state,
    psij: toPsijState(state, false),
    slot: slotId,
    key: key?.key,
    key_hash: key?.hash,
    key_seconds: key?.ttlSeconds,
  }
}

/**
 * Columns with values that are often equal in a group. Parsing specs into jsonb is most of the cost, so equal values
 * are sent once.
 */
interface Form {
  n: number
  lane: Lane
  json: string
}

function addForm(job: NewJob, forms: Map<string, Form>): Form {
  const { viewer, pool, policy, shareAccount, spec, cost, teamId, retryOf, gpuMost } = job
  const specJson = JSON.stringify(spec)
  const { userId, level } = viewer
  const name = JSON.stringify([userId, level, pool, policy, shareAccount, cost, teamId, retryOf, gpuMost]) + specJson
  const known = forms.get(name)
  if (known) return known
  const lane = makeLane({
    pool,
    userId: viewer.userId,
    teamId,
    account: shareAccount,
    spec,
    basePriority: basePriority[viewer.level],
    override: null,
  })
  const n = forms.size
  const form = { n, lane, json: `{"spec":${specJson},${JSON.stringify(formRow(job, lane, n)).slice(1)}` }
  forms.set(name, form)
  return form
}

function formRow(job: NewJob, lane: Lane, form: number) {
  const { viewer, pool, policy, spec, cost, teamId, retryOf, opensMs, gpuMost } = job
  const shape = toShape(spec.resources)
  return {
    form,
    user_id: viewer.userId,
    base_priority: basePriority[viewer.level],
    pool,
    name: spec.name,
    labels: Object.fromEntries(spec.labels.map(({ key, value }) => [key, value])),
    queue: spec.queue,
    executor: spec.executor,
    account: spec.account,
    project: spec.project,
    estimated_cost: spec.estimatedCost,
    cost,
    cpu_millis: shape.cpuMillis * shape.copies,
    memory_bytes: shape.memoryBytes * shape.copies,
    gpu: shape.gpu * shape.copies,
    gpu_most: gpuMost,
    not_before: spec.notBefore,
    opens_at: opensMs === null ? null : new Date(opensMs),
    depends: spec.dependsOn.length > 0,
    team_id: teamId,
    retry_of: retryOf,
    snapshot_id: spec.snapshot,
    lane_id: lane.id,
    band: computeBand(lane),
    bid: computeCountedBid(policy, spec),
    interactive_user: spec.interactive ? viewer.userId : null,
  }
}

/**
 * Foreign keys are checked at the end of the statement, so only the parts that need the job's sequence depend on
 * `inserted`.
 */
const insertSql = `
WITH lanes AS (${insertLanes('$3')}),
clock AS MATERIALIZED (SELECT berth_now() AS now),
form AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::text::jsonb) AS f(
    form int, user_id text, base_priority int, pool text, spec jsonb, name text, labels jsonb, queue text, executor text,
    account text, project text, estimated_cost float8, cost float8, cpu_millis int, memory_bytes bigint, gpu int, gpu_most int,
    not_before timestamptz, opens_at timestamptz, depends boolean, team_id text, retry_of text, lane_id uuid, band int, bid int,
    interactive_user text, snapshot_id text)
),
new AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS n(
    ord int, id text, run_id text, form int, state job_state, psij text, slot text, key text, key_hash text,
    key_seconds int)
  JOIN form USING (form)
),
inserted AS (
  INSERT INTO job (id, user_id, name, labels, spec, state, pool, queue, executor, account, project, base_priority,
    estimated_cost, cpu_millis, memory_bytes, gpu, gpu_most, not_before, team_id, lane_id, snapshot_id, retry_of_id, created_at, queued_at, eligible_at)
  SELECT id, user_id, name, labels, spec, state, pool, queue, executor, account, project, base_priority,
    estimated_cost, cpu_millis, memory_bytes, gpu, gpu_most, not_before, team_id, lane_id, snapshot_id,
    (SELECT r.id FROM job r WHERE r.id = new.retry_of), clock.now,
    CASE WHEN state = 'QUEUED' THEN clock.now END, CASE WHEN state = 'QUEUED' THEN greatest(not_before, opens_at, clock.now) END
  FROM new, clock ORDER BY ord
  RETURNING id, pool, sequence, eligible_at, state
),
first_run AS (
  INSERT INTO run (id, job_id, number, pool, state, interactive_user_id, created_at)
  SELECT new.run_id, new.id, 1, new.pool, new.state, new.interactive_user, clock.now FROM new, clock
),
entry AS (
  INSERT INTO queue_entry (job_id, pool, lane_id, band, bid, sequence, open, eligible_at, run_id, run)
  SELECT id, i.pool, new.lane_id, new.band, new.bid, i.sequence,
    i.eligible_at <= clock.now AND NOT new.depends, i.eligible_at, new.run_id, 1
  FROM inserted i JOIN new USING (id), clock WHERE i.state = 'QUEUED'
),
waits AS (
  INSERT INTO dependency (job_id, position, on_job_id, "on")
  SELECT new.id, d.ordinality - 1, d.value->>'jobId', d.value->>'on'
  FROM new, jsonb_array_elements(new.spec->'dependsOn') WITH ORDINALITY d WHERE new.depends
),
keys AS (
  INSERT INTO idempotency_key (user_id, key, payload_hash, hash_version, job_id, created_at, expires_at)
  SELECT new.user_id, new.key, decode(new.key_hash, 'hex'), ${hashVersion}, new.id, clock.now,
    clock.now + new.key_seconds * interval '1 second'
  FROM new, clock WHERE new.key IS NOT NULL
),
used AS (
  INSERT INTO usage_ledger (job_id, user_id, team_id, account, at, cost)
  SELECT new.id, new.user_id, new.team_id, new.account, clock.now, coalesce(new.cost, 0) FROM new, clock
),
consumed AS (
  UPDATE slot_reservation SET consumed_at = clock.now, job_id = new.id FROM new, clock
  WHERE slot_reservation.id = ANY (ARRAY(SELECT slot FROM new WHERE slot IS NOT NULL)) AND slot_reservation.id = new.slot
),
begun AS (
  INSERT INTO event (job_id, seq, at, type, to_state, psij_state, run, actor_id)
  SELECT new.id, 1, clock.now, 'CREATED', new.state, new.psij, 1, new.user_id FROM new, clock
)
SELECT id, sequence, (extract(epoch FROM clock.now) * 1000)::float8 AS "createdMs",
  (extract(epoch FROM eligible_at) * 1000)::float8 AS "eligibleMs"
FROM inserted, clock WHERE state = 'QUEUED'`
