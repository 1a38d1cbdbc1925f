import type { Connection, TypedDocument } from '../connection/connection.ts'
import { convertToDeletion, createJobNotFound, ignoreInvalidCursor, requireField } from '../connection/failure.ts'
import { sleepFor } from '../connection/sleep.ts'
import {
  JobLogsDocument,
  type JobLogsQueryVariables,
  type LogStart,
  type LogStream,
  TailDocument,
  type TailSubscription,
  type TailSubscriptionVariables,
} from '../generated/graphql.ts'

type Message = TailSubscription['tail']
type Control = Extract<Message, { __typename: 'StreamReset' | 'StreamHeartbeat' }>

/** The fields that every message of `tail` has. */
export interface TailedMessage {
  __typename: string
  cursor: string
}

/** Output, a gap, the start of another run, or a reset, after which the output starts again or is deleted. */
export type TailPart<Each extends TailedMessage = Message> = Exclude<Each | Control, { __typename: 'StreamHeartbeat' }>

/** Your own documents, for example with `lines` instead of `text`. `page` must select the same log fields as `tail`. */
export interface TailDocuments<Each extends TailedMessage> {
  tail: TypedDocument<{ tail: Each }, TailSubscriptionVariables>
  page: TypedDocument<{ job: { logs: LogPage | null } | null }, JobLogsQueryVariables>
  /** Number of lines of a page. */
  first: number
}

/** A page of the log, with the output as a text or as a list. */
interface LogPage {
  gaps: readonly object[]
  cursor: string
  isFinal: boolean
}

export interface TailOptions<Each extends TailedMessage = Message> {
  documents?: TailDocuments<Each>
  /** Starts after a cursor of this stream or of a page of `logs`, or `logCursor` of a job. Default: the beginning. */
  after?: string
  /** Starts with this number of last lines, 1 … 5,000. */
  lastLines?: number
  /** The streams to read. Default: STDOUT and STDERR. */
  streams?: LogStream[]
  run?: number
  signal?: AbortSignal | undefined
}

const pollMs = 1_000
const texts: TailDocuments<Message> = { tail: TailDocument, page: JobLogsDocument, first: 5_000 }

/** Yields each byte of the output of a job exactly once. The cursor of a message is after its last byte. */
export async function* tailJob<Each extends TailedMessage = Message>(
  connection: Connection,
  jobId: string,
  { signal, documents = texts as never, ...begin }: TailOptions<Each> = {},
): AsyncGenerator<TailPart<Each>, void, void> {
  let cursor: string | undefined
  const messages = connection.subscribe<{ tail: Each | Control }, TailSubscriptionVariables>(
    documents.tail,
    { jobId, ...begin },
    { signal, poll: (variables, polling) => polled(connection, documents, variables, polling) },
  )
  try {
    for await (const { tail } of messages) {
      cursor = tail.cursor
      if (tail.__typename !== 'StreamHeartbeat') yield tail as TailPart<Each>
    }
  } catch (error) {
    yield convertToDeletion(error, cursor) as TailPart<Each>
  }
}

/** Emulates the subscription `tail` by queries. Gaps of a page precede its output; the start of a run is not reported. */
async function* polled<Each extends TailedMessage>(
  connection: Connection,
  documents: TailDocuments<Each>,
  variables: TailSubscriptionVariables,
  signal: AbortSignal,
): AsyncGenerator<{ tail: Each | Control }, void, void> {
  for (;;) {
    const { after } = variables // they move with the messages
    const page = await readPage(connection, documents, variables, signal).catch(ignoreInvalidCursor)
    if (!page && after) yield { tail: { __typename: 'StreamReset', resetReason: 'RETENTION', cursor: after } }
    const read = page ?? (await readPage(connection, documents, { ...variables, after: null }, signal))
    const { gaps, cursor, isFinal, ...output } = read
    const before = (page && after) ?? cursor
    for (const gap of gaps) yield { tail: { __typename: 'LogGap', ...gap, cursor: before } as never }
    const hasOutput = Object.values<string | readonly unknown[]>(output).some(({ length }) => length > 0)
    if (hasOutput || isFinal) yield { tail: { __typename: 'LogBatch', ...output, cursor, isFinal } as never }
    else yield { tail: { __typename: 'StreamHeartbeat', cursor } }
    if (isFinal) return
    if (!hasOutput && gaps.length === 0) await sleepFor(pollMs, signal)
  }
}

async function readPage(
  connection: Connection,
  { page, first }: Pick<TailDocuments<never>, 'page' | 'first'>,
  { jobId, after, lastLines, ...rest }: TailSubscriptionVariables,
  signal: AbortSignal,
): Promise<LogPage> {
  const variables = { id: jobId, from: toLogStart({ after, lastLines }), first, ...rest }
  const { job } = await connection.request(page, variables, { signal })
  if (!job) throw createJobNotFound(jobId)
  return requireField(job.logs)
}

function toLogStart({ after, lastLines }: Pick<TailSubscriptionVariables, 'after' | 'lastLines'>): LogStart | null {
  if (after != null) return { cursor: after }
  return lastLines == null ? null : { lastLines }
}
