import { demandOver, type Viewer } from '../access.ts'
import { accepts } from '../actions.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidState, jobNotFound } from '../errors.ts'
import { demandVersion, lockJobs } from '../jobs/job-head.ts'
import { removeJobs } from '../jobs/retention.ts'
import { readFactsOfFinalJobs } from './allowed-actions.ts'

/** Removes a final job with its runs, events and logs; the feed reports the deletion. */
export async function deleteJob(
  domain: Domain,
  viewer: Viewer,
  { jobId, expectedVersion }: { jobId: string; expectedVersion?: number | null | undefined },
): Promise<{ id: string }> {
  await domain.db.transaction(async (sql) => {
    const job = (await lockJobs(sql, [jobId])).get(jobId)
    if (!job) throw jobNotFound(jobId)
    demandOver(viewer, job, 'delete')
    demandVersion(job, expectedVersion)
    if (!accepts('DELETE', job.state))
      throw new InvalidState(`The job is ${job.state}; cancel it first, then delete it`, jobId)
    const [left] = await readFactsOfFinalJobs(sql, [jobId])
    if (left?.awaitedBy)
      throw new InvalidState(`Job ${left.awaitedBy} depends on it; cancel ${left.awaitedBy} first`, jobId)
    await removeJobs(sql, [jobId])
    await audit(sql, viewer, [{ action: 'job.delete', objectId: jobId }], domain.time.nowMs())
  })
  domain.wakeups.poke('event')
  domain.wakeups.poke('log')
  return { id: jobId }
}
