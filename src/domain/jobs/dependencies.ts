import type { Sql } from '../../platform/tx.ts'
import { maySee, type Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import type { Violation } from '../errors.ts'
import type { SpecInput } from '../input.ts'
import { isFinal, type JobState } from '../state.ts'
import { transition } from './transition.ts'

/** Dependencies between jobs. A job can depend only on existing jobs, so cycles cannot form. */

export interface NamedJob {
  id: string
  userId: string
}

/** Locks the jobs, so that they are not deleted before the new job is stored. */
export async function readNamedJobs(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, NamedJob>> {
  if (ids.length === 0) return new Map()
  const rows = await sql.query<NamedJob>(
    'SELECT id, user_id AS "userId" FROM job WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb)) FOR KEY SHARE',
    [JSON.stringify([...new Set(ids)])],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

export function listDependencyViolations(
  spec: SpecInput,
  named: ReadonlyMap<string, NamedJob>,
  viewer: Viewer,
): Violation[] {
  return (spec.dependsOn ?? []).flatMap(({ jobId }, index) => {
    const job = named.get(jobId)
    if (job && maySee(viewer, job)) return []
    return [{ path: ['spec', 'dependsOn', String(index), 'jobId'], message: `Job ${jobId} not found` }]
  })
}

/** false: the dependency can no longer be satisfied; null: the other job is not over. */
export function isSatisfied(on: string, state: JobState): boolean | null {
  if (!isFinal(state)) return null
  if (on === 'FINISHED') return true
  return on === 'SUCCEEDED' ? state === 'SUCCEEDED' : state === 'FAILED'
}

export const dependencyMetSql = `(o.state = 'SUCCEEDED' AND d."on" IN ('SUCCEEDED', 'FINISHED')
  OR o.state = 'FAILED' AND d."on" IN ('FAILED', 'FINISHED')
  OR o.state IN ('INTERRUPTED', 'CANCELLED') AND d."on" = 'FINISHED')`

export const gatesMax = 500

export type Gates = { jobIds: readonly string[] } | { pool: string; afterMs: number; untilMs: number }

const chosenSql = {
  jobs: 'q.job_id = ANY($1::text[])',
  times:
    'q.pool = $1 AND q.eligible_at > to_timestamp($2::float8 / 1000) AND q.eligible_at <= to_timestamp($3::float8 / 1000)',
}

/** Opens the gates that are due. Returns their number. An entry that depended on other jobs begins to wait now. */
export async function openGates(sql: Sql, gates: Gates): Promise<number> {
  const [condition, values, name] =
    'jobIds' in gates
      ? [chosenSql.jobs, [gates.jobIds], 'open_gates']
      : [chosenSql.times, [gates.pool, gates.afterMs, gates.untilMs], 'open_due']
  const opened = await sql.query(openSql(condition), values, name)
  return opened.length
}

/** Locks jobs before their entries, in the lock order of transitions. */
const openSql = (condition: string) => `
WITH due AS MATERIALIZED (
  SELECT q.job_id, EXISTS (SELECT FROM dependency d WHERE d.job_id = q.job_id) AS depends FROM queue_entry q
  WHERE NOT q.open AND q.eligible_at <= (SELECT berth_now()) AND ${condition}
    AND NOT EXISTS (SELECT FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = q.job_id AND NOT ${dependencyMetSql})
  ORDER BY q.eligible_at LIMIT ${gatesMax}
),
locked AS MATERIALIZED (
  SELECT job.id, berth_now() AS now FROM job WHERE id IN (SELECT job_id FROM due) ORDER BY id FOR NO KEY UPDATE
),
waited AS (
  UPDATE job SET eligible_at = locked.now FROM locked JOIN due ON due.job_id = locked.id WHERE job.id = locked.id AND due.depends
)
UPDATE queue_entry SET open = true, eligible_at = CASE WHEN due.depends THEN locked.now ELSE queue_entry.eligible_at END
FROM due JOIN locked ON locked.id = due.job_id WHERE queue_entry.job_id = due.job_id AND NOT queue_entry.open
RETURNING 1`

/** Cancels jobs whose dependencies can no longer be satisfied. Returns their number. */
export async function cancelHopeless({ db, time, wakeups }: Domain, among: Hopeless): Promise<number> {
  const moved = await db.transaction(async (sql) => {
    const hopeless = await readHopeless(sql, among)
    const moves = hopeless.map(({ id, run, onJobId, state, on }) => ({
      jobId: id,
      run,
      from: 'QUEUED' as const,
      to: 'CANCELLED' as const,
      reason: 'DEPENDENCY_FAILED' as const,
      info: `Depends on ${onJobId} being ${on}, but that job is ${state}`,
    }))
    return transition(sql, moves, time.nowMs())
  })
  if (moved.length > 0) for (const topic of ['event', 'queue'] as const) wakeups.poke(topic)
  return moved.length
}

type Hopeless = { jobIds: readonly string[] } | { pool: string }

interface HopelessRow {
  id: string
  run: number
  onJobId: string
  state: JobState
  on: string
}

/** Reads jobs whose dependencies can no longer be satisfied, and all jobs that depend on them in turn. */
function readHopeless(sql: Sql, among: Hopeless): Promise<HopelessRow[]> {
  const [condition, value, name] =
    'jobIds' in among
      ? ['q.job_id = ANY($1::text[])', among.jobIds, 'hopeless']
      : ['q.pool = $1', among.pool, 'hopeless_of']
  return sql.query<HopelessRow>(
    `WITH RECURSIVE hopeless AS (
       SELECT j.id, j.run_number, o.id AS on_job_id, o.state, d."on"
       FROM queue_entry q JOIN dependency d ON d.job_id = q.job_id JOIN job o ON o.id = d.on_job_id JOIN job j ON j.id = q.job_id
       WHERE ${condition} AND NOT q.open AND o.log_closed AND NOT ${dependencyMetSql} AND j.spec->>'onDependencyFailure' = 'CANCEL'
       UNION
       SELECT j.id, j.run_number, h.id, 'CANCELLED', d."on"
       FROM hopeless h JOIN dependency d ON d.on_job_id = h.id JOIN queue_entry q ON q.job_id = d.job_id JOIN job j ON j.id = q.job_id
       WHERE NOT q.open AND d."on" <> 'FINISHED' AND j.spec->>'onDependencyFailure' = 'CANCEL'
     )
     SELECT DISTINCT ON (id) id, run_number AS run, on_job_id AS "onJobId", state, "on"
     FROM hopeless ORDER BY id LIMIT ${gatesMax}`,
    [value],
    name,
  )
}
