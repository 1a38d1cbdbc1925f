import { CompareLinesDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import type { ComparedJob } from './compared-job.ts'
import { type LogPart, linesPerRead } from './log-difference.ts'

/** Reads lines of the last run's log from a line number on; empty: the log ends before it. */
export async function readLines(
  { id, attempt: run }: ComparedJob,
  fromLine: number,
  signal: AbortSignal,
): Promise<readonly LogPart[]> {
  const variables = { id, run, fromLine, first: linesPerRead }
  const { job } = await client.request(CompareLinesDocument, variables, { attempts: 4, signal })
  return job?.logs?.lines ?? []
}
