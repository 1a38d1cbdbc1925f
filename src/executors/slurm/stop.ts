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
 * Ends a run. If it has not begun, the server takes its claim, so it never begins. Else it gets TERM, and KILL after its
 * grace period, also after a record of its end, which the job can write.
 *
 * Signals go to the batch script, which passes them on to the command, and to the processes of srun. The whole Slurm job is
 * killed last, because its last output would be lost.
 */

interface StopperOptions extends Pick<ExecutorOptions, 'clock' | 'time' | 'log'> {
  slurm: Slurm
  queue: Pick<Queue, 'read'>
  layout: Layout
  closing: AbortSignal
  onEnd(handle: Handle): void
}

/** An unanswered scancel waits 5 s before its own retry; a new scancel is faster. */
const answerMsMax = 5_000
const pollMs = 200
/** Time for the batch script to write the last output, before the whole Slurm job is killed. */
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

  /** Plans the KILLs that earlier servers recorded: once, as soon as the shared folder can be read. */
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

  /** The running Slurm jobs of a run, by their comment: the job can change the record of its id, and ids are reused. */
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

  /** `--batch` signals only the batch script; without it scancel signals all processes that srun has started. */
  async #signal(jobId: string, name: 'TERM' | 'KILL'): Promise<void> {
    await this.#scancel(['--batch', `--signal=${name === 'KILL' ? 'USR1' : name}`, jobId])
    if (name === 'TERM') await this.#scancel([`--signal=${name}`, jobId])
  }

  async #scancel(args: readonly string[]): Promise<void> {
    try {
      await this.#options.slurm({ command: 'scancel', args, timeoutMs: answerMsMax })
    } catch (error) {
      // A refusal: the job or its step does not exist any more.
      if (!(error instanceof BackendRefused)) throw error
    }
  }
}

/** scancel waits until such a job continues, unless it kills all of the job. */
const isSuspended = ({ state }: SlurmJob) => state === 'SUSPENDED'
