import type { ExecutorOptions } from '../backend/executor-options.ts'
import { RequestedStops } from '../backend/requested-stops.ts'
import { BackendRefused, BackendUnreachable } from '../backend/unreachable.ts'
import type { Handle } from '../executor.ts'
import type { Slurm } from './commands.ts'
import type { Layout } from './layout.ts'
import { isRunning, saysOver } from './observation.ts'
import { findRunDirectory, type Records, readRecords, takeClaim } from './run-files.ts'
import type { Queue } from './squeue.ts'
import type { SlurmJob } from './squeue-output.ts'

/**
 * Stops a run. If it has not begun, the server takes its claim, so it never begins. Otherwise it gets TERM, and KILL
 * after its grace period, also after a record of its end, because the job can write that record.
 *
 * Signals go to the batch script, which passes them on to the command, and to the processes of srun. The whole Slurm
 * job is killed only at the end, because its last output would be lost.
 */

interface StopperOptions extends Pick<ExecutorOptions, 'clock' | 'time' | 'log'> {
  slurm: Slurm
  queue: Pick<Queue, 'read'>
  layout: Layout
  closing: AbortSignal
  onEnd(handle: Handle): void
}

/** Time limit of scancel: after 5 s without a response it retries by itself, but a new scancel is faster. */
const answerMsMax = 5_000
const pollMs = 200
/** Time for the batch script to write its last output before the whole Slurm job is killed. */
const lastOutputMs = 5_000

export class JobStopper {
  readonly stops: RequestedStops
  readonly #options: StopperOptions
  #isResumed = false

  constructor(options: StopperOptions) {
    this.#options = options
    this.stops = new RequestedStops({
      ...options,
      directory: options.layout.own,
      nowMs: () => options.time.nowMs(),
      kill: (handle, over) => this.#kill(handle, over),
      onPlanned: (handle, over) => void this.#reportEnd(handle, over),
    })
  }

  async stop(handle: Handle, graceMs: number): Promise<void> {
    const { layout, onEnd } = this.#options
    const files = findRunDirectory(layout, handle)
    const records = files && (await readRecords(files))
    const isDone = records === null || saysOver(records)
    if (isDone && (await this.#findJobs(handle)).length === 0) return
    const leftMs = await this.stops.record(handle, graceMs)
    if (files && records && !records.claim && (await takeClaim(files, { by: 'void' }))) {
      onEnd(handle)
      return this.cancel(handle)
    }
    this.stops.planKill(handle, leftMs)
    for (const job of leftMs > 0 ? await this.#findJobs(handle) : []) {
      if (isSuspended(job)) throw new Error(`Slurm has suspended job ${job.id}: it gets TERM when it continues`)
      await this.#signal(job.id, 'TERM')
    }
  }

  async cancel(handle: Handle): Promise<void> {
    const jobs = (await this.#options.queue.read([]))?.byRun.get(handle) ?? []
    if (jobs.length > 0) await this.#scancel(jobs.map(({ id }) => id))
  }

  /** Schedules the KILLs that earlier servers recorded. Does this once, as soon as the shared directory is readable. */
  async resume(): Promise<void> {
    if (!this.#isResumed) await this.stops.resume()
    this.#isResumed = true
  }

  async #kill(handle: Handle, over: AbortSignal): Promise<void> {
    const jobs = (await this.#findJobs(handle)).filter((job) => !isSuspended(job))
    for (const { id } of jobs) await this.#signal(id, 'KILL')
    if (jobs.length > 0) await this.#options.clock.sleep(lastOutputMs, over)
    if (over.aborted) return
    for (const { id } of await this.#findJobs(handle)) await this.#scancel(['--full', '--signal=KILL', id])
  }

  async #reportEnd(handle: Handle, over: AbortSignal): Promise<void> {
    const { clock, onEnd } = this.#options
    while (!over.aborted && !(await this.#hasEnded(handle))) await clock.sleep(pollMs, over)
    if (!over.aborted) onEnd(handle)
  }

  async #hasEnded(handle: Handle): Promise<boolean> {
    const records = await this.#readRecords(handle).catch((err) =>
      this.#options.log.debug({ err, run: handle }, 'the directory of a run cannot be read now'),
    )
    return Boolean(records?.exit || records?.failed)
  }

  /**
   * Finds the running Slurm jobs of a run by their comment. The recorded job id is unsafe: the job can change the
   * record, and ids are reused.
   */
  async #findJobs(handle: Handle): Promise<readonly SlurmJob[]> {
    const records = await this.#readRecords(handle)
    const snapshot = await this.#options.queue.read(records ? [records.uid] : [])
    if (!snapshot) throw new BackendUnreachable('Slurm is unreachable: the job cannot be signalled now')
    const jobs = snapshot.byRun.get(handle)?.filter(isRunning) ?? []
    return jobs.filter(({ uid }) => records === null || uid === records.uid)
  }

  async #readRecords(handle: Handle): Promise<Records | null> {
    const files = findRunDirectory(this.#options.layout, handle)
    return files && readRecords(files)
  }

  /** Sends a signal. With `--batch` only the batch script gets it; without it, all processes that srun has started. */
  async #signal(jobId: string, name: 'TERM' | 'KILL'): Promise<void> {
    await this.#scancel(['--batch', `--signal=${name === 'KILL' ? 'USR1' : name}`, jobId])
    if (name === 'TERM') await this.#scancel([`--signal=${name}`, jobId])
  }

  async #scancel(args: readonly string[]): Promise<void> {
    try {
      await this.#options.slurm({ command: 'scancel', args, timeoutMs: answerMsMax })
    } catch (error) {
      // Slurm refuses because the job or its step no longer exists.
      if (!(error instanceof BackendRefused)) throw error
    }
  }
}

/** true: the job is suspended. Then scancel waits until it continues, unless it kills the whole job. */
const isSuspended = ({ state }: SlurmJob) => state === 'SUSPENDED'
