import type { ExecutorOptions } from '../backend/executor-options.ts'
import type { RequestedStops } from '../backend/requested-stops.ts'
import { type Handle, isOver, type Observation } from '../executor.ts'
import type { ForgottenRuns } from './forgotten.ts'
import { type Layout, SharedDirTrouble } from './layout.ts'
import { concludeState, type Facts, isRunning, saysOver } from './observation.ts'
import {
  findRunDirectory,
  isRemoved,
  type Records,
  type RunDirectory,
  readFileClock,
  readRecords,
  takeClaim,
} from './run-files.ts'
import type { Queue, QueueSnapshot } from './squeue.ts'
import { getJobPhase, isJobAlive } from './state-tables.ts'
import type { JobStopper } from './stop.ts'

interface ObserverOptions extends Pick<ExecutorOptions, 'clock' | 'time' | 'log'> {
  layout: Layout
  queue: Pick<Queue, 'read'>
  forgotten: Pick<ForgottenRuns, 'has'>
  stopper: Pick<JobStopper, 'cancel'> & { stops: Pick<RequestedStops, 'isRequested' | 'cancelKill'> }
  onChange(handle: Handle): void
}

/** A run whose state was reported within this time is not queried again, unless it has ended. */
const recentMs = 1_000
const compareMs = 1_000
/** Maximum delay between Slurm's report of the end and the visibility of the last records here. */
const settleMsMax = 15_000
/**
 * If a job still runs this long after the record of its end, the job wrote that record itself, and is cancelled in
 * Slurm.
 */
const overrunMsMax = 10_000
/** Interval at which a run without a recorded end is checked in Slurm, if no inspection does it anyway. */
const observedMsMax = 10_000

type Answer = QueueSnapshot & Pick<Facts, 'hadBegun'>

interface Seen {
  /** The last observation; a final observation does not change. */
  observation: Observation
  observedMs: number
}

/**
 * Determines the states of runs (observation.ts). One query covers all runs in Slurm; it is omitted if new records are
 * sufficient.
 */
export class Observer {
  readonly #options: ObserverOptions
  readonly #seen = new Map<Handle, Seen>()
  /** Time of Slurm's first report of the end, for runs that did not record their end. */
  readonly #unsettled = new Map<Handle, number>()
  /** Time of Slurm's first report of a running job, for runs that recorded their end. */
  readonly #overrunning = new Map<Handle, number>()
  /** Time of the last report about a run, by Slurm or by a new record. */
  readonly #answeredMs = new Map<Handle, number>()
  /** Time by which the clock of the file system is ahead of the database's; null: not measured yet. */
  #aheadMs: number | null = null
  #comparedMs = Number.NEGATIVE_INFINITY
  #comparison = Promise.resolve()

  constructor(options: ObserverOptions) {
    this.#options = options
  }

  async inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const records = await Promise.all(handles.map((handle) => this.readRecords(handle)))
    const needsAnswer = handles.some((handle, at) => this.#needsAnswer(handle, records[at] ?? null))
    const uids = records.flatMap((each) => each?.uid ?? [])
    const snapshot = needsAnswer ? await this.#options.queue.read(uids) : null
    if (needsAnswer && snapshot === null) this.#unsettled.clear()
    // Reads the records again after the query, because a batch script that ended during the query has left a record.
    const fresh = needsAnswer ? await Promise.all(handles.map((handle) => this.readRecords(handle))) : records
    if (fresh.some((each) => each?.begun)) await this.#compareClocks()
    return Promise.all(
      handles.map((handle, at) => {
        const hadBegun = records[at]?.begun != null
        return this.#observe(handle, fresh[at] ?? null, snapshot && { ...snapshot, hadBegun })
      }),
    )
  }

  async follow(handle: Handle, records: Records | null): Promise<Observation | undefined> {
    const seen = this.#seen.get(handle)
    const isOld = this.#nowMs() - (seen?.observedMs ?? 0) > observedMsMax
    if (isOld || (records && saysOver(records))) return (await this.inspect([handle]))[0]
    if (seen?.observation.state === 'starting' && records?.begun) await this.#observeBegun(handle, records)
    return this.#seen.get(handle)?.observation
  }

  /** Returns null if the directory of the run is missing, or cannot be read now. */
  async readRecords(handle: Handle): Promise<Records | null> {
    const { layout, log } = this.#options
    const files = findRunDirectory(layout, handle)
    if (!files) return null
    try {
      return await readRecords(files)
    } catch (err) {
      log.warn({ err, run: handle }, 'the directory of a run cannot be read now')
      return null
    }
  }

  noteSubmission(handle: Handle, nativeId: string): void {
    this.#answeredMs.set(handle, this.#nowMs())
    this.#keep(handle, { state: 'starting', nativeId })
  }

