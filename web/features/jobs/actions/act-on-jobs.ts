import type { Client } from '@berth-jobs/berth/client'
import {
  CancelJobsDocument,
  DeleteJobsDocument,
  type JobAction,
  type JobFilter,
  type JobSelection,
  RetryJobsDocument,
  SetJobPrioritiesDocument,
} from '../../../generated/graphql.ts'

export type BulkAction = Extract<JobAction, 'CANCEL' | 'RETRY' | 'DELETE' | 'SET_PRIORITY'>

export interface BulkRequest {
  action: BulkAction
  /** The reason of a cancellation. */
  reason?: string
  /** The new priority; null: the default of the user's level. */
  priority?: number | null
  /** Each dialog has its own key, so that a repeated request does not retry a job twice. */
  idempotencyKey: string
}

interface RefusedJob {
  id: string
  message: string
}

export type BulkResult =
  | { kind: 'DONE'; done: number; refused: readonly RefusedJob[] }
  /** The number of matching jobs has changed. `done`: jobs that earlier calls changed. */
  | { kind: 'MISMATCH'; actualCount: number; done: number }
  | { kind: 'REFUSED'; message: string; done: number }

interface Answer {
  __typename: string
  remaining?: number
  results?: readonly { jobId: string; result: { __typename: string; message?: string; changed?: boolean } }[]
  actualCount?: number
  message?: string
}

type Send = Pick<Client, 'request'>

const jobsPerCall = 1_000
const attempts = 4

/** Runs the action on jobs by their ids, in as few calls as possible. */
export async function actOnIds(
  client: Send,
  request: BulkRequest,
  ids: readonly string[],
  onProgress: (done: number) => void,
): Promise<BulkResult> {
  let done = 0
  const refused: RefusedJob[] = []
  for (let at = 0; at < ids.length; at += jobsPerCall) {
    const jobIds = ids.slice(at, at + jobsPerCall)
    const answer = await send(client, request, { jobIds }, attempts)
    if (answer.results === undefined) return { kind: 'REFUSED', message: answer.message ?? answer.__typename, done }
    done += countChanged(answer, refused)
    onProgress(done)
  }
  return { kind: 'DONE', done, refused }
}

/**
 * Runs the action on all jobs that match the filter, in several calls. The server refuses if the number of matching jobs
 * differs from the number that the user confirmed.
 */
export async function actOnMatching(
  client: Send,
  request: BulkRequest,
  { filter, expectedCount }: { filter: JobFilter; expectedCount: number },
  onProgress: (done: number) => void,
): Promise<BulkResult> {
  let done = 0
  let remaining = expectedCount
  const refused = new Map<string, RefusedJob>()
  while (remaining > 0) {
    const answer = await send(client, request, { matching: { filter, expectedCount: remaining } }, 1)
    const { actualCount } = answer
    // Jobs that ended between two calls no longer match. The user confirmed them too, so the number may fall.
    if (actualCount !== undefined && done > 0 && actualCount <= expectedCount - done) {
      remaining = actualCount
      continue
    }
    if (actualCount !== undefined) return { kind: 'MISMATCH', actualCount, done }
    if (answer.results === undefined) return { kind: 'REFUSED', message: answer.message ?? answer.__typename, done }
    const refusedNow: RefusedJob[] = []
    const changed = countChanged(answer, refusedNow)
    for (const each of refusedNow) refused.set(each.id, each)
    done += changed
    onProgress(done)
    // If a call changed no job, the server refused all of them, and another call would match the same jobs.
    remaining = changed === 0 ? 0 : (answer.remaining ?? 0)
  }
  return { kind: 'DONE', done, refused: [...refused.values()] }
}

/** Returns how many matching jobs the action would change, or why the server refuses it. Changes nothing. */
export async function countMatching(
  client: Send,
  request: BulkRequest,
  filter: JobFilter,
): Promise<{ count: number } | { refusal: string }> {
  const answer = await send(client, request, { matching: { filter, expectedCount: 0 } }, attempts)
  if (answer.actualCount === undefined && answer.results === undefined)
    return { refusal: answer.message ?? answer.__typename }
  return { count: answer.actualCount ?? 0 }
}

function countChanged({ results = [] }: Answer, refused: RefusedJob[]): number {
  let changed = 0
  for (const { jobId: id, result } of results) {
    const { __typename, message, changed: hasChanged = true } = result
    if (!__typename.endsWith('Success')) refused.push({ id, message: message ?? __typename })
    else if (hasChanged) changed++
  }
  return changed
}

async function send(
  client: Send,
  { action, reason, priority = null, idempotencyKey }: BulkRequest,
  selection: JobSelection,
  attemptsMax: number,
): Promise<Answer> {
  const options = { attempts: attemptsMax }
  switch (action) {
    case 'CANCEL': {
      const input = { selection, ...(reason && { reason }) }
      return (await client.request(CancelJobsDocument, { input }, options)).cancelJobs
    }
    case 'RETRY':
      return (await client.request(RetryJobsDocument, { input: { selection, idempotencyKey } }, options)).retryJobs
    case 'DELETE':
      return (await client.request(DeleteJobsDocument, { input: { selection } }, options)).deleteJobs
    case 'SET_PRIORITY': {
      const input = { selection, priority }
      return (await client.request(SetJobPrioritiesDocument, { input }, options)).setJobPriorities
    }
  }
}
