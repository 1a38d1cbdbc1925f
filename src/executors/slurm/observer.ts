import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type Handle, isOver, type Observation } from '../executor.ts'
import type { Forgotten } from './forgotten.ts'
import { type Layout, SharedDirTrouble } from './layout.ts'
import { conclude, type Facts, isRunning, saysOver } from './observation.ts'
import {
  directoryOf,
  isRemoved,
  type Records,
  type RunDirectory,
  readFileClock,
  readRecords,
  takeClaim,
} from './run-files.ts'
import type { Queue, QueueSnapshot } from './squeue.ts'
import { isJobAlive, jobPhaseOf } from './state-tables.ts'
import type { JobStopper } from './stop.ts'

/**
 * The states of runs, from their records and from what Slurm says of them (observation.ts). Slurm is asked for all runs
 * at once, and not for a run that a record says has begun.
 */

export interface Observer {
  inspect(handles: readonly Handle[]): Promise<readonly Observation[]>
  /** The present state of a run whose output is read; Slurm is asked rarely. */
  follow(handle: Handle, records: Records | null): Promise<Observation | undefined>
  /** null: its directory is not there, or cannot be read now. */
  readOf(handle: Handle): Promise<Records | null>
  /** Slurm has just taken it. */
  submitted(handle: Handle, nativeId: string): void
  forget(handle: Handle): void
}

interface ObserverOptions {
  layout: Layout
  queue: Queue
  forgotten: Pick<Forgotten, 'has'>
  stopper: Pick<JobStopper, 'isAsked' | 'isOver' | 'cancel'>
  clock: Clock
  time: Time
  log: Log
  /** The state of a run is another one. */
  onNews(handle: Handle): void
}

/** Slurm is not asked again for a run so soon, unless that has ended. */
const recentMs = 1_000
/** The clocks are compared at most this often. */
const compareMs = 1_000
/** How long a record of the batch script may take to be seen here, after Slurm says that the run is over. */
const settleMsMax = 15_000
/** A job that runs for this long after the record of its end is cancelled in Slurm: it wrote that record itself. */
const overrunMsMax = 10_000
/** The end of a run that recorded none is looked for this often, unless it is inspected anyway. */
const observedMsMax = 10_000

