import { demandMayActOn, type Viewer } from '../access.ts'
import { isActionAccepted } from '../actions.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidState, jobNotFound, orRefusal, Refusal, takeOnlyOutcome } from '../errors.ts'
import { demandVersion, type JobHead, lockJobs } from '../jobs/job-head.ts'
import { removeJobs } from '../jobs/retention.ts'
import { readFactsOfFinalJobs } from './allowed-actions.ts'

interface DeleteInput {
  jobId: string
  expectedVersion?: number | null | undefined
}

interface Deleted {
  id: string
}

export async function deleteJob(domain: Domain, viewer: Viewer, input: DeleteInput): Promise<Deleted> {
  return takeOnlyOutcome(await deleteJobs(domain, viewer, [input]))
}

/** Removes final jobs with their runs, events and logs; the feed reports the deletions. Each job may be named once. */
export async function deleteJobs(
  domain: Domain,
  viewer: Viewer,
  inputs: readonly DeleteInput[],
): Promise<(Deleted | Refusal)[]> {
  const outcomes = await domain.db.transaction(async (sql) => {
    const ids = inputs.map(({ jobId }) => jobId)
    const jobs = await lockJobs(sql, ids)
    const facts = await readFactsOfFinalJobs(sql, ids)
    const awaited = new Map(facts.map(({ jobId, awaitedBy }) => [jobId, awaitedBy]))
    const decided = inputs.map((input) =>
      orRefusal(() => demandDelete(viewer, input, { job: jobs.get(input.jobId), awaitedBy: awaited.get(input.jobId) })),
    )
    const deleted = decided.flatMap((one) => (one instanceof Refusal ? [] : [one.id]))
    await removeJobs(sql, deleted)
    const records = deleted.map((objectId) => ({ action: 'job.delete', objectId }))
    await audit(sql, viewer, records, domain.time.nowMs())
    return decided
  })
  for (const topic of ['event', 'log'] as const) domain.wakeups.poke(topic)
  return outcomes
}

interface Found {
  job: JobHead | undefined
  awaitedBy: string | null | undefined
}

function demandDelete(viewer: Viewer, { jobId, expectedVersion }: DeleteInput, { job, awaitedBy }: Found): Deleted {
  if (!job) throw jobNotFound(jobId)
  demandMayActOn(viewer, job, 'delete')
  demandVersion(job, expectedVersion)
  if (!isActionAccepted('DELETE', job.state))
    throw new InvalidState(`The job is ${job.state}; cancel it first, then delete it`, jobId)
  if (awaitedBy) throw new InvalidState(`Job ${awaitedBy} depends on it; cancel ${awaitedBy} first`, jobId)
  return { id: jobId }
}
