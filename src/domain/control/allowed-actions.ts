import type { Sql } from '../../platform/tx.ts'
import { mayOver, maySee, type Viewer } from '../access.ts'
import { accepts, type JobAction, needsOwnEnvironment } from '../actions.ts'
import type { JobState } from '../state.ts'
import { mayDecide, type Request } from './approvers.ts'
import { awaitingSql } from './remove.ts'

interface JobNow {
  userId: string
  state: JobState
  /** Request of a job that is BLOCKED. */
  approval: Request | null
  /** What is left of a final job. */
  left: Left | null
}

/** What is left of a final job that may prevent an action. */
export interface Left {
  jobId: string
  /** A job that is not final depends on it. */
  isAwaited: boolean
  /** Its spec has environment variables. */
  hasEnvironment: boolean
}

export const readLeft = (sql: Sql, jobIds: readonly string[]): Promise<Left[]> =>
  sql.query<Left>(
    `SELECT job.id AS "jobId", job.spec->'environment' <> '[]' AS "hasEnvironment",
       EXISTS (SELECT FROM (${awaitingSql('job.id')}) a) AS "isAwaited"
     FROM job WHERE job.id = ANY($1::text[])`,
    [jobIds],
    'left_of_jobs',
  )

/**
 * The actions that the viewer may do with a job now, for a request with the id alone. An action in the result is not
 * refused.
 */
export function allowedActions(viewer: Viewer, job: JobNow, singleUser: boolean): JobAction[] {
  const { isAwaited = false, hasEnvironment = false } = job.left ?? {}
  const mayDecideIt = job.approval !== null && mayDecide(viewer, job.approval, singleUser)
  const may: Readonly<Record<JobAction, boolean>> = {
    CANCEL: mayOver(viewer, job, 'cancel'),
    RETRY: viewer.permissions.has('job.submit') && !needsOwnEnvironment(viewer, { ...job, hasEnvironment }),
    APPROVE: mayDecideIt,
    REJECT: mayDecideIt,
    SET_PRIORITY: viewer.permissions.has('job.priority'),
    DELETE: mayOver(viewer, job, 'delete') && !isAwaited,
  }
  if (!maySee(viewer, job)) return []
  return (Object.keys(may) as JobAction[]).filter((action) => may[action] && accepts(action, job.state))
}
