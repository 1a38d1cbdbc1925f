import type { Connection, RequestOptions } from '../connection/connection.ts'
import { convertToDeletion, createJobNotFound, ignoreInvalidCursor } from '../connection/failure.ts'
import { sleepFor } from '../connection/sleep.ts'
import {
  type JobEventRowFragment,
  JobEventsDocument,
  type JobEventsQuery,
  JobStatusDocument,
  type JobStatusSubscription,
  type JobStatusSubscriptionVariables,
} from '../generated/graphql.ts'

type Message = JobStatusSubscription['jobStatus']

/**
 * Events, or a reset. Events are empty if only `progress` or `stateInfo` of the job changed. A reset means that events
 * were deleted (RETENTION) or the job was deleted (DELETED, the last message).
 */
export type JobUpdate = Exclude<Message, { __typename: 'StreamHeartbeat' }>

export interface FollowJobOptions {
  /** FIRST: every stored event. CURRENT: the event that led to the current state, and later ones. */
  from?: 'FIRST' | 'CURRENT'
  /** A cursor of this stream, or `eventCursor` of a job. Replaces `from`. */
  after?: string
  signal?: AbortSignal | undefined
}

const pollMs = 1_000
const eventsPerPage = 100

/**
 * Yields the events of a job in order, each exactly once, over all connections, servers and transports: the history by
 * pages, then `jobStatus` from the cursor of the last page.
 */
export async function* followJob(
  connection: Connection,
  jobId: string,
  { from = 'FIRST', after, signal }: FollowJobOptions = {},
): AsyncGenerator<JobUpdate, void, void> {
  const news = createNews()
  const history = createHistory(connection, jobId)
  const messages = connection.subscribe(
    JobStatusDocument,
    { jobId, ...(after !== undefined && { after }) },
    {
      signal,
      poll: (variables, polling) => polled({ history, from }, variables, polling),
      startsWithPoll: after === undefined && from === 'FIRST',
    },
  )
  try {
    for await (const { jobStatus } of messages) {
      const update = news.of(jobStatus)
      if (update) yield update
      if (jobStatus.__typename === 'JobTransitions' && jobStatus.isFinal) return
    }
  } catch (error) {
    yield convertToDeletion(error, news.cursor())
  }
}

/** Filters out events that were already delivered. */
function createNews() {
  let seen = 0
  let cursor: string | undefined
  return {
    cursor: () => cursor,
    of(message: Message): JobUpdate | undefined {
      cursor = message.cursor
      if (message.__typename === 'StreamHeartbeat') return undefined
      if (message.__typename === 'StreamReset') {
        seen = 0 // the events after a reset need not continue the sequence of those before it
        return message
      }
      const transitions = message.transitions.filter(({ seq }) => seq > seen)
      seen = transitions.at(-1)?.seq ?? seen
      const isNews = transitions.length > 0 || message.transitions.length === 0 || message.isFinal
      return isNews ? { ...message, transitions } : undefined
    },
  }
}

/** Reads events after the cursor `after`; undefined: from where the last read stopped or failed; null: from the first. */
export function createHistory(connection: Connection, jobId: string) {
  let position: string | null = null
  let unread: JobEventRowFragment[] = []
  let progressAt: string | undefined
  let stateInfo: string | null = null
  return {
    async read({ after, ...options }: RequestOptions & { after?: string | null | undefined } = {}) {
      if (after === null) unread = []
      if (after !== undefined && unread.length === 0) position = after
      for (;;) {
        const variables = { id: jobId, first: eventsPerPage, after: position }
        const { job }: JobEventsQuery = await connection.request(JobEventsDocument, variables, options)
        if (!job) throw createJobNotFound(jobId)
        const { nodes, pageInfo } = job.events
        position = pageInfo.endCursor ?? position
        unread.push(...nodes)
        if (pageInfo.hasNextPage) continue
        const events = unread
        unread = []
        const isFinal = job.stateCategory === 'FINAL'
        const isChanged = job.progress?.at !== progressAt || job.stateInfo !== stateInfo
        const isNews = isFinal || events.length > 0 || isChanged
        progressAt = job.progress?.at
        stateInfo = job.stateInfo
        return { job, events, cursor: job.eventCursor, isFinal, isNews }
      }
    },
  }
}

/** Emulates the subscription `jobStatus` by queries. */
async function* polled(
  { history, from }: { history: ReturnType<typeof createHistory>; from: FollowJobOptions['from'] },
  variables: JobStatusSubscriptionVariables,
  signal: AbortSignal,
): AsyncGenerator<JobStatusSubscription, void, void> {
  for (;;) {
    const { after } = variables // read again in each round: each message updates it
    const read = await history.read({ signal, after: after ?? undefined }).catch(ignoreInvalidCursor)
    if (!read && after) yield { jobStatus: { __typename: 'StreamReset', resetReason: 'RETENTION', cursor: after } }
    const { job, events, cursor, isFinal, isNews } = read ?? (await history.read({ signal, after: null }))
    const begins = !read || (after == null && from === 'CURRENT')
    const transitions = begins ? sinceState(job.state, events) : events
    yield {
      jobStatus: isNews
        ? { __typename: 'JobTransitions', job, transitions, cursor, isFinal }
        : { __typename: 'StreamHeartbeat', cursor },
    }
    if (isFinal) return
    await sleepFor(pollMs, signal)
  }
}

/** Returns the event that led to the current state, and later ones; empty if that event was deleted. */
function sinceState(state: JobEventRowFragment['to'], events: JobEventRowFragment[]): JobEventRowFragment[] {
  const led = events.findLastIndex(({ from, to }) => to === state && from !== to)
  return led < 0 ? [] : events.slice(led)
}
