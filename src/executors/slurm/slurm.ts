import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, oneUser } from '../accounts/account.ts'
import { type Alarm, Alarms } from '../backend/alarms.ts'
import { unlessMissing } from '../backend/file-errors.ts'
import { followSpool } from '../backend/spool-reader.ts'
import { type Executor, type Handle, isOver, type LogChunk } from '../executor.ts'
import { fileBlockBytes } from '../process/scripts.ts'
import { createCluster } from './cluster.ts'
import { createSlurm } from './commands.ts'
import { createForgotten } from './forgotten.ts'
import { createLayout, SharedDirTrouble } from './layout.ts'
import { createObserver } from './observer.ts'
import { ofOneCluster } from './one-cluster.ts'
import {
  directoryOf,
  giveUpRun,
  type RunDirectory,
  readRecords,
  removeDrafts,
  removeRun,
  spoolOf,
} from './run-files.ts'
import { createQueue } from './squeue.ts'
import { jobPhaseOf } from './state-tables.ts'
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
  /** Whether the pool has runs that this executor started and that are not over, with all of their output stored. */
  hasRuns(): Promise<boolean>
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
const pollMsMin = 100
const pollMsMax = 1_000

export async function createSlurmExecutor(options: SlurmOptions): Promise<Executor> {
  const { environment, inheritNames = [], accounts = oneUser, queues = {}, clock, time, log } = options
  const streamBytesMax = options.logBytesMax ?? streamBytesDefault
  // The limit may have been higher when a run began.
  const spoolBytesMax = Math.max(streamBytesMax + fileBlockBytes, streamBytesDefault)
  const layout = createLayout(options.sharedDir, options.pool, options.hasRuns)
  const slurm = ofOneCluster({ slurm: createSlurm(environment), layout, hasRuns: options.hasRuns, clock })
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
    streamBytesMax,
    clock,
    onSubmitted(handle, nativeId) {
      observer.submitted(handle, nativeId)
    },
  })
  const alarms = new Alarms(clock)
  const onEnd = (handle: Handle) => alarms.ring(handle)
  const stopper = createJobStopper({ slurm, queue, layout, clock, time, log, closing: closing.signal, onEnd })
  const forgotten = createForgotten(layout, queue, clock)
  const observer = createObserver({ layout, queue, forgotten, stopper, clock, time, log, onNews: onEnd })
  const { inspect, readOf } = observer

  try {
    await layout.demandWritable()
    await stopper.resume()
  } catch (error) {
    const err = layout.blame(error)
    if (!(err instanceof SharedDirTrouble)) throw error
    log.error({ pool: options.pool, problem: err.message }, 'the shared folder cannot be used; jobs of this pool wait')
  }

  async function find(runId: string): Promise<Handle | null> {
    const files = directoryOf(layout, runId)
    if (!files) return null
    await layout.demand()
    const records = await readRecords(files)
    if (!records) return null
    if (records.claim) return runId
    // While Slurm does not answer: if it has the run, that ends without its directory.
    if ((await queue.look([records.uid]))?.byRun.has(runId)) return runId
    return (await giveUpRun(layout, files)) ? null : runId
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
      return isOver(await observer.follow(handle, records))
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
      for await (const chunk of followSpool({
        spool: spoolOf(files, records.uid, spoolBytesMax),
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
      const watcher = watch(directory, { persistent: false }, (_, name) => {
        if (name === null || news.test(name)) alarm.ring()
      })
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
      if (records) await forgotten.add(handle, records.uid)
      await removeRun(files)
      await stopper.forget(handle)
      observer.forget(handle)
    },
    async list() {
      const runIds = (await unlessMissing(readdir(layout.runs))) ?? []
      return runIds.map((runId) => ({ runId, handle: runId }))
    },
    sweep: () => removeDrafts(layout),
    async capacity() {
      const nodes = await cluster.capacity()
      await stopper.resume()
      for (const run of await forgotten.outlived()) {
        log.warn({ run }, 'a run that is over goes on in Slurm; it is cancelled there')
        await stopper.cancel(run)
      }
      return nodes
    },
    describe: cluster.describe,
    async close() {
      closing.abort()
    },
  }
}

/** Files that say something new: not those that come and go while a job begins. */
const news = /^(begun|exit|again|stdout|stderr|full|over)/
