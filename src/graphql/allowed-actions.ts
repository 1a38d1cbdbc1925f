import type { Viewer } from '../domain/access.ts'
import { mayDecide, type Request } from '../domain/control/decisions.ts'
import { isFinal, type JobState, stateCategory } from '../domain/state.ts'

export type JobAction = 'CANCEL' | 'RETRY' | 'APPROVE' | 'REJECT' | 'SET_PRIORITY' | 'DELETE'

/** What the viewer may do with a job now: permission and state combined, for buttons that would not be refused. */
export function allowedActions(
  viewer: Viewer,
  job: { userId: string; state: JobState },
  { approval, singleUser }: { approval: Request | null; singleUser: boolean },
): JobAction[] {
  const may = (verb: 'cancel' | 'delete') =>
    viewer.permissions.has(`job.${verb}.all`) ||
    (job.userId === viewer.userId && viewer.permissions.has(`job.${verb}.own`))
  const retries: JobAction[] = job.userId === viewer.userId && viewer.permissions.has('job.submit') ? ['RETRY'] : []
  if (isFinal(job.state)) return may('delete') ? [...retries, 'DELETE'] : retries
  const decisions: JobAction[] = approval && mayDecide(viewer, approval, singleUser) ? ['APPROVE', 'REJECT'] : []
  const waits = stateCategory[job.state] === 'WAITING'
  return [
    ...(job.state !== 'CANCELLING' && may('cancel') ? (['CANCEL'] as const) : []),
    ...decisions,
    ...(waits && viewer.permissions.has('job.priority') ? (['SET_PRIORITY'] as const) : []),
  ]
}
