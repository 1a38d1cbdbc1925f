import { runUserCallback } from '../connection/user-callbacks.ts'
import { createIdempotencyKey } from '../jobs/idempotency-key.ts'
import { InvalidStateException } from './exceptions.ts'
import type { JobSpec } from './job-spec.ts'
import { JobState } from './job-state.ts'
import { JobStatus } from './job-status.ts'
import type { TimeInterval } from './time-interval.ts'

/** A function, or an object with PSI/J's method. The callback must return quickly. */
export type JobStatusCallback =
  | ((job: Job, status: JobStatus) => void)
  | { jobStatusChanged(job: Job, status: JobStatus): void }

/** The maximum delay of timers. A longer delay would end at once. */
const timerMsMax = 2_147_483_647

export interface BoundExecutor {
  readonly name: string | undefined
  cancel(job: Job): Promise<void>
}

/** A job of PSI/J. Only its executor changes its status, and never to an earlier state. */
export class Job {
  /** The id of this object; `nativeId` is the id on the server. */
  readonly id: string = createIdempotencyKey()
  spec: JobSpec | undefined
  #status = new JobStatus({ state: JobState.NEW, time: null })
  #executor: BoundExecutor | undefined
  #nativeId: string | null = null
  #callback: JobStatusCallback | null = null
  readonly #waiting = new Set<() => void>()
  #isLeft = false

  constructor(spec?: JobSpec) {
    this.spec = spec
  }

  get status(): JobStatus {
    return this.#status
  }

  /** The executor that the job was submitted or attached to. */
  get executor(): BoundExecutor | undefined {
    return this.#executor
  }

  /** The id of the job in Berth, for `JobExecutor.attach`; null: not submitted. */
  get nativeId(): string | null {
    return this.#nativeId
  }

  setStatusCallback(callback: JobStatusCallback | null): void {
    this.#callback = callback
  }

  /** Waits for a status in or after a target state, or a final one; null: timeout, or the executor was closed. */
  async wait(targetStates: readonly JobState[] = [], timeout?: TimeInterval): Promise<JobStatus | null> {
    if (!Array.isArray(targetStates)) throw new TypeError('wait takes a list of target states, and then a timeout')
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const end = (status: JobStatus | null) => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(status)
      }
      const look = () => {
        const { state, isFinal } = this.#status
        if (isFinal || targetStates.some((target) => target === state || state.isGreaterThan(target))) end(this.#status)
        else if (this.#isLeft) end(null)
      }
      const endAfter = (ms: number) => {
        const laterMs = Math.max(0, ms - timerMsMax)
        timer = setTimeout(() => (laterMs > 0 ? endAfter(laterMs) : end(null)), ms - laterMs)
      }
      if (timeout) endAfter(timeout.toMilliseconds())
      this.#waiting.add(look)
      look()
    })
  }

  async cancel(): Promise<void> {
    if (!this.#executor) throw new InvalidStateException('The job was not submitted')
    await this.#executor.cancel(this)
  }

  /** For executors. */
  bind(executor: BoundExecutor): void {
    this.#executor = executor
  }

  /** For executors. */
  identify(nativeId: string): void {
    this.#nativeId = nativeId
  }

  /** For executors: ends all waits, because no status will follow. */
  leave(): void {
    this.#isLeft = true
    for (const look of [...this.#waiting]) look()
  }

  /** For executors: enters a state if it is greater than the current one. Returns true if it did. */
  enter(status: JobStatus): boolean {
    if (!status.state.isGreaterThan(this.#status.state)) return false
    this.#status = status
    if (this.#callback) runStatusCallback(this.#callback, this, status)
    for (const look of [...this.#waiting]) look()
    return true
  }
}

export function runStatusCallback(callback: JobStatusCallback, job: Job, status: JobStatus): void {
  runUserCallback(() => {
    if (typeof callback === 'function') callback(job, status)
    else callback.jobStatusChanged(job, status)
  })
}
