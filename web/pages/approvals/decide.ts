import {
  ApproveManyDocument,
  type ApproveManyMutation,
  RejectManyDocument,
  type RejectManyMutation,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import type { ApprovalRow } from './approval-row.ts'

export type Verdict = 'APPROVE' | 'REJECT'

export interface Decision {
  verdict: Verdict
  rows: readonly ApprovalRow[]
  /** The comment of an approval, or the reason of a rejection. */
  words: string
}

export interface Outcome {
  /** Requests that are decided now, by this call or by another user before it. */
  decided: readonly ApprovalRow[]
  /** Requests that stay pending, with the reason. */
  refused: readonly { row: ApprovalRow; message: string }[]
}

const decisionsPerCall = 100

type Result =
  | Extract<ApproveManyMutation['approveJobs'], { results: unknown }>['results'][number]['result']
  | Extract<RejectManyMutation['rejectJobs'], { results: unknown }>['results'][number]['result']

/** Decides requests. Each carries the version of its job, so an earlier decision of another user stays. */
export async function decide({ verdict, rows, words }: Decision): Promise<Outcome> {
  const decided: ApprovalRow[] = []
  const refused: { row: ApprovalRow; message: string }[] = []
  for (let start = 0; start < rows.length; start += decisionsPerCall) {
    const part = rows.slice(start, start + decisionsPerCall)
    const answers = await send(verdict, part, words.trim())
    for (const [i, row] of part.entries()) {
      const answer = answers[i]
      const now = answer && typeof answer !== 'string' ? readApproval(answer) : null
      if (now && now.status !== 'PENDING') decided.push(now)
      else refused.push({ row, message: typeof answer === 'string' ? answer : readMessage(answer) })
    }
  }
  return { decided, refused }
}

/** Returns a result for each request; a text is the reason why the call failed. */
async function send(verdict: Verdict, rows: readonly ApprovalRow[], words: string): Promise<(Result | string)[]> {
  const named = rows.map(({ job }) => ({ jobId: job.id, expectedVersion: job.version }))
  const attempts = { attempts: 4 }
  if (verdict === 'APPROVE') {
    const decisions = named.map((each) => ({ ...each, ...(words !== '' && { comment: words }) }))
    const { approveJobs } = await client.request(ApproveManyDocument, { input: { decisions } }, attempts)
    return approveJobs.__typename === 'ApproveJobsSuccess'
      ? approveJobs.results.map(({ result }) => result)
      : rows.map(() => approveJobs.message)
  }
  const decisions = named.map((each) => ({ ...each, reason: words }))
  const { rejectJobs } = await client.request(RejectManyDocument, { input: { decisions } }, attempts)
  return rejectJobs.__typename === 'RejectJobsSuccess'
    ? rejectJobs.results.map(({ result }) => result)
    : rows.map(() => rejectJobs.message)
}

/** Returns the request as it is now, also if another user decided it; null: it stays pending. */
function readApproval(result: Result): ApprovalRow | null {
  if ('approval' in result) return result.approval
  if (result.__typename === 'VersionConflictProblem') return result.currentJob?.approval ?? null
  if (result.__typename === 'InvalidStateProblem') return result.job.approval
  return null
}

const readMessage = (result: Result | undefined): string =>
  result && 'message' in result ? result.message : 'The server sent no result.'
