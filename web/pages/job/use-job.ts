import type { RequestFailed } from '@berth-jobs/berth/client'
import { useEffect, useState } from 'react'
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
import { toFailure } from '../../ground/to-failure.ts'

export type PageJob = PageJobFragment
export type JobEvent = EventRowFragment

export const hasFailed = ({ state }: PageJob): boolean => state === 'FAILED' || state === 'INTERRUPTED'

export interface JobState {
  job: PageJob | null
  spec: Spec | null
  events: readonly JobEvent[]
  /** Where the first read of events began; null: no older event exists. */
  eventsStart: string | null
  isLoading: boolean
  isGone: boolean
  failure: RequestFailed | null
}

const nothing: JobState = {
  job: null,
  spec: null,
  events: [],
  eventsStart: null,
  isLoading: true,
  isGone: false,
  failure: null,
}
const eventsRead = 100
const lookMs = 3_000
const forever = { attempts: Number.POSITIVE_INFINITY }

/** A job and its events, live until it ends. What the scheduler thinks of it is read again while it waits. */
export function useJob(id: string): JobState {
  const [state, setState] = useState<JobState>(nothing)
  useEffect(() => {
    const leave = new AbortController()
    const { signal } = leave
    const change = (next: (before: JobState) => Partial<JobState>) =>
      setState((before) => (signal.aborted ? before : { ...before, ...next(before) }))
    setState(nothing)
    follow(id, change, signal).catch((error: unknown) => {
      const failure = toFailure(error)
      change(() => (failure.code === 'NOT_FOUND' ? { isGone: true, isLoading: false } : { failure, isLoading: false }))
    })
    return () => leave.abort()
  }, [id])
  useScheduling(id, state.job, setState)
  return state
}

type Change = (next: (before: JobState) => Partial<JobState>) => void

async function follow(id: string, change: Change, signal: AbortSignal) {
  const [{ job }, { job: withEvents }] = await Promise.all([
    client.request(JobPageDocument, { id }, { ...forever, signal }),
    client.request(JobEventsPageDocument, { id, last: eventsRead }, { ...forever, signal }),
  ])
  if (!job) return change(() => ({ isGone: true, isLoading: false }))
  jobStore.put(job)
  const { nodes = [], pageInfo } = withEvents?.events ?? {}
  change(() => ({
    job,
    spec: job.spec,
    events: nodes,
    eventsStart: pageInfo?.hasPreviousPage ? pageInfo.startCursor : null,
    isLoading: false,
  }))
  if (job.stateCategory !== 'FINAL' && (await followEvents(job, change, signal))) return
  await waitForDeletion(id, signal)
  change(() => ({ isGone: true }))
}

/** Until the job has ended; true: it was deleted. */
async function followEvents(job: { id: string; eventCursor: string }, change: Change, signal: AbortSignal) {
  const variables = { jobId: job.id, after: job.eventCursor }
  for await (const { jobStatus } of client.subscribe(JobChangesDocument, variables, { signal })) {
    if (jobStatus.__typename === 'StreamReset' && jobStatus.resetReason === 'DELETED') {
      change(() => ({ isGone: true }))
      return true
    }
    if (jobStatus.__typename !== 'JobTransitions') continue
    const { job: now, transitions } = jobStatus
    jobStore.put(now)
    change((before) => ({
      job: newer(before.job, now),
      events: mergeEvents(before.events, transitions),
    }))
    if (jobStatus.isFinal) return false
  }
  return false
}

/** The stream of a job ends with its last event; its deletion comes later, or came before the subscription. */
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
      // Messages were lost.
      if (jobUpdates.resetReason !== 'DELETED') break
    }
  }
}

const newer = (known: PageJob | null, now: PageJob) => (known && known.version > now.version ? known : now)

function mergeEvents(known: readonly JobEvent[], more: readonly JobEvent[]): readonly JobEvent[] {
  const seen = new Set(known.map(({ seq }) => seq))
  return [...known, ...more.filter(({ seq }) => !seen.has(seq))].toSorted((a, b) => a.seq - b.seq)
}

/** Position, reasons and estimates change without an event of the job. */
function useScheduling(id: string, job: PageJob | null, setState: (next: (before: JobState) => JobState) => void) {
  const waits = job?.stateCategory === 'WAITING'
  useEffect(() => {
    if (!waits) return undefined
    const leave = new AbortController()
    const look = async () => {
      if (document.hidden) return
      const { job: now } = await client.request(JobNowDocument, { id }, { signal: leave.signal })
      if (now) setState((before) => ({ ...before, job: newer(before.job, now) }))
    }
    // An outage is shown by the stream of the page.
    const timer = setInterval(() => void look().catch(() => undefined), lookMs)
    return () => {
      leave.abort()
      clearInterval(timer)
    }
  }, [id, waits, setState])
}
