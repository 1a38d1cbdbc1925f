import type { Sql } from '../../platform/tx.ts'
import { mayActOn, maySee, type Viewer } from '../access.ts'
import { isActionAccepted, type JobAction, needsOwnEnvironment } from '../actions.ts'
import { findTraits } from '../executors.ts'
import type { Policy } from '../lanes.ts'
import type { JobState } from '../state.ts'
import { mayDecide, type Request } from './approvers.ts'

interface JobNow {
  userId: string
  state: JobState
  executor: string
  /** null: the job is not BLOCKED. */
  approval: Request | null
  /** null: the job is not final. */
  left: FinalFacts | null
  policy: Policy
  /** false: its pool permits no sessions. */
  permitsSessions: boolean
  sharesTeam: boolean
}

interface FinalFacts {
  jobId: string
  /** A job that depends on this one and is not final; null: no job does. */
  awaitedBy: string | null
  hasEnvironment: boolean
}

export const readFactsOfFinalJobs = (sql: Sql, jobIds: readonly string[]): Promise<FinalFacts[]> =>
  sql.query<FinalFacts>(
    `SELECT job.id AS "jobId", job.spec->'environment' <> '[]' AS "hasEnvironment",
       (SELECT j.id FROM dependency d JOIN job j ON j.id = d.job_id WHERE d.on_job_id = job.id AND NOT j.log_closed LIMIT 1)
         AS "awaitedBy"
     FROM job WHERE job.id = ANY($1::text[])`,
    [jobIds],
    'left_of_jobs',
  )

export function listAllowedActions(viewer: Viewer, job: JobNow, singleUser: boolean): JobAction[] {
  const { awaitedBy = null, hasEnvironment = false } = job.left ?? {}
  const mayDecideIt = job.approval !== null && mayDecide(viewer, job.approval, singleUser)
  const maySession = mayActOn(viewer, job, 'exec') && job.permitsSessions
  const { sessions } = findTraits(job.executor)
  const may: Readonly<Record<JobAction, boolean>> = {
    CANCEL: mayActOn(viewer, job, 'cancel'),
    RETRY: viewer.permissions.has('job.submit') && !needsOwnEnvironment(viewer, { ...job, hasEnvironment }),
    APPROVE: mayDecideIt && (singleUser || !job.approval?.requesterDisabled),
    REJECT: mayDecideIt,
    SET_PRIORITY: viewer.permissions.has('job.priority') && job.policy === 'PRIORITY',
    DELETE: mayActOn(viewer, job, 'delete') && awaitedBy === null,
    OPEN_SESSION: maySession && sessions.includes('exec'),
    OPEN_FORWARD: maySession && sessions.includes('connect'),
  }
  if (!maySee(viewer, job)) return []
  return (Object.keys(may) as JobAction[]).filter((action) => may[action] && isActionAccepted(action, job.state))
}
