import { jobStore } from '../../features/jobs/rows/job-store.ts'
import type { Spec } from '../../features/spec/spec-input.ts'
import {
  type EventRowFragment,
  JobChangesDocument,
  JobEventsPageDocument,
  JobNowDocument,
  JobPageDocument,
  ListJobsDocument,
  ListUpdatesDocument,
  type PageJobFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { type Resource, useQuery, useResource } from '../../ground/resource.ts'
import { toFailure } from '../../ground/to-failure.ts'

export type PageJob = PageJobFragment
export type JobEvent = EventRowFragment

export const hasFailed = ({ state }: PageJob): boolean => state === 'FAILED' || state === 'INTERRUPTED'

export interface JobState {
  job: PageJob
  spec: Spec | null
  events: readonly JobEvent[]
  /** Cursor before the first event that was read; null: no older event exists. */
  eventsStart: string | null
  /** true: the job was deleted. */
  isGone: boolean
}

const eventsRead = 100
const lookMs = 3_000
const forever = { attempts: Number.POSITIVE_INFINITY }

/** Returns a job and its events, live until it ends; null: no such job. While it waits, its scheduling is polled. */
export function useJob(id: string): Resource<JobState | null> {
  const state = useResource<JobState | null>(`job ${id}`, (signal, put, before) =>
    follow(id, put, signal).catch((error: unknown) => {
      if (toFailure(error).code !== 'NOT_FOUND') throw error
      return before ? { ...before, isGone: true } : null
    }),
  )
  // Reads again, because position, reasons and estimates change without an event of the job.
  const isOff = state.value?.job.stateCategory !== 'WAITING'
  const now = useQuery(JobNowDocument, { id }, { everyMs: lookMs, isOff }).value?.job
  if (!state.value || isOff || !now) return state
  return { ...state, value: { ...state.value, job: newer(state.value.job, now) } }
}

async function follow(id: string, put: (state: JobState) => void, signal: AbortSignal): Promise<JobState | null> {
  const [{ job }, { job: withEvents }] = await Promise.all([
    client.request(JobPageDocument, { id }, { ...forever, signal }),
    client.request(JobEventsPageDocument, { id, last: eventsRead }, { ...forever, signal }),
  ])
  if (!job) return null
  jobStore.put(job)
  const { nodes = [], pageInfo } = withEvents?.events ?? {}
  let state: JobState = {
    job,
    spec: job.spec,
    events: nodes,
    eventsStart: pageInfo?.hasPreviousPage ? pageInfo.startCursor : null,
    isGone: false,
  }
  put(state)
  const variables = { jobId: id, after: job.eventCursor }
  if (job.stateCategory !== 'FINAL')
    for await (const { jobStatus } of client.subscribe(JobChangesDocument, variables, { signal })) {
      if (jobStatus.__typename === 'StreamReset' && jobStatus.resetReason === 'DELETED')
        return { ...state, isGone: true }
      if (jobStatus.__typename !== 'JobTransitions') continue
      const { job: now, transitions } = jobStatus
      jobStore.put(now)
      state = { ...state, job: newer(state.job, now), events: mergeEvents(state.events, transitions) }
      put(state)
      if (jobStatus.isFinal) break
    }
  await waitForDeletion(id, signal)
  return { ...state, isGone: true }
}

/** Waits until the job is deleted. The stream of events ends with the job, so this needs another one. */
async function waitForDeletion(id: string, signal: AbortSignal) {
  const filter = { ids: [id] }
  for (;;) {
    const { jobs } = await client.request(ListJobsDocument, { first: 1, filter }, { ...forever, signal })
    if (jobs.nodes.length === 0) return
    for await (const { jobUpdates } of client.subscribe(
      ListUpdatesDocument,
      { filter, after: jobs.asOf },
      { signal },
    )) {
      if (jobUpdates.__typename !== 'StreamReset') continue
      if (jobUpdates.jobIds.includes(id)) return
      // Messages were lost, so the deletion may have been missed.
      if (jobUpdates.resetReason !== 'DELETED') break
    }
  }
}

const newer = (known: PageJob, now: PageJob) => (known.version > now.version ? known : now)

function mergeEvents(known: readonly JobEvent[], more: readonly JobEvent[]): readonly JobEvent[] {
  const seen = new Set(known.map(({ seq }) => seq))
  return [...known, ...more.filter(({ seq }) => !seen.has(seq))].toSorted((a, b) => a.seq - b.seq)
}
