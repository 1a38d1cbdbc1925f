import type { Domain } from '../domain/domain.ts'
import { confirmPreemption } from '../domain/jobs/confirm-preemption.ts'
import { type HoldingRun, markExpired } from '../domain/jobs/runs.ts'
import { Fenced, type Leader, runAsLeader } from '../domain/leadership.ts'
import type { JobState } from '../domain/state.ts'
import { type Executor, type Handle, isOver, type Observation, StartFailed } from '../executors/executor.ts'
import type { Appender } from '../logs/append.ts'
import type { Chunk } from '../logs/chunk.ts'
import type { FreshOutput } from '../logs/fresh-output.ts'
import { retryUntilSuccess } from '../platform/retry.ts'
import type { Sql } from '../platform/tx.ts'
import { type Deadline, listDeadlines, waitUntilDue } from './deadlines.ts'
import { pumpLog } from './log-pump.ts'
import { openRedaction } from './log-redaction.ts'
import { type Report, toFacts } from './outcome.ts'
import type { OutputCollector } from './output-collector.ts'
import type { Reporter } from './reports.ts'
import type { RunToSample } from './run-sampler.ts'
import { makeRunSpec, readRunAids } from './run-spec.ts'
import type { Started } from './stale-starts.ts'

/**
 * Carries one run from its start until its end is stored: starts it or finds it, pumps its log, ends it when it is
 * cancelled, expired or preempted, and reports the end after the last byte of its log. It may be aborted at any moment
 * (`signal`): the carrier of the next leader continues with the stored row and the state of the executor.
 */

export interface Carrying {
  domain: Domain
  leader: Leader
  report: Reporter
  withdraw(started: Started): void
  graceMs: number
  nodeLostAfterMs: number
  logBytesPerRunMax: number
  outputs: OutputCollector
  append: Appender
  fresh?: FreshOutput | undefined
  jobUrl: string
}

export interface Taken {
  /** true: an earlier leader committed the start. */
  inherited: boolean
}

const reInspectMs = 50
const goneLogMsMax = 60_000
const reportEveryMs = 1_000

export class Carrier {
  handle: Handle | null
  /** Resolves when the carrier has ended; never rejects. */
  readonly done: Promise<void>
  readonly executor: Executor
  readonly #run: HoldingRun
  readonly #carrying: Carrying & Taken
  readonly #dropped: AbortSignal
  readonly #over = new AbortController()
  readonly #lost = new AbortController()
  readonly #cancelled = new AbortController()
  #gone: Observation | null = null
  #silent = false
  #neverBegan = false
  #silentSince: number | null = null
  #running: boolean
  #ends: boolean
  #leaving = false
  #isFresh: boolean
  #stopped = false
  /** The facts that were last stored; null: unknown, because another leader may have stored newer facts. */
  #reported: string | null
  #reportedMs = Number.NEGATIVE_INFINITY

  constructor(run: HoldingRun, executor: Executor, carrying: Carrying & Taken & { signal: AbortSignal }) {
    this.#run = run
    this.executor = executor
    this.#carrying = carrying
    this.#dropped = AbortSignal.any([carrying.signal, this.#over.signal])
    this.handle = run.handle
    this.#isFresh = run.state === 'STARTING' && run.handle === null
    this.#reported = run.state === 'STARTING' && run.handle !== null ? null : textOf({ state: 'starting' })
    this.#running = run.state === 'RUNNING'
    this.#ends = run.state === 'CANCELLING' || run.expiredAt !== null
    this.done = this.#carry().finally(() => this.#over.abort())
  }

  /** The arguments to sample the run; null: the run is not running. */
  get sampled(): RunToSample | null {
    const { executor, handle } = this
    const { runId, gpuIds } = this.#run
    return handle !== null && this.#running && !this.#over.signal.aborted ? { runId, executor, handle, gpuIds } : null
  }

  /** Stops the run, as soon as it exists. */
  cancel(): void {
    this.#ends = true
    this.#cancelled.abort()
    void this.#stop()
  }

