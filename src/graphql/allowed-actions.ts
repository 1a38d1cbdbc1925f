import type { Viewer } from '../domain/access.ts'
import { isFinal, type JobState } from '../domain/state.ts'

/** What the viewer may do with a job now: permission and state combined, for buttons that would not be refused. */
export function allowedActions(viewer: Viewer, job: { userId: string; state: JobState }): ('CANCEL' | 'DELETE')[] {
  const may = (verb: 'cancel' | 'delete') =>
    viewer.permissions.has(`job.${verb}.all`) ||
    (job.userId === viewer.userId && viewer.permissions.has(`job.${verb}.own`))
  if (isFinal(job.state)) return may('delete') ? ['DELETE'] : []
  return job.state !== 'CANCELLING' && may('cancel') ? ['CANCEL'] : []
}