export function createObserver(options: ObserverOptions): Observer {
  const { layout, queue, forgotten, stopper, clock, time, log, onNews } = options
  /** The last observation of each run that is not forgotten; a final one does not change. */
  const seen = new Map<Handle, Observation>()
  /** Since when Slurm says that a run is over which has not recorded that. */
  const unsettled = new Map<Handle, number>()
  /** Since when a run has a record of its end, while Slurm says that its job runs. */
  const overrunning = new Map<Handle, number>()
  /** When a run was last observed. */
  const observedMs = new Map<Handle, number>()
  /** When Slurm, or a new record, last said how a run is. */
  const askedMs = new Map<Handle, number>()
  /** How far the clock of the file system is ahead of the time of the database; null: not known yet. */
  let aheadMs: number | null = null
  let comparedMs = Number.NEGATIVE_INFINITY
  let comparison = Promise.resolve()

  async function inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const records = await Promise.all(handles.map(readOf))
    const isAsked = handles.some((handle, at) => needsAnswer(handle, records[at] ?? null))
    const snapshot = isAsked ? await queue.look(records.flatMap((each) => each?.uid ?? [])) : null
    if (isAsked && snapshot === null) unsettled.clear()
    // A batch script that ended while Slurm was asked has left its record since.
    const fresh = isAsked ? await Promise.all(handles.map(readOf)) : records
    if (fresh.some((each) => each?.begun)) await compareClocks()
    return Promise.all(
      handles.map((handle, at) => {
        const hadBegun = records[at]?.begun != null
        return observe(handle, fresh[at] ?? null, snapshot && { ...snapshot, hadBegun })
      }),
    )
  }

  function needsAnswer(handle: Handle, records: Records | null): boolean {
    if (isOver(seen.get(handle))) return false
    return records === null || saysOver(records) || !isRecent(handle)
  }

  const isRecent = (handle: Handle) =>
    clock.monotonicMs() - (askedMs.get(handle) ?? Number.NEGATIVE_INFINITY) < recentMs

  async function readOf(handle: Handle): Promise<Records | null> {
    const files = directoryOf(layout, handle)
    if (!files) return null
    try {
      return await readRecords(files)
    } catch (err) {
      log.warn({ err, run: handle }, 'the directory of a run cannot be read now')
      return null
    }
  }

  async function observe(handle: Handle, records: Records | null, snapshot: Answer | null): Promise<Observation> {
    const last = seen.get(handle)
    if (last && isOver(last)) return last
    const files = directoryOf(layout, handle)
    if (!files || forgotten.has(handle)) return { state: 'gone' }
    if (snapshot !== null) askedMs.set(handle, clock.monotonicMs())
    else if (last && records && !records.claim && isRecent(handle)) return last
    const facts = await factsOf(files, records, snapshot)
    await endOverrun(handle, facts)
    // Without an answer of Slurm a directory that is not seen means nothing.
    const verdict = records === null && snapshot === null ? (last ?? unseen) : conclude(facts)
    const observation: Observation = verdict.state === 'unsubmitted' ? await unsubmitted(handle, snapshot) : verdict
    return keep(handle, observation)
  }

  async function factsOf(files: RunDirectory, records: Records | null, snapshot: Answer | null): Promise<Facts> {
    const handle = files.runId
    const jobs = snapshot?.byRun.get(handle)?.filter(({ uid }) => records === null || uid === records.uid) ?? []
    reportUnknown(jobs)
    return {
      records,
      jobs: snapshot && jobs,
      stopped: await stopper.isAsked(handle),
      isSettled: isSettled(handle, snapshot),
      hadBegun: snapshot?.hadBegun ?? false,
      isRemoved: records === null && (await isRemoved(layout, files)),
      toTime: toTime(),
    }
  }

  /** A controller or a node that is slow is given time, though a cancellation would not change the recorded end. */
  async function endOverrun(handle: Handle, { records, jobs }: Facts): Promise<void> {
    if (jobs === null) return
    if (records === null || !saysOver(records) || !jobs.some(isRunning)) return void overrunning.delete(handle)
    const nowMs = clock.monotonicMs()
    const sinceMs = overrunning.get(handle) ?? nowMs
    overrunning.set(handle, sinceMs)
    if (nowMs - sinceMs < overrunMsMax) return
    overrunning.set(handle, nowMs)
    log.warn({ run: handle }, 'a run goes on in Slurm after the record of its end; its job is cancelled')
    await stopper.cancel(handle).catch((err) => log.warn({ err, run: handle }, 'the job cannot be cancelled now'))
  }

  function toTime(): Facts['toTime'] {
    const byMs = aheadMs
    return byMs === null ? null : (fileMs) => new Date(fileMs - byMs)
  }

  async function observeBegun(handle: Handle, records: Records): Promise<void> {
    await compareClocks()
    askedMs.set(handle, clock.monotonicMs())
    await observe(handle, records, null)
  }

  function keep(handle: Handle, observation: Observation): Observation {
    const last = seen.get(handle)
    seen.set(handle, observation)
    observedMs.set(handle, clock.monotonicMs())
    if (isOver(observation)) {
      unsettled.delete(handle)
      stopper.isOver(handle)
    }
    if (last?.state !== observation.state) onNews(handle)
    return observation
  }

  /** Counts from when Slurm first said so here, and anew after it was silent. */
  function isSettled(handle: Handle, snapshot: QueueSnapshot | null): boolean {
    if (snapshot === null) return false
    if (snapshot.byRun.get(handle)?.some(({ state }) => isJobAlive(state))) {
      unsettled.delete(handle)
      return false
    }
    const sinceMs = unsettled.get(handle) ?? clock.monotonicMs()
    unsettled.set(handle, sinceMs)
    return clock.monotonicMs() - sinceMs >= settleMsMax
  }

  function reportUnknown(jobs: readonly { id: string; state: string }[]): void {
    for (const { id, state } of jobs)
      if (jobPhaseOf(state) === null)
        log.error({ job: id, state }, 'Slurm has an unknown state of a job; nothing is concluded')
  }

  /** All that come during a comparison wait for it. */
  function compareClocks(): Promise<void> {
    if (clock.monotonicMs() - comparedMs >= compareMs) {
      comparedMs = clock.monotonicMs()
      comparison = compareNow()
    }
    return comparison
  }

  /** A folder that is full or read-only cannot tell its time: then it is as far ahead as before. */
  async function compareNow(): Promise<void> {
    try {
      aheadMs = (await readFileClock(layout)) - time.nowMs()
    } catch (error) {
      const err = layout.blame(error)
      if (!(err instanceof SharedDirTrouble)) throw error
      log.debug({ err }, 'the clock of the shared folder cannot be read now')
    }
  }

  /** Slurm lost the job before it began: after a cold start of its controller, for example. */
  async function unsubmitted(handle: Handle, snapshot: QueueSnapshot | null): Promise<Observation> {
    const files = directoryOf(layout, handle)
    if (!files || !snapshot || !isSettled(handle, snapshot))
      return { state: 'starting', info: 'Slurm does not have it yet' }
    const message = 'Slurm has lost the job before it began'
    await takeClaim(files, { by: 'refused', reason: 'START_FAILED', message })
    return { state: 'starting', info: message }
  }

  return {
    inspect,
    readOf,
    async follow(handle, records) {
      const isOld = clock.monotonicMs() - (observedMs.get(handle) ?? 0) > observedMsMax
      if (isOld || (records && saysOver(records))) return (await inspect([handle]))[0]
      if (seen.get(handle)?.state === 'starting' && records?.begun) await observeBegun(handle, records)
      return seen.get(handle)
    },
    submitted(handle, nativeId) {
      askedMs.set(handle, clock.monotonicMs())
      keep(handle, { state: 'starting', nativeId })
    },
    forget(handle) {
      for (const known of [seen, observedMs, unsettled, overrunning, askedMs]) known.delete(handle)
    },
  }
}

/** What Slurm says of all runs, for one of them. */
type Answer = QueueSnapshot & Pick<Facts, 'hadBegun'>

const unseen: Observation = {
  state: 'starting',
  info: 'Slurm does not answer, and the shared directory does not have it',
}
