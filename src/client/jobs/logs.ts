import { convertToDeletion, createJobNotFound, ignoreInvalidCursor } from '../connection/failure.ts'
import { sleepFor } from '../connection/sleep.ts'
import type { Connection } from '../connection/transport.ts'
import {
  JobLogsDocument,
  type LogStream,
  TailDocument,
  type TailSubscription,
  type TailSubscriptionVariables,
} from '../generated/graphql.ts'

/** Output, gaps, the start of another run, or a reset: the output starts again, or was deleted. */
export type TailPart = Exclude<TailSubscription['tail'], { __typename: 'StreamHeartbeat' }>

export interface TailOptions {
  /** A cursor of this stream, of a page of `logs`, or `logCursor` of a job. Default: the beginning. */
  after?: string
  /** Begins with this number of last lines, 1 … 5,000. */
  lastLines?: number
  /** Default: STDOUT and STDERR. */
  streams?: LogStream[]
  run?: number
  signal?: AbortSignal | undefined
}

const pollMs = 1_000
const linesPerPage = 5_000

/** The output of a job, each byte exactly once: the cursor of a message is after its last byte, on every transport. */
export async function* tailJob(
  connection: Connection,
  jobId: string,
  { signal, ...begin }: TailOptions = {},
): AsyncGenerator<TailPart, void, void> {
  let cursor: string | undefined
  const poll = (variables: TailSubscriptionVariables, polling: AbortSignal) => polled(connection, variables, polling)
  try {
    for await (const { tail } of connection.subscribe(TailDocument, { jobId, ...begin }, { signal, poll })) {
      cursor = tail.cursor
      if (tail.__typename !== 'StreamHeartbeat') yield tail
    }
  } catch (error) {
    yield convertToDeletion(error, cursor)
  }
}

/** `tail` by queries. Gaps of a page come before its text; the start of a run is not reported. */
async function* polled(
  connection: Connection,
  variables: TailSubscriptionVariables,
  signal: AbortSignal,
): AsyncGenerator<TailSubscription, void, void> {
  for (;;) {
    const { after } = variables // they move with the messages
    const page = await readPage(connection, variables, signal).catch(ignoreInvalidCursor)
    if (!page && after) yield { tail: { __typename: 'StreamReset', resetReason: 'RETENTION', cursor: after } }
    const { text, gaps, cursor, isFinal } = page ?? (await readPage(connection, { ...variables, after: null }, signal))
    const before = (page && after) ?? cursor
    for (const gap of gaps) yield { tail: { __typename: 'LogGap', ...gap, cursor: before } }
    const isNews = text !== '' || isFinal
    yield {
      tail: isNews ? { __typename: 'LogBatch', text, cursor, isFinal } : { __typename: 'StreamHeartbeat', cursor },
    }
    if (isFinal) return
    if (text === '' && gaps.length === 0) await sleepFor(pollMs, signal)
  }
}

async function readPage(
  connection: Connection,
  { jobId, lastLines, ...rest }: TailSubscriptionVariables,
  signal: AbortSignal,
) {
  const first = lastLines == null ? { first: linesPerPage } : { lastLines }
  const { job } = await connection.request(JobLogsDocument, { id: jobId, ...rest, ...first }, { signal })
  if (!job) throw createJobNotFound(jobId)
  return job.logs
}