  /** Stops the run in favour of another job, unless the preemption was withdrawn. */
  leave(): void {
    if (this.#leaving) return
    this.#leaving = true
    this.#inBackground(this.#takeLeave())
  }

  async #takeLeave(): Promise<void> {
    const leave = await this.#retrying('leave', () => this.#asLeader((sql) => confirmPreemption(sql, this.#run)))
    this.#leaving = leave === 'SIGNAL'
    if (leave !== 'SIGNAL') return
    this.#ends = true
    await this.#stop()
  }

  /** Handles an observation. The end of a run is reported later, after the last byte of its log. */
  async observed(observation: Observation, atMs: number): Promise<void> {
    const lost = this.#isLost(observation, atMs)
    if (lost) {
      if (this.#gone === null) this.#inBackground(this.#giveUpLog())
      // The first cause counts, because later observations lack it: a preempted pod is removed.
      this.#gone ??= lost
    } else if (observation.state === 'running' && !this.#running) {
      this.#running = true
      await this.#reportSeen(observation)
      this.#watchDeadlines(observation.startedAt ?? null)
    } else if (this.#isNews(observation)) await this.#reportSeen(observation)
  }

  #isNews(observation: Observation): boolean {
    if (observation.state !== 'starting' && observation.state !== 'running') return false
    const isRecent = this.#carrying.domain.clock.monotonicMs() - this.#reportedMs < reportEveryMs
    return !isRecent && textOf(observation) !== this.#reported
  }

  async #reportSeen(observation: Observation): Promise<void> {
    this.#reported = textOf(observation)
    this.#reportedMs = this.#carrying.domain.clock.monotonicMs()
    await this.#report({ kind: 'seen', observation })
  }

  /** Returns a final observation if the run is gone, or if its node was unreachable for `nodeLostAfterMs` in this term. */
  #isLost(observation: Observation, atMs: number): Observation | null {
    if (observation.state === 'gone') return observation
    this.#silentSince = observation.state === 'unreachable' ? (this.#silentSince ?? atMs) : null
    if (this.#silentSince === null || atMs - this.#silentSince < this.#carrying.nodeLostAfterMs) return null
    this.#silent = true
    this.#neverBegan = observation.state === 'unreachable' && observation.neverBegan === true
    return { state: 'gone' }
  }

  /** Waits before the log is given up, because output survives a restart of the machine. */
  async #giveUpLog(): Promise<void> {
    if (!this.#silent) await this.#carrying.domain.clock.sleep(goneLogMsMax, this.#dropped)
    this.#lost.abort()
  }

