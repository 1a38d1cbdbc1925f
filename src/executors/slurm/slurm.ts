import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, oneUser } from '../account.ts'
import { type Alarm, Alarms } from '../alarms.ts'
import { type Executor, type Handle, isOver, type LogChunk, type Observation } from '../executor.ts'
import { follow } from '../follow.ts'
import { createCluster } from './cluster.ts'
import { createSlurm } from './commands.ts'
import { conclude, needsSlurm } from './observation.ts'
import {
  directoryOf,
  giveUpRun,
  isVisible,
  openLayout,
  type Records,
  type RunDirectory,
  readFileClock,
  readRecords,
  removeRun,
  spoolOf,
  takeClaim,
} from './run-files.ts'
import { createQueue, type QueueSnapshot } from './squeue.ts'
import { isJobAlive, jobPhaseOf } from './states.ts'
import { createJobStopper } from './stop.ts'
import { createSubmit } from './submit.ts'

/**
 * Runs as jobs of a Slurm cluster. A handle is the run's id. What a run did is recorded by its batch script (batch.sh)
 * in its directory on a file system that the cluster and the server share, so it is known without accounting, and after
 * Slurm has forgotten the job. Slurm is asked by its commands, once for all runs; while it does not answer, runs keep
 * the state that they had.
 */

export interface SlurmOptions {
  /** The same path on the cluster and here. */
  sharedDir: string
  pool: string
  /** Partition of each submission queue of the pool; empty: all partitions are of the pool. */
  queues?: Readonly<Record<string, string>>
  /** Environment of the server; a job inherits the fixed list of it, and `inheritNames`. */
  environment: Readonly<Record<string, string | undefined>>
  inheritNames?: readonly string[]
  accounts?: AccountRules
  /** Bytes of each output stream that are kept. */
  logBytesMax?: number
  /** Time after its maximum run time at which a run is ended by Slurm, if no server did it. */
  deadlineSlackSeconds?: number
  clock: Clock
  time: Time
  log: Log
}

const streamBytesDefault = 16 * 1024 ** 3
/** How long a record of the batch script may take to be seen here, after Slurm says that the run is over. */
const settleMsMax = 15_000
const pollMsMin = 100
const forgottenMax = 1_000
/** The end of a run that recorded none is looked for this often, unless it is inspected anyway. */
const observedMsMax = 10_000
const pollMsMax = 1_000

