import { type JobRow, jobStore } from '../../features/jobs/rows/job-store.ts'
import {
  type JobFilter,
  ListJobsDocument,
  ListUpdatesDocument,
  type ListUpdatesSubscription,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { type Resource, useResource } from '../../ground/resource.ts'

interface LabelJobs {
  jobs: readonly JobRow[]
  /** true: more jobs have the label than were read. */
  isCut: boolean
}

const jobsMax = 1_000
const jobsPerRead = 100
const forever = { attempts: Number.POSITIVE_INFINITY }

/** A live list of all jobs with a label. */
export const useLabelJobs = (key: string, value: string): Resource<LabelJobs> =>
  useResource<LabelJobs>(`jobs of label ${JSON.stringify([key, value])}`, async (signal, put) => {
    const filter = { labels: [{ key, value }] }
    while (!signal.aborted) {
      const jobs = new Map<string, JobRow>()
      const { asOf, isCut } = await readAll(filter, jobs, signal)
      const show = () => put({ jobs: [...jobs.values()], isCut })
      show()
      for await (const { jobUpdates } of client.subscribe(ListUpdatesDocument, { filter, after: asOf }, { signal })) {
        if (!applyUpdate(jobs, jobUpdates)) break
        show()
      }
    }
  })

type Update = ListUpdatesSubscription['jobUpdates']

/** Stores a job unless the map has a newer version. */
function putNewer(jobs: Map<string, JobRow>, job: JobRow): void {
  jobStore.put(job)
  if ((jobs.get(job.id)?.version ?? -1) <= job.version) jobs.set(job.id, job)
}

/** Applies a message of the stream. Returns false if the jobs must be read again. */
function applyUpdate(jobs: Map<string, JobRow>, update: Update): boolean {
  if (update.__typename === 'JobTransitions') {
    if (update.matches) putNewer(jobs, update.job)
    else jobs.delete(update.job.id)
  } else if (update.__typename === 'StreamReset') {
    if (update.resetReason !== 'DELETED') return false
    for (const id of update.jobIds ?? []) jobs.delete(id)
  }
  return true
}

/** Reads all jobs. The returned cursor is that of the first page, so the stream repeats changes during the read. */
async function readAll(filter: JobFilter, jobs: Map<string, JobRow>, signal: AbortSignal) {
  let asOf: string | null = null
  let after: string | null = null
  do {
    const variables: { filter: JobFilter; first: number; after: string | null } = { filter, first: jobsPerRead, after }
    const { jobs: page } = await client.request(ListJobsDocument, variables, { ...forever, signal })
    asOf ??= page.asOf
    for (const job of page.nodes) putNewer(jobs, job)
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after !== null && jobs.size < jobsMax)
  return { asOf, isCut: after !== null }
}
