import { readdir } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import type { FoundOutput } from '../../domain/outputs/found.ts'
import { Alarms } from '../backend/alarms.ts'
import { limitConnections } from '../backend/connection-limit.ts'
import { watchDirectory } from '../backend/directory-watch.ts'
import { type ExecutorOptions, optionDefaults } from '../backend/executor-options.ts'
import { nullIfMissing } from '../backend/file-errors.ts'
import { followSpool } from '../backend/spool-reader.ts'
import {
  type BackendNode,
  type ExecOrder,
  type ExecProcess,
  type Executor,
  type ExecutorDescription,
  type Handle,
  isOver,
  type LogChunk,
  type Observation,
  type Sample,
  type SampledRun,
} from '../executor.ts'
import { fileBlockBytes } from '../process/scripts.ts'
import { Cluster } from './cluster.ts'
import { createSlurm } from './commands.ts'
import { connectToJob, execInJob } from './exec.ts'
import { ForgottenRuns } from './forgotten.ts'
import { Layout, SharedDirTrouble } from './layout.ts'
import { Observer } from './observer.ts'
import { checkClusterName } from './one-cluster.ts'
import { readSlurmOutputs } from './outputs.ts'
import { findRunDirectory, giveUpRun, openRunSpool, readRecords, removeDrafts, removeRun } from './run-files.ts'
import { Queue } from './squeue.ts'
import type { SlurmJob } from './squeue-output.ts'
import { sampleJobs } from './sstat.ts'
import { getJobPhase } from './state-tables.ts'
import { JobStopper } from './stop.ts'
import { Submitter } from './submit.ts'

/**
 * Runs jobs as jobs of a Slurm cluster. The handle is the run's id. The batch script (batch.sh) records the run in a
 * shared directory, so its end is known without Slurm's accounting. While Slurm is unreachable, runs keep their state.
 */

export interface SlurmOptions extends ExecutorOptions {
  /** Directory with the same path on the cluster and on this machine. */
  sharedDir: string
  pool: string
  /** Returns whether the pool has runs of this executor that are not over or whose output is not completely stored. */
  hasRuns(): Promise<boolean>
  /** The partition of each submission queue of the pool; empty: the pool uses all partitions. */
  queues?: Readonly<Record<string, string>>
}

const pollMsMin = 100
const pollMsMax = 1_000

export async function createSlurmExecutor(options: SlurmOptions): Promise<Executor> {
  const executor = new SlurmExecutor(options)
  await executor.open()
  return executor
}

function createParts(given: SlurmOptions, closing: AbortSignal) {
  const options = { ...optionDefaults, queues: {}, ...given }
  const { environment, hasRuns, deadlineSlackSeconds, clock, log } = options
  const layout = new Layout(options.sharedDir, options.pool, hasRuns)
  const slurm = checkClusterName({ slurm: createSlurm(environment), layout, hasRuns, clock })
  const queue = new Queue(slurm, clock, log)
  const shared = { ...options, slurm, queue, layout }
  const cluster = new Cluster(shared)
  const forgotten = new ForgottenRuns(layout, queue, clock)
  const alarms = new Alarms(clock)
  const ring = (handle: Handle) => alarms.ring(handle)
  const stopper = new JobStopper({ ...shared, closing, onEnd: ring })
  const observer = new Observer({ ...shared, forgotten, stopper, onChange: ring })
  const submitter = new Submitter({
    ...shared,
    limits: {
      deadlineSlackSeconds,
      minutesMax: (partition) => cluster.minutesMax(partition),
      gpuTypes: (partition) => cluster.gpuTypes(partition),
    },
    onSubmitted: (handle, nativeId) => observer.noteSubmission(handle, nativeId),
  })
  return { ...shared, cluster, forgotten, alarms, stopper, observer, submitter }
}

class SlurmExecutor implements Executor {
  readonly name = 'slurm'
  readonly #closing = new AbortController()
  readonly #parts: ReturnType<typeof createParts>
  readonly #openConnection = limitConnections('of the Slurm cluster')

  constructor(options: SlurmOptions) {
    this.#parts = createParts(options, this.#closing.signal)
  }

  async open(): Promise<void> {
    const { pool, log, cluster, layout, stopper } = this.#parts
    await cluster
      .readLimits()
      .catch((err) => log.warn({ err }, 'Slurm is unreachable; the limits of its partitions are unknown'))
    try {
      await layout.checkWritable()
      await stopper.resume()
    } catch (error) {
      const err = layout.explainError(error)
      if (!(err instanceof SharedDirTrouble)) throw error
      log.error({ pool, problem: err.message }, 'the shared folder cannot be used; jobs of this pool wait')
    }
  }

  start: Executor['start'] = (run, unwanted, tell) => this.#parts.submitter.start(run, unwanted, tell)

  async find(runId: string): Promise<Handle | null> {
    const { layout, queue } = this.#parts
    const files = findRunDirectory(layout, runId)
    if (!files) return null
    await layout.checkReadable()
    const records = await readRecords(files)
    if (!records) return null
    if (records.claim) return runId
    // If Slurm is unreachable but has the run, the job will end because its directory is missing.
    if ((await queue.read([records.uid]))?.byRun.has(runId)) return runId
    return (await giveUpRun(layout, files)) ? null : runId
  }