  forget(handle: Handle): void {
    for (const known of [this.#seen, this.#unsettled, this.#overrunning, this.#answeredMs]) known.delete(handle)
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  #needsAnswer(handle: Handle, records: Records | null): boolean {
    if (isOver(this.#seen.get(handle)?.observation)) return false
    return records === null || saysOver(records) || !this.#isRecent(handle)
  }

  #isRecent(handle: Handle): boolean {
    return this.#nowMs() - (this.#answeredMs.get(handle) ?? Number.NEGATIVE_INFINITY) < recentMs
  }

  async #observe(handle: Handle, records: Records | null, snapshot: Answer | null): Promise<Observation> {
    const { layout, forgotten } = this.#options
    const last = this.#seen.get(handle)?.observation
    if (last && isOver(last)) return last
    const files = findRunDirectory(layout, handle)
    if (!files || forgotten.has(handle)) return { state: 'gone' }
    if (snapshot !== null) this.#answeredMs.set(handle, this.#nowMs())
    else if (last && records && !records.claim && this.#isRecent(handle)) return last
    const facts = await this.#collectFacts(files, records, snapshot)
    await this.#endOverrun(handle, facts)
    // While Slurm does not respond, a missing directory proves nothing.
    const verdict = records === null && snapshot === null ? (last ?? unseen) : concludeState(facts)
    return this.#keep(handle, verdict.state === 'unsubmitted' ? await this.#refuseLost(files, snapshot) : verdict)
  }

  async #collectFacts(files: RunDirectory, records: Records | null, snapshot: Answer | null): Promise<Facts> {
    const { layout, stopper } = this.#options
    const handle = files.runId
    const jobs = snapshot?.byRun.get(handle)?.filter(({ uid }) => records === null || uid === records.uid) ?? []
    this.#logUnknownStates(jobs)
    const aheadMs = this.#aheadMs
    return {
      records,
      jobs: snapshot && jobs,
      stopped: await stopper.stops.isRequested(handle),
      isSettled: this.#isSettled(handle, snapshot),
      hadBegun: snapshot?.hadBegun ?? false,
      isRemoved: records === null && (await isRemoved(layout, files)),
      toTime: aheadMs === null ? null : (fileMs) => new Date(fileMs - aheadMs),
    }
  }

  /**
   * Cancels a job that continues after the record of its end. Waits first, because the controller or node may be slow.
   * The cancellation does not change the recorded end.
   */
  async #endOverrun(handle: Handle, { records, jobs }: Facts): Promise<void> {
    const { log, stopper } = this.#options
    if (jobs === null) return
    if (records === null || !saysOver(records) || !jobs.some(isRunning)) return void this.#overrunning.delete(handle)
    const sinceMs = this.#overrunning.get(handle) ?? this.#nowMs()
    this.#overrunning.set(handle, sinceMs)
    if (this.#nowMs() - sinceMs < overrunMsMax) return
    this.#overrunning.set(handle, this.#nowMs())
    log.warn({ run: handle }, 'a run recorded its end but still runs in Slurm; cancelling its Slurm job')
    await stopper.cancel(handle).catch((err) => log.warn({ err, run: handle }, 'the job cannot be cancelled now'))
  }

  async #observeBegun(handle: Handle, records: Records): Promise<void> {
    await this.#compareClocks()
    this.#answeredMs.set(handle, this.#nowMs())
    await this.#observe(handle, records, null)
  }

  #keep(handle: Handle, observation: Observation): Observation {
    const { stopper, onChange } = this.#options
    const last = this.#seen.get(handle)?.observation
    this.#seen.set(handle, { observation, observedMs: this.#nowMs() })
    if (isOver(observation)) {
      this.#unsettled.delete(handle)
      stopper.stops.cancelKill(handle)
    }
    if (last?.state !== observation.state) onChange(handle)
    return observation
  }

  /**
   * true: enough time has passed since Slurm's first report of the end here. The time starts again after Slurm was
   * unreachable.
   */
  #isSettled(handle: Handle, snapshot: QueueSnapshot | null): boolean {
    if (snapshot === null) return false
    if (snapshot.byRun.get(handle)?.some(({ state }) => isJobAlive(state))) {
      this.#unsettled.delete(handle)
      return false
    }
    const sinceMs = this.#unsettled.get(handle) ?? this.#nowMs()
    this.#unsettled.set(handle, sinceMs)
    return this.#nowMs() - sinceMs >= settleMsMax
  }

  #logUnknownStates(jobs: readonly { id: string; state: string }[]): void {
    for (const { id, state } of jobs)
      if (getJobPhase(state) === null)
        this.#options.log.error({ job: id, state }, 'Slurm reports an unknown state of a job; its run keeps its state')
  }

  #compareClocks(): Promise<void> {
    if (this.#nowMs() - this.#comparedMs >= compareMs) {
      this.#comparedMs = this.#nowMs()
      this.#comparison = this.#readAheadMs()
    }
    return this.#comparison
  }

  /** Measures the file system's clock. If the directory is full or read-only, the last measurement stays. */
  async #readAheadMs(): Promise<void> {
    const { layout, time, log } = this.#options
    try {
      this.#aheadMs = (await readFileClock(layout)) - time.nowMs()
    } catch (error) {
      const err = layout.explainError(error)
      if (!(err instanceof SharedDirTrouble)) throw error
      log.debug({ err }, 'the clock of the shared folder cannot be read now')
    }
  }

  /** Handles a run that Slurm lost before it began, for example in a cold start of its controller. */
  async #refuseLost(files: RunDirectory, snapshot: QueueSnapshot | null): Promise<Observation> {
    if (!snapshot || !this.#isSettled(files.runId, snapshot))
      return { state: 'starting', info: 'Slurm does not have the job yet' }
    const message = 'Slurm has lost the job before it began'
    await takeClaim(files, { by: 'refused', reason: 'START_FAILED', message })
    return { state: 'starting', info: message }
  }
}

const unseen: Observation = {
  state: 'starting',
  info: 'Slurm is unreachable, and the run has no visible directory in sharedDir',
}
