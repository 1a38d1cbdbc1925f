import { demandOver, type Viewer } from '../access.ts'
import { accepts } from '../actions.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidState, jobNotFound } from '../errors.ts'
import { demandVersion, lockJobs } from '../jobs/job-head.ts'
import { removeJobs } from '../jobs/retention.ts'

/** Removes a final job with its runs, events and logs; the feed tells that it is gone. */
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
    const [dependent] = await sql.query<{ id: string }>(`${awaitingSql('$1')} LIMIT 1`, [jobId])
    if (dependent) throw new InvalidState(`Job ${dependent.id} depends on it; cancel ${dependent.id} first`, jobId)
    await removeJobs(sql, [jobId])
    await audit(sql, viewer, [{ action: 'job.delete', objectId: jobId }], domain.time.nowMs())
  })
  domain.wakeups.poke('event')
  domain.wakeups.poke('log')
  return { id: jobId }
}

/** The jobs that are not final and depend on this one. */
export const awaitingSql = (jobId: string) =>
  `SELECT j.id FROM dependency d JOIN job j ON j.id = d.job_id WHERE d.on_job_id = ${jobId} AND NOT j.log_closed`