  async #carry(): Promise<void> {
    const { domain } = this.#carrying
    try {
      this.handle ??= await this.#start()
      if (this.handle === null || this.#dropped.aborted) return
      if (this.#ends) void this.#stop()
      else if (this.#run.leaves !== null) this.leave()
      if (this.#run.state === 'RUNNING') this.#inBackground(this.#watchAdopted(this.handle))
      await this.#retrying('log', () => this.#pump(this.handle ?? ''))
      await this.#end(this.handle)
    } catch (error) {
      if (!this.#dropped.aborted && !(error instanceof Fenced))
        domain.log.error({ err: error, run: this.#run.runId }, 'a run was dropped; the next pass carries it again')
    }
  }

  async #start(): Promise<Handle | null> {
    if (this.#run.state === 'CANCELLING') return this.#findStarted()
    if (this.#run.state !== 'STARTING') return null
    const handle = await this.#startOrFail()
    return handle === null || (await this.#isKept(handle)) ? handle : null
  }

  async #startOrFail(): Promise<Handle | null> {
    const { domain, jobUrl } = this.#carrying
    const cancelled = this.#cancelled.signal
    try {
      const aids = await this.#retrying('aids', () => readRunAids(domain, this.#run, jobUrl))
      if (aids === undefined) return null
      const order = makeRunSpec(this.#run, aids, this.#carrying)
      const reportWaiting = (info: string) => this.#inBackground(this.observed({ state: 'starting', info }, 0))
      return await this.executor.start(order, AbortSignal.any([this.#dropped, cancelled]), reportWaiting)
    } catch (error) {
      if (this.#dropped.aborted || error instanceof Fenced) throw error
      if (cancelled.aborted) return this.#settleCancelled(error)
      // count-start-failures.ts logs failures that a node causes.
      if (!(error instanceof StartFailed)) domain.log.error({ err: error, run: this.#run.runId }, 'a start failed')
      const { reason, message } = startFailure(error)
      const cause = error instanceof StartFailed ? error.cause : undefined
      await this.#report({ kind: 'startFailed', reason, message, cause })
      return null
    }
  }

  /**
   * Cleans up after a cancelled start. The executor may have started the run before the abort. Even if it did not,
   * files of the run may be left.
   */
  async #settleCancelled(error: unknown): Promise<Handle | null> {
    if (!(error instanceof StartFailed)) return this.#findStarted()
    await this.#report({ kind: 'neverStarted' })
    const { runId } = this.#run
    const handle = await this.executor.find(runId, this.#run.nodes).catch((err: unknown) => {
      this.#carrying.domain.log.debug({ err, run: runId }, 'files are left')
      return null
    })
    if (handle !== null) this.#carrying.withdraw({ runId, executor: this.executor, handle })
    return null
  }

  /** Stores the handle. false: another process became leader first. */
  async #isKept(handle: Handle): Promise<boolean> {
    try {
      if (await this.#begun(handle)) return true
    } catch (error) {
      if (!(error instanceof Fenced)) throw error
    }
    this.#carrying.withdraw({ runId: this.#run.runId, executor: this.executor, handle })
    return false
  }

  /** Looks for a cancelled run that an earlier leader may have started without storing its handle. */
  async #findStarted(): Promise<Handle | null> {
    const handle = await this.#retrying('find', () => this.executor.find(this.#run.runId, this.#run.nodes))
    if (handle) await this.#begun(handle)
    if (handle === null) await this.#report({ kind: 'neverStarted' })
    return handle ?? null
  }

  /**
   * Stores the handle and RUNNING in one transaction, and notices a cancellation in between. undefined: not stored, or
   * the run is over.
   */
  async #begun(handle: Handle): Promise<JobState | null | undefined> {
    const [now] = (await this.#retrying('inspect', () => this.executor.inspect([handle]))) ?? []
    // A run that has already ended is reported as running here; its end is reported after its log.
    const observation: Observation =
      now?.state === 'ended' ? { ...now, state: 'running' } : (now ?? { state: 'starting' })
    if (observation.state === 'gone' || observation.state === 'failed') return this.#run.state
    this.#running = observation.state === 'running'
    this.#reported = textOf(observation)
    const state = await this.#report({ kind: 'seen', observation }, handle)
    if (state === 'CANCELLING') this.#ends = true
    if (observation.state === 'running') this.#watchDeadlines(observation.startedAt ?? null)
    return state
  }

  async #pump(handle: Handle): Promise<void> {
    const { domain, logBytesPerRunMax, fresh, append } = this.#carrying
    const redaction = await openRedaction(domain, this.#run)
    const { jobId, number: run, runId } = this.#run
    const onStored = (from: number, chunks: readonly Chunk[]) => {
      domain.wakeups.notify('log')
      return fresh?.tell({ jobId, run, runId, from, chunks })
    }
    const { executor } = this
    const isFresh = this.#isFresh
    this.#isFresh = false
    const pumping = { sql: domain.db.sql, append, executor, redaction, runId, isFresh, handle, onStored }
    await pumpLog({ ...pumping, bytesMax: logBytesPerRunMax, lost: this.#lost.signal }, this.#dropped)
  }

  async #end(handle: Handle): Promise<void> {
    if (this.#silent) return this.#lose()
    const observation = this.#gone ?? (await this.#retrying('end', () => this.#lastObservation(handle)))
    if (this.#dropped.aborted || !observation) return
    const told = await this.#report({ kind: 'seen', observation })
    // If the end or the outputs were not stored, the executor must keep the run for the next carrier.
    if (told === undefined) return
    this.#running = false
    const isStored = await this.#collectOutputs(handle)
    if (isStored && !this.#dropped.aborted) await this.executor.forget?.(handle)
  }

  async #collectOutputs(handle: Handle): Promise<boolean> {
    const { runId, spec } = this.#run
    return (
      !spec.outputs?.length || this.#carrying.outputs.collect({ runId, executor: this.executor, handle }, this.#dropped)
    )
  }

  async #lose(): Promise<void> {
    await this.#report({
      kind: 'lost',
      info: `The node of the run has been unreachable for ${this.#carrying.nodeLostAfterMs / 1000} s`,
      neverBegan: this.#neverBegan,
    })
  }

  async #lastObservation(handle: Handle): Promise<Observation | null> {
    while (!this.#dropped.aborted) {
      const [observation] = await this.executor.inspect([handle])
      if (observation && isOver(observation)) return observation
      await this.#carrying.domain.clock.sleep(reInspectMs, this.#dropped)
    }
    return null
  }

  async #stop(): Promise<void> {
    const { handle } = this
    if (handle === null || this.#stopped) return
    this.#stopped = true
    await this.#retrying('stop', () => this.executor.stop(handle, this.#carrying.graceMs))
  }

  /** Watches the deadline of a run that an earlier leader started, from its stored start time. */
  async #watchAdopted(handle: Handle): Promise<void> {
    const [now] = (await this.#retrying('inspect', () => this.executor.inspect([handle]))) ?? []
    this.#watchDeadlines((now?.state === 'running' && now.startedAt) || this.#run.startedAt)
  }

  #watchDeadlines(startedAt: Date | null): void {
    for (const deadline of listDeadlines(this.#run, startedAt, this.#carrying.domain))
      this.#inBackground(this.#expire(deadline))
  }

  async #expire(deadline: Deadline): Promise<void> {
    await waitUntilDue(deadline, this.#carrying.domain.clock, this.#dropped)
    if (this.#dropped.aborted) return
    const { runId } = this.#run
    const expired = await this.#retrying('deadline', () =>
      this.#asLeader((sql) => markExpired(sql, runId, deadline.limit)),
    )
    if (!expired) return
    this.#ends = true
    await this.#stop()
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!(error instanceof Fenced))
        this.#carrying.domain.log.error({ err: error, run: this.#run.runId }, 'background work of a run failed')
    })
  }

  #asLeader<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const { domain, leader } = this.#carrying
    return runAsLeader(domain, leader, work)
  }

  #report(report: Report, handle?: Handle): Promise<JobState | null | undefined> {
    const { runId, jobId, number } = this.#run
    return this.#retrying('report', () =>
      this.#carrying.report({ runId, jobId, number, report, ...(handle !== undefined && { handle }) }),
    )
  }

  /** Retries `work` until it succeeds. undefined: the carrier was aborted. */
  #retrying<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    const { clock, log } = this.#carrying.domain
    const onFailure = (error: unknown, failures: number) => {
      if (error instanceof Fenced || error instanceof StartFailed) throw error
      log.warn({ err: error, run: this.#run.runId, what, failures }, 'failed; retrying')
    }
    return retryUntilSuccess({ clock, signal: this.#dropped, onFailure }, work)
  }
}

function textOf(observation: Observation): string {
  const info = observation.state === 'starting' ? observation.info : undefined
  return JSON.stringify({ ...toFacts(observation), info })
}

function startFailure(error: unknown): { reason: StartFailed['reason']; message: string } {
  if (error instanceof StartFailed) return { reason: error.reason, message: error.message }
  return { reason: 'START_FAILED', message: 'The executor failed; the log of the server says why' }
}
