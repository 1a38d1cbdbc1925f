import type { RequestFailed } from '@berth-jobs/berth/client'
import { useEffect, useState } from 'react'
import { type JobRow, jobStore } from '../../features/jobs/rows/job-store.ts'
import {
  type JobFilter,
  ListJobsDocument,
  ListUpdatesDocument,
  type ListUpdatesSubscription,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { toFailure } from '../../ground/to-failure.ts'

interface LabelJobs {
  jobs: readonly JobRow[]
  /** More jobs have the label than are read. */
  isCut: boolean
  isLoading: boolean
  failure: RequestFailed | null
}

const jobsMax = 1_000
const jobsPerRead = 100
const forever = { attempts: Number.POSITIVE_INFINITY }
const nothing: LabelJobs = { jobs: [], isCut: false, isLoading: true, failure: null }

/** All jobs of a label, live. */
export function useLabelJobs(key: string, value: string): LabelJobs {
  const [state, setState] = useState(nothing)
  useEffect(() => {
    const leave = new AbortController()
    const { signal } = leave
    const change = (next: Partial<LabelJobs>) => {
      if (!signal.aborted) setState((before) => ({ ...before, ...next }))
    }
    setState(nothing)
    follow({ labels: [{ key, value }] }, change, signal).catch((error: unknown) => {
      const failure = toFailure(error)
      change({ failure, isLoading: false })
    })
    return () => leave.abort()
  }, [key, value])
  return state
}

type Update = ListUpdatesSubscription['jobUpdates']

async function follow(filter: JobFilter, change: (next: Partial<LabelJobs>) => void, signal: AbortSignal) {
  while (!signal.aborted) {
    const jobs = new Map<string, JobRow>()
    const { asOf, isCut } = await readAll(filter, jobs, signal)
    const show = () => change({ jobs: [...jobs.values()], isCut, isLoading: false, failure: null })
    show()
    for await (const { jobUpdates } of client.subscribe(ListUpdatesDocument, { filter, after: asOf }, { signal })) {
      if (!applyUpdate(jobs, jobUpdates)) break
      show()
    }
  }
}

/** An older version never replaces a newer one. */
function putNewer(jobs: Map<string, JobRow>, job: JobRow): void {
  jobStore.put(job)
  if ((jobs.get(job.id)?.version ?? -1) <= job.version) jobs.set(job.id, job)
}

/** false: the jobs must be read again. */
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

/** The cursor is that of the first page: changes during the read come again. */
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