export async function createSlurmExecutor(options: SlurmOptions): Promise<Executor> {
  const { environment, inheritNames = [], accounts = oneUser, queues = {}, clock, time, log } = options
  const layout = await openLayout(options.sharedDir, options.pool)
  const slurm = createSlurm(environment)
  const queue = createQueue(slurm, clock, log)
  const closing = new AbortController()
  const either = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal])
  const cluster = await createCluster({ slurm, queue, layout, queues, accounts, log })
  const { minutesMax, gpuTypes } = cluster
  const submit = createSubmit({
    slurm,
    queue,
    layout,
    accounts,
    environment,
    inheritNames,
    limits: { deadlineSlackSeconds: options.deadlineSlackSeconds ?? 10, minutesMax, gpuTypes },
    streamBytesMax: options.logBytesMax ?? streamBytesDefault,
    clock,
  })
  const alarms = new Alarms(clock)
  const onEnd = (handle: Handle) => alarms.ring(handle)
  const stopper = await createJobStopper({ slurm, queue, layout, clock, time, log, closing: closing.signal, onEnd })
  /** The last observation of each run that is not forgotten; a final one does not change. */
  const seen = new Map<Handle, Observation>()
  /** Since when Slurm says that a run is over which has not recorded that. */
  const unsettled = new Map<Handle, number>()
  /** When a run was last observed. */
  const observedMs = new Map<Handle, number>()
  /** The latest of those that were forgotten: Slurm shows them a little longer. */
  const forgotten = new Set<Handle>()

  async function inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    const records = await Promise.all(handles.map(readOf))
    const isAsked = handles.some((handle, at) => !isOver(seen.get(handle)) && needsSlurm(records[at] ?? null))
    const snapshot = isAsked ? await queue.look(records.flatMap((each) => each?.uid ?? [])) : null
    // A batch script that ended while Slurm was asked has left its record since.
    const fresh = isAsked ? await Promise.all(handles.map(readOf)) : records
    return Promise.all(handles.map((handle, at) => observe(handle, fresh[at] ?? null, snapshot)))
  }

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

  async function observe(
    handle: Handle,
    records: Records | null,
    snapshot: QueueSnapshot | null,
  ): Promise<Observation> {
    const last = seen.get(handle)
    if (last && isOver(last)) return last
    if (!directoryOf(layout, handle) || forgotten.has(handle)) return { state: 'gone' }
    const jobs = snapshot?.byRun.get(handle)?.filter(({ uid }) => records === null || uid === records.uid) ?? []
    reportUnknown(jobs)
    const toTime = await readTime(records)
    const stopped = await stopper.isAsked(handle)
    const isMounted = records !== null || (await isVisible(layout))
    const facts = {
      records,
      jobs: snapshot && jobs,
      stopped,
      isSettled: isSettled(handle, snapshot),
      isMounted,
      toTime,
    }
    // Without an answer of Slurm a directory that is not seen means nothing.
    const verdict = records === null && snapshot === null ? (last ?? unseen) : conclude(facts)
    const observation: Observation = verdict.state === 'unsubmitted' ? await unsubmitted(handle, snapshot) : verdict
    return keep(handle, observation)
  }

  function keep(handle: Handle, observation: Observation): Observation {
    const last = seen.get(handle)
    seen.set(handle, observation)
    observedMs.set(handle, clock.monotonicMs())
    if (isOver(observation)) {
      unsettled.delete(handle)
      stopper.isOver(handle)
    }
    if (last?.state !== observation.state) alarms.ring(handle)
    return observation
  }

  /** Counts from when Slurm first said so here. */
  function isSettled(handle: Handle, snapshot: QueueSnapshot | null): boolean {
    const jobs = snapshot?.byRun.get(handle) ?? []
    if (snapshot === null || jobs.some(({ state }) => isJobAlive(state))) {
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

  async function readTime(records: Records | null): Promise<(fileMs: number) => Date> {
    if (!records?.begun) return (fileMs) => new Date(fileMs)
    const aheadMs = (await readFileClock(layout)) - time.nowMs()
    return (fileMs) => new Date(fileMs - aheadMs)
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

  async function find(runId: string): Promise<Handle | null> {
    const files = directoryOf(layout, runId)
    const records = files && (await readRecords(files))
    if (!files || !records) return null
    if (records.claim) return runId
    // While Slurm does not answer: if it has the run, that ends without its directory.
    if ((await queue.look([records.uid]))?.byRun.has(runId)) return runId
    return (await giveUpRun(files)) ? null : runId
  }

  /** Ends after the last byte. Its run's directory is watched where that works, and looked at where it does not. */
  async function* logs(handle: Handle, from: unknown, given: AbortSignal): AsyncGenerator<LogChunk> {
    const files = directoryOf(layout, handle)
    if (!files) return
    const signal = either(given)
    using alarm = alarms.of(handle)
    const watcher = watchDirectory(files, alarm)
    let records = await readOf(handle)
    let pauseMs = pollMsMin
    const isFinal = async () => {
      records = (await readOf(handle)) ?? records
      const before = seen.get(handle)?.state
      const isOld = clock.monotonicMs() - (observedMs.get(handle) ?? 0) > observedMsMax
      const isNews = isOld || (before !== 'running' && records?.begun) || records?.exit || records?.failed
      return isOver(isNews ? (await inspect([handle]))[0] : seen.get(handle))
    }
    const wait = async () => {
      await alarm.wait(pauseMs, signal)
      pauseMs = Math.min(pollMsMax, pauseMs * 1.5)
    }
    try {
      while (records === null && !signal.aborted) {
        const state = (await inspect([handle]))[0]
        if (state?.state === 'gone') return
        if (isOver(state)) return yield { gap: 'NOT_VISIBLE', bytes: 0, next: from ?? { out: 0, err: 0 } }
        await wait()
        records = await readOf(handle)
      }
      if (records === null) return
      const losses = () => records?.losses ?? []
      for await (const chunk of follow({
        spool: spoolOf(files, records.uid),
        from,
        losses,
        signal,
        isOver: isFinal,
        wait,
      })) {
        pauseMs = pollMsMin
        yield chunk
      }
    } finally {
      watcher?.close()
    }
  }

  function watchDirectory({ directory }: RunDirectory, alarm: Alarm): FSWatcher | null {
    try {
      const watcher = watch(directory, { persistent: false }, () => alarm.ring())
      watcher.on('error', (err) => log.debug({ err, directory }, 'a watch ended; looking meanwhile'))
      return watcher
    } catch (err) {
      log.debug({ err, directory }, 'a directory cannot be watched; looking at it')
      return null
    }
  }

  return {
    name: 'slurm',
    start: submit,
    find,
    inspect,
    logs,
    stop: (handle, graceMs) => stopper.stop(handle, graceMs),
    watch: (signal) => alarms.keys(either(signal)),
    async forget(handle) {
      const files = directoryOf(layout, handle)
      if (!files) return
      const records = await readRecords(files)
      const others = queue.last?.byRun.get(handle)?.some(({ state }) => jobPhaseOf(state) === 'waits') ?? false
      if (records && others) await stopper.cancel(handle)
      await removeRun(files)
      await stopper.forget(handle)
      seen.delete(handle)
      observedMs.delete(handle)
      unsettled.delete(handle)
      forgotten.add(handle)
      const [oldest] = forgotten
      if (oldest !== undefined && forgotten.size > forgottenMax) forgotten.delete(oldest)
    },
    list: async () => (await readdir(layout.runs)).map((runId) => ({ runId, handle: runId })),
    capacity: cluster.capacity,
    describe: cluster.describe,
    async close() {
      closing.abort()
    },
  }
}

const unseen: Observation = {
  state: 'starting',
  info: 'Slurm does not answer, and the shared directory does not have it',
}
