/** Changes a job without changing its state: increments its version and writes an event with that number. */

export const nextVersionSql = 'version = job.version + 1'

export const jobEventTypes = [
  'CREATED',
  'STATE_CHANGED',
  'APPROVAL_REQUESTED',
  'APPROVAL_DECIDED',
  'ARTIFACT_PUBLISHED',
  'LATE_REPORT',
  'PREEMPT_REQUESTED',
  'PREEMPT_WITHDRAWN',
  'PRIORITY_CHANGED',
  'SESSION_OPENED',
  'SESSION_ENDED',
] as const
export type JobEventType = (typeof jobEventTypes)[number]

interface JobChange {
  /** Selects the jobs to change: the rest of `UPDATE job SET …`, beginning with FROM or WHERE. */
  jobs: string
  /** Assignments to columns of the job that change with its version. */
  set?: readonly string[]
  type: Exclude<JobEventType, 'CREATED' | 'STATE_CHANGED'>
  /** Columns of the event, as expressions over the job and `jobs`. `at` defaults to the time of the statement. */
  event: Partial<Record<'at' | 'reason' | 'message' | 'run' | 'actor_id' | 'metadata', string>>
}

/** Builds two parts of a WITH clause: `changed` updates the jobs (id, version), `told` inserts their events (job_id). */
export function jobChangeSql({ jobs, set = [], type, event }: JobChange): string {
  const columns = Object.entries({ at: 'berth_now()', ...event })
  const named = columns.map(([column, value]) => `${value} AS ${column}`)
  const names = columns.map(([column]) => column)
  return `changed AS (
  UPDATE job SET ${[nextVersionSql, ...set].join(', ')} ${jobs} RETURNING job.id, job.version, ${named.join(', ')}
),
told AS (
  INSERT INTO event (job_id, seq, type, ${names.join(', ')}) SELECT id, version, '${type}', ${names.join(', ')} FROM changed RETURNING job_id
)`
}
