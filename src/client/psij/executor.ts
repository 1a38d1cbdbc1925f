import type { ConnectionOptions } from '../connection/connection.ts'
import {
  CancelJobDocument,
  ExecutorNamesDocument,
  JobByNativeIdDocument,
  type JobFilter,
  JobIdDocument,
  JobIdsDocument,
  type JobIdsQuery,
  ServerInfoDocument,
  ViewerIdDocument,
} from '../generated/graphql.ts'
import { type Client, createClient } from '../jobs/client.ts'
import {
  createRefusal,
  InvalidJobException,
  InvalidStateException,
  SubmitException,
  throwException,
} from './exceptions.ts'
import { type Job, type JobStatusCallback, runStatusCallback } from './job.ts'
import { JobState } from './job-state.ts'
import { JobStatus } from './job-status.ts'
import { toExecutor, toSpecInput } from './spec-input.ts'
import { toStatuses } from './updates.ts'

export interface ExecutorOptions extends Partial<ConnectionOptions> {
  /** An existing client. The executor does not close it. */
  client?: Client
}

const urlDefault = 'http://127.0.0.1:4000'
const attempts = 3

/** A PSI/J executor over a Berth server. Status updates are the live events of the jobs. */
export class JobExecutor {
  /** The name of the executor of Berth; undefined: the executor of the default queue. */
  readonly name: string | undefined
  readonly #client: Client
  readonly #ownsClient: boolean
  readonly #leave = new AbortController()
  readonly #submitting = new Set<Job>()
  /** Attached jobs whose native id is not yet known. */
  readonly #finding = new WeakMap<Job, Promise<void>>()
  #callback: JobStatusCallback | null = null

  constructor(name?: string, { client, ...options }: ExecutorOptions = {}) {
    this.name = name
    this.#client = client ?? createClient({ url: urlDefault, ...options })
    this.#ownsClient = client === undefined
  }

  static getInstance(name?: string, options?: ExecutorOptions): JobExecutor {
    return new JobExecutor(name, options)
  }

  async getVersion(): Promise<string> {
    const { serverInfo } = await this.#client.request(ServerInfoDocument, {}, { attempts })
    return serverInfo.release
  }

  /** Sets a callback that gets every status of every job of this executor. */
  setJobStatusCallback(callback: JobStatusCallback | null): void {
    this.#callback = callback
  }

  /** Submits a job. After a SubmitException the same job can be submitted again, and runs only once. */
  async submit(job: Job): Promise<void> {
    if (job.status.state !== JobState.NEW || job.executor || this.#submitting.has(job))
      throw new InvalidStateException('The job was submitted or attached before')
    const spec = toSpecInput(job.spec, this.name)
    this.#submitting.add(job)
    try {
      const answer = await this.#client.submit({ spec, idempotencyKey: job.id }, { attempts }).catch(throwException)
      if (answer.__typename !== 'SubmitJobSuccess') throw createRefusal(answer)
      job.bind(this)
      job.identify(answer.job.id)
      this.#update(job, answer.job.id)
    } finally {
      this.#submitting.delete(job)
    }
  }

  /** Asks the server to cancel a job. Does nothing if the job is final or already being cancelled. */
  async cancel(job: Job): Promise<void> {
    if (job.executor !== this) throw new InvalidStateException('The job was not submitted here')
    await this.#finding.get(job)
    if (job.status.isFinal) return
    if (job.nativeId === null) throw new InvalidStateException('The executor was closed before it had found the job')
    const input = { jobId: job.nativeId }
    const { cancelJob } = await this.#client.request(CancelJobDocument, { input }, { attempts }).catch(throwException)
    if (cancelJob.__typename === 'CancelJobSuccess') return
    throw new SubmitException(cancelJob.message, { isTransient: cancelJob.retryable })
  }

  /** Lists the native ids of the user's jobs that are not final. */
  async list(): Promise<string[]> {
    const { viewer } = await this.#client.request(ViewerIdDocument, {}, { attempts })
    const ids: string[] = []
    const filter: JobFilter = { users: [viewer.user.id], stateCategories: ['WAITING', 'ACTIVE'] }
    if (this.name !== undefined) filter.executors = [toExecutor(this.name)]
    for (let after: string | null = null; ; ) {
      const { jobs }: JobIdsQuery = await this.#client.request(JobIdsDocument, { filter, after }, { attempts })
      ids.push(...jobs.nodes.map(({ id }) => id))
      if (!jobs.pageInfo.hasNextPage) return ids
      after = jobs.pageInfo.endCursor
    }
  }

  /** Binds a new Job to a job on the server, by the id of Berth or of the backend. An unknown job becomes FAILED. */
  async attach(job: Job, nativeId: string): Promise<void> {
    if (job.status.state !== JobState.NEW || job.executor || this.#submitting.has(job))
      throw new InvalidJobException('Only a new job can be attached')
    job.spec = undefined
    job.bind(this)
    const finding = this.#identify(job, nativeId).catch((error: unknown) => this.#end(job, error))
    this.#finding.set(job, finding)
    void finding.then(() => (job.nativeId === null ? job.leave() : this.#update(job, job.nativeId)))
  }

  async close(): Promise<void> {
    this.#leave.abort()
    if (this.#ownsClient) await this.#client.close()
  }

  async #identify(job: Job, nativeId: string): Promise<void> {
    const jobId = await this.#find(nativeId)
    if (jobId === undefined) this.#enter(job, failedStatus(`Job ${nativeId} not found`))
    else job.identify(jobId)
  }

  async #find(nativeId: string): Promise<string | undefined> {
    const options = { attempts: Number.POSITIVE_INFINITY, signal: this.#leave.signal }
    const { job } = await this.#client.request(JobIdDocument, { id: nativeId }, options)
    if (job) return job.id
    const { system } = await this.#client.request(ExecutorNamesDocument, {}, options)
    for (const executor of this.name === undefined
      ? system.executors.map(({ name }) => name)
      : [toExecutor(this.name)]) {
      const { jobByNativeId } = await this.#client.request(JobByNativeIdDocument, { executor, nativeId }, options)
      if (jobByNativeId) return jobByNativeId.id
    }
    return undefined
  }

  #update(job: Job, jobId: string): void {
    void this.#follow(job, jobId)
      .catch((error: unknown) => this.#end(job, error))
      .finally(() => job.leave())
  }

  async #follow(job: Job, jobId: string): Promise<void> {
    for await (const update of this.#client.follow(jobId, { signal: this.#leave.signal }))
      for (const status of toStatuses(update, job.status.state)) this.#enter(job, status)
  }

  /** Marks a job as failed if no further updates can arrive, unless this executor was closed. */
  #end(job: Job, error: unknown): void {
    if (this.#leave.signal.aborted) return
    this.#enter(job, failedStatus(error instanceof Error ? error.message : String(error)))
  }

  #enter(job: Job, status: JobStatus): void {
    if (job.enter(status) && this.#callback) runStatusCallback(this.#callback, job, status)
  }
}

const failedStatus = (message: string) => new JobStatus({ state: JobState.FAILED, time: null, message })
