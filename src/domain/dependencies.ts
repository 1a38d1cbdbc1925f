import type { Sql } from '../platform/tx.ts'
import { maySee, type Viewer } from './access.ts'
import type { Domain } from './domain.ts'
import type { Violation } from './errors.ts'
import type { SpecInput } from './input.ts'
import { isFinal, type JobState } from './state.ts'
import { transition } from './transition.ts'

/** Jobs that wait for other jobs. Only jobs that exist can be named, so there are no cycles. */
export interface NamedJob {
  id: string
  userId: string
}

/** The jobs that submissions name; locked, so that none is deleted before the new one is stored. */
export async function readNamedJobs(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, NamedJob>> {
  if (ids.length === 0) return new Map()
  const rows = await sql.query<NamedJob>(
    'SELECT id, user_id AS "userId" FROM job WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb)) FOR KEY SHARE',
    [JSON.stringify([...new Set(ids)])],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

export function dependencyViolations(
  spec: SpecInput,
  named: ReadonlyMap<string, NamedJob>,
  viewer: Viewer,
): Violation[] {
  return (spec.dependsOn ?? []).flatMap(({ jobId }, index) => {
    const job = named.get(jobId)
    if (job && maySee(viewer, job)) return []
    return [{ path: ['spec', 'dependsOn', String(index), 'jobId'], message: `There is no job ${jobId}` }]
  })
}

/** true: holds; false: can no longer hold; null: still open. */
export function satisfied(on: string, state: JobState): boolean | null {
  if (!isFinal(state)) return null
  if (on === 'FINISHED') return true
  return on === 'SUCCEEDED' ? state === 'SUCCEEDED' : state === 'FAILED'
}

/** The same as a condition in SQL: the dependency `d` on the job `o` holds. */
export const holdsSql = `(o.state = 'SUCCEEDED' AND d."on" IN ('SUCCEEDED', 'FINISHED')
  OR o.state = 'FAILED' AND d."on" IN ('FAILED', 'FINISHED')
  OR o.state IN ('INTERRUPTED', 'CANCELLED') AND d."on" = 'FINISHED')`

const sweepMax = 500

/** Cancels waiting jobs whose dependency can no longer hold, unless they asked to keep waiting. Answers how many. */
export async function cancelHopeless({ db, clock, wakeups }: Domain): Promise<number> {
  const moved = await db.transaction(async (sql) => {
    const hopeless = await sql.query<{ id: string; run: number; onJobId: string; state: JobState; on: string }>(
      `SELECT DISTINCT ON (j.id) j.id, j.run_number AS run, o.id AS "onJobId", o.state, d."on"
       FROM queue_entry q JOIN dependency d ON d.job_id = q.job_id JOIN job o ON o.id = d.on_job_id JOIN job j ON j.id = q.job_id
       WHERE o.log_closed AND NOT ${holdsSql} AND j.spec->>'onDependencyFailure' = 'CANCEL'
       ORDER BY j.id LIMIT $1`,
      [sweepMax],
    )
    const moves = hopeless.map(({ id, run, onJobId, state, on }) => ({
      jobId: id,
      run,
      from: 'QUEUED' as const,
      to: 'CANCELLED' as const,
      reason: 'DEPENDENCY_FAILED' as const,
      info: `It depends on ${onJobId} to be ${on}, which is ${state}`,
    }))
    return transition(sql, moves, clock.now())
  })
  if (moved.length > 0) wakeups.poke('event')
  return moved.length
}
