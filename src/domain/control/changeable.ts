import { demand, type Viewer } from '../access.ts'

/**
 * SQL conditions on the table alias `j`, besides visibility and state, for the jobs that an action of this viewer would
 * change now. A changed job does not meet its condition again, so an action on all matching jobs can be repeated until
 * no job is left. They throw Forbidden if the viewer may act on no job.
 */

type Bind = (value: unknown) => string

export function buildCancellableSql(viewer: Viewer, bind: Bind): string {
  const { permissions, userId } = viewer
  if (permissions.has('job.cancel.all')) return 'TRUE'
  const team = permissions.has('job.cancel.team')
  if (!team) demand(viewer, 'job.cancel.own')
  const own = permissions.has('job.cancel.own') ? `j.user_id = ${bind(userId)}` : 'FALSE'
  if (!team) return own
  return `(${own} OR EXISTS (SELECT FROM team_member m WHERE m.team_id = j.team_id AND m.user_id = ${bind(userId)}))`
}

export function buildDeletableSql(viewer: Viewer, bind: Bind): string {
  const all = viewer.permissions.has('job.delete.all')
  if (!all) demand(viewer, 'job.delete.own')
  return `${all ? 'TRUE' : `j.user_id = ${bind(viewer.userId)}`} AND NOT EXISTS (
    SELECT FROM dependency d JOIN job waiting ON waiting.id = d.job_id WHERE d.on_job_id = j.id AND NOT waiting.log_closed)`
}

/** `hasEnvironment`: the overrides replace the environment, which is never copied from the job of another user. */
export function buildRetryableSql(viewer: Viewer, hasEnvironment: boolean, bind: Bind): string {
  demand(viewer, 'job.submit')
  const copied = hasEnvironment ? 'TRUE' : `(j.user_id = ${bind(viewer.userId)} OR j.spec->'environment' = '[]')`
  return `NOT EXISTS (SELECT FROM job r WHERE r.retry_of_id = j.id AND r.user_id = ${bind(viewer.userId)}) AND ${copied}`
}

/** Only pools with the policy PRIORITY order by a set priority. */
export function buildPrioritySql(viewer: Viewer, priority: number | null, bind: Bind): string {
  demand(viewer, 'job.priority')
  const ordered =
    priority === null ? 'TRUE' : `EXISTS (SELECT FROM pool p WHERE p.name = j.pool AND p.policy = 'PRIORITY')`
  return `j.priority_override IS DISTINCT FROM ${bind(priority)}::int AND ${ordered}`
}