  inspect(handles: readonly Handle[]): Promise<readonly Observation[]> {
    return this.#parts.observer.inspect(handles)
  }

  /** Reads the output. Watches the directory of the run if possible, and polls it otherwise. */
  async *logs(handle: Handle, from: unknown, given: AbortSignal): AsyncGenerator<LogChunk> {
    const { observer, layout, alarms, log, logBytesMax } = this.#parts
    const files = findRunDirectory(layout, handle)
    if (!files) return
    const signal = AbortSignal.any([given, this.#closing.signal])
    using alarm = alarms.of(handle)
    const isRelevant = (name: string) => relevant.test(name)
    const watcher = watchDirectory({ ...files, isRelevant, alarm, log })
    let records = await observer.readRecords(handle)
    let pauseMs = pollMsMin
    const isFinal = async () => {
      records = (await observer.readRecords(handle)) ?? records
      return isOver(await observer.follow(handle, records))
    }
    const wait = async () => {
      await alarm.wait(pauseMs, signal)
      pauseMs = Math.min(pollMsMax, pauseMs * 1.5)
    }
    try {
      while (records === null && !signal.aborted) {
        const state = (await observer.inspect([handle]))[0]
        if (state?.state === 'gone') return
        if (isOver(state)) return yield { gap: 'NOT_VISIBLE', bytes: 0, next: from ?? { out: 0, err: 0 } }
        await wait()
        records = await observer.readRecords(handle)
      }
      if (records === null) return
      // The configured limit may have been higher when the run began.
      const bytesMax = Math.max(logBytesMax + fileBlockBytes, optionDefaults.logBytesMax)
      const spool = openRunSpool(files, records.uid, bytesMax)
      const losses = () => records?.losses ?? []
      for await (const chunk of followSpool({ spool, from, losses, signal, isOver: isFinal, wait })) {
        pauseMs = pollMsMin
        yield chunk
      }
    } finally {
      watcher?.close()
    }
  }

  stop(handle: Handle, graceMs: number): Promise<void> {
    return this.#parts.stopper.stop(handle, graceMs)
  }

  watch(signal: AbortSignal): AsyncGenerator<Handle> {
    return this.#parts.alarms.keys(AbortSignal.any([signal, this.#closing.signal]))
  }

  async *outputs(handle: Handle, pick: (found: FoundOutput) => boolean, signal: AbortSignal) {
    const files = findRunDirectory(this.#parts.layout, handle)
    await this.#parts.layout.checkReadable()
    if (files) yield* readSlurmOutputs(files, pick, AbortSignal.any([signal, this.#closing.signal]))
  }

  async forget(handle: Handle): Promise<void> {
    const { layout, queue, stopper, forgotten, observer } = this.#parts
    const files = findRunDirectory(layout, handle)
    if (!files) return
    const records = await readRecords(files)
    const isQueued = queue.last?.byRun.get(handle)?.some(({ state }) => getJobPhase(state) === 'waits') ?? false
    if (records && isQueued) await stopper.cancel(handle)
    if (records) await forgotten.add(handle, records.uid)
    await removeRun(files)
    await stopper.stops.forget(handle)
    observer.forget(handle)
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    const runIds = (await nullIfMissing(readdir(this.#parts.layout.runs))) ?? []
    return runIds.map((runId) => ({ runId, handle: runId }))
  }

  sweep(): Promise<void> {
    return removeDrafts(this.#parts.layout)
  }

  async capacity(): Promise<readonly BackendNode[]> {
    const { cluster, stopper, forgotten, log } = this.#parts
    const nodes = await cluster.capacity()
    await stopper.resume()
    for (const run of await forgotten.listRunning()) {
      log.warn({ run }, 'a run that has ended in the database still runs in Slurm; cancelling its Slurm job')
      await stopper.cancel(run)
    }
    return nodes
  }

  /** Uses the job ids of the last query of the queue, which `capacity` repeats every few seconds. */
  async sample(runs: readonly SampledRun[]): Promise<Sample[]> {
    const { slurm, queue } = this.#parts
    const jobIds = runs.map(({ handle }) => queue.last?.byRun.get(handle)?.find(isRunningJob)?.id ?? null)
    const samples = await sampleJobs(
      slurm,
      jobIds.filter((id) => id !== null),
    )
    return jobIds.map((id) => samples.get(id ?? '') ?? {})
  }

  exec(handle: Handle, order: ExecOrder): Promise<ExecProcess> {
    return execInJob(handle, order, this.#parts)
  }

  connect(handle: Handle, port: number): Promise<Duplex> {
    return this.#openConnection(() => connectToJob(handle, port, this.#parts))
  }

  describe(): Promise<ExecutorDescription> {
    return this.#parts.cluster.describe()
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }
}

const isRunningJob = ({ state }: SlurmJob) => getJobPhase(state) === 'runs'

/** Files whose changes matter; excludes files that appear and disappear while a job begins. */
const relevant = /^(begun|exit|again|stdout|stderr|full|over)/
