import { makeCancellable } from '../connection/cancellable.ts'
import {
  type Connection,
  type ConnectionOptions,
  openConnection,
  type RequestOptions,
} from '../connection/connection.ts'
import { RequestFailed } from '../connection/failure.ts'
import type { TailSubscription } from '../generated/graphql.ts'
import {
  type JobRowFragment,
  PreviewJobDocument,
  type PreviewJobInput,
  type PreviewJobQuery,
  RetryJobDocument,
  type RetryJobInput,
  type RetryJobMutation,
  SubmitJobDocument,
  type SubmitJobInput,
  type SubmitJobMutation,
} from '../generated/graphql.ts'
import { type FollowJobOptions, followJob, type JobUpdate } from './events.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import { createLiveJobs, type LiveJobs, type LiveJobsOptions } from './live-jobs.ts'
import { type TailedMessage, type TailOptions, type TailPart, tailJob } from './logs.ts'

export interface Client extends Connection {
  /**
   * Submits exactly once: a call without `idempotencyKey` creates a key. Retries retryable refusals and failures; returns any
   * other refusal.
   */
  submit(input: SubmitJobInput, options?: RequestOptions): Promise<SubmitJobAnswer>
  /** Submits the spec of a final job again, with the same retries. */
  retry(input: RetryJobInput, options?: RequestOptions): Promise<RetryJobAnswer>
  /** Predicts the outcome of a submission or a retry; nothing is stored. */
  preview(input: PreviewJobInput, options?: RequestOptions): Promise<PreviewJobAnswer>
  follow(jobId: string, options?: FollowJobOptions): AsyncGenerator<JobUpdate, void, void>
  tail<Each extends TailedMessage = TailSubscription['tail']>(
    jobId: string,
    options?: TailOptions<Each>,
  ): AsyncGenerator<TailPart<Each>, void, void>
  /** A list of jobs that stays up to date while it has a subscriber. */
  liveJobs(options?: LiveJobsOptions): LiveJobs
  /** Waits until a job is final, and returns it. Throws RequestFailed NOT_FOUND if the job does not exist or is deleted. */
  wait(jobId: string, options?: { signal?: AbortSignal }): Promise<JobRowFragment>
}

export type SubmitJobAnswer = SubmitJobMutation['submitJob']
export type RetryJobAnswer = RetryJobMutation['retryJob']
export type PreviewJobAnswer = PreviewJobQuery['previewJob']

const submitAttempts = 8

export function createClient(options: ConnectionOptions): Client {
  const connection = openConnection(options)
  return {
    ...connection,
    async submit(input, { attempts = submitAttempts, signal } = {}) {
      const { submitJob } = await connection.request(SubmitJobDocument, { input: keyed(input) }, { attempts, signal })
      return submitJob
    },
    async retry(input, { attempts = submitAttempts, signal } = {}) {
      const { retryJob } = await connection.request(RetryJobDocument, { input: keyed(input) }, { attempts, signal })
      return retryJob
    },
    async preview(input, options = {}) {
      const { previewJob } = await connection.request(PreviewJobDocument, { input }, options)
      return previewJob
    },
    follow: (jobId, follow) =>
      makeCancellable((signal) => followJob(connection, jobId, { ...follow, signal }), follow?.signal),
    tail: (jobId, tail) => makeCancellable((signal) => tailJob(connection, jobId, { ...tail, signal }), tail?.signal),
    liveJobs: (options) => createLiveJobs(connection, options),
    async wait(jobId, { signal } = {}) {
      for await (const update of followJob(connection, jobId, { from: 'CURRENT', signal })) {
        if (update.__typename === 'JobTransitions' && update.isFinal) return update.job
        if (update.__typename === 'StreamReset' && update.resetReason === 'DELETED')
          throw new RequestFailed('NOT_FOUND', `${jobId} was deleted`)
      }
      throw new RequestFailed('UNREACHABLE', 'The client was closed')
    },
  }
}

const keyed = <Input extends SubmitJobInput | RetryJobInput>(input: Input): Input => ({
  ...input,
  idempotencyKey: input.idempotencyKey ?? createIdempotencyKey(),
})
