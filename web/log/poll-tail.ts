import { type Client, RequestFailed } from '@berth-jobs/berth/client'
import { LogLinesDocument, type LogTailSubscription, type LogTailSubscriptionVariables } from '../generated/graphql.ts'

const pollMs = 1_000
const linesPerPoll = 1_000

type Tail = LogTailSubscription['tail']

/** The messages of the tail by queries, for networks that let no stream through. `variables.after` moves with the messages. */
export const pollTail = (client: Pick<Client, 'request'>) =>
  async function* poll(
    variables: LogTailSubscriptionVariables,
    signal: AbortSignal,
  ): AsyncGenerator<LogTailSubscription> {
    for (let isFinal = false; !isFinal; ) {
      const page = await readPage(client, variables, signal)
      for (const tail of page.messages) yield { tail }
      isFinal = page.isFinal
      if (!isFinal && !page.hasNews) await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

async function readPage(client: Pick<Client, 'request'>, variables: LogTailSubscriptionVariables, signal: AbortSignal) {
  const { jobId, run, after = null, streams } = variables
  const wanted = { id: jobId, run: run ?? 1, after, streams, first: linesPerPoll }
  const answer = await client.request(LogLinesDocument, wanted, { signal }).catch(isReset)
  if (answer === 'RESET') {
    const reset: Tail = { __typename: 'StreamReset', resetReason: 'RETENTION', cursor: after ?? '' }
    return { messages: [reset], isFinal: true, hasNews: true }
  }
  if (!answer.job) throw new RequestFailed('NOT_FOUND', `Job ${jobId} not found`)
  const { lines, gaps, cursor, isFinal } = answer.job.logs
  const missing = gaps.map((gap): Tail => ({ __typename: 'LogGap', ...gap, cursor: after ?? cursor }))
  const output: Tail =
    lines.length > 0 || isFinal
      ? { __typename: 'LogBatch', lines, cursor, isFinal }
      : { __typename: 'StreamHeartbeat', cursor }
  return { messages: [...missing, output], isFinal, hasNews: lines.length + gaps.length > 0 }
}

/** The output of the cursor is not there any more. */
function isReset(error: unknown): 'RESET' {
  if (error instanceof RequestFailed && error.code === 'INVALID_CURSOR') return 'RESET'
  throw error
}
