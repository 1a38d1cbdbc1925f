import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Handle } from '../executor.ts'
import { createKills } from '../kills.ts'
import { type Slurm, SlurmAway } from './commands.ts'
import type { Layout } from './layout.ts'
import type { SlurmJob } from './queue.ts'
import { directoryOf, type Records, readRecords, takeClaim } from './run-files.ts'
import type { Queue } from './squeue.ts'
import { createStopRecords } from './stops.ts'

/**
 * Ends a run. A run that has not begun never begins, whatever Slurm does: the server takes the claim that its batch
 * script would have taken. A run that has begun gets TERM, and KILL after its grace, from this server or the next one.
 *
 * Signals go to the batch script, which passes them on to the command, and to the processes that srun has started. The
 * whole Slurm job is killed only if that did not end it, because then the last output is lost.
 */

export interface JobStopper {
  stop(handle: Handle, graceMs: number): Promise<void>
  /** Whether a stop was requested. */
  isAsked(handle: Handle): Promise<boolean>
  /** The run is over, so no KILL is needed. */
  isOver(handle: Handle): void
  /** Takes Slurm's jobs of this run out of its queue. */
  cancel(handle: Handle): Promise<void>
  forget(handle: Handle): Promise<void>
  /** Plans the stops that earlier servers were asked for; once, when the shared folder can be read. */
  resume(): Promise<void>
}

interface StopOptions {
  slurm: Slurm
  queue: Queue
  layout: Layout
  clock: Clock
  time: Time
  log: Log
  closing: AbortSignal
  onEnd(handle: Handle): void
}

/** Without an answer scancel itself waits 5 s before its next try; a new scancel is faster. */
const answerMsMax = 5_000
const lookMs = 200
/** Time for the batch script to keep the last output, before the whole Slurm job is killed. */
const lastOutputMs = 5_000

export function createJobStopper(options: StopOptions): JobStopper {
  const { slurm, queue, layout, clock, time, log, closing } = options
  const stops = createStopRecords(layout, time)
  const kills = createKills({ kill, clock, log, closing })
  let isResumed = false

  const recordsOf = async (handle: Handle): Promise<Records | null> => {
    const files = directoryOf(layout, handle)
    return files && readRecords(files)
  }

  async function scancel(args: readonly string[]): Promise<void> {
    try {
      await slurm({ command: 'scancel', args, timeoutMs: answerMsMax })
    } catch (error) {
      // A refusal: there is no such job any more, or it has no such step.
      if (error instanceof SlurmAway) throw error
    }
  }

  /** `--batch`: to the batch script alone. Without it: to all that srun has started. */
  async function signal(jobId: string, name: 'TERM' | 'KILL'): Promise<void> {
    await scancel(['--batch', `--signal=${name === 'KILL' ? 'USR1' : name}`, jobId])
    if (name === 'TERM') await scancel([`--signal=${name}`, jobId])
  }

  /**
   * The job of the run, if it has one. A controller that crashed gives the ids of the jobs that it lost to others, so the
   * id counts only while Slurm has it for this run.
   */
  async function jobOf(handle: Handle): Promise<SlurmJob | null> {
    const records = await recordsOf(handle)
    if (records?.exit || records?.failed) return null
    const claim = records?.claim ?? null
    if (claim && claim.by !== 'job') return null
    const snapshot = await queue.look(records ? [records.uid] : [])
    if (!snapshot) throw new SlurmAway('Slurm does not answer: its job cannot be signalled now')
    return snapshot.byRun.get(handle)?.find(({ id }) => claim === null || id === claim.id) ?? null
  }

  function killWhenDue(handle: Handle, leftMs: number): void {
    void attend(handle, kills.plan(handle, leftMs))
  }

  /** Watches for the end of the run, so that it is reported at once. */
  async function attend(handle: Handle, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await hasEnded(handle))) await clock.sleep(lookMs, signal)
    if (!signal.aborted) options.onEnd(handle)
  }

  async function hasEnded(handle: Handle): Promise<boolean> {
    const records = await recordsOf(handle).catch((err) =>
      log.debug({ err, run: handle }, 'a directory cannot be read now'),
    )
    return Boolean(records?.exit || records?.failed)
  }

  async function kill(handle: Handle, over: AbortSignal): Promise<void> {
    const job = await jobOf(handle)
    if (job === null) return
    if (!isSuspended(job)) {
      await signal(job.id, 'KILL')
      await clock.sleep(lastOutputMs, over)
    }
    if (!over.aborted && (await jobOf(handle)) !== null) await scancel(['--full', '--signal=KILL', job.id])
  }

  async function cancel(handle: Handle): Promise<void> {
    const jobs = (await queue.look([]))?.byRun.get(handle) ?? []
    if (jobs.length > 0) await scancel(jobs.map(({ id }) => id))
  }

  return {
    async stop(handle, graceMs) {
      const files = directoryOf(layout, handle)
      const records = files && (await readRecords(files))
      if (records?.exit || records?.failed) return
      if (records === null && (await jobOf(handle)) === null) return
      const leftMs = await stops.record(handle, graceMs)
      if (files && records && !records.claim && (await takeClaim(files, { by: 'void' }))) {
        options.onEnd(handle)
        return cancel(handle)
      }
      killWhenDue(handle, leftMs)
      const job = leftMs > 0 ? await jobOf(handle) : null
      if (job && isSuspended(job)) throw new Error(`Slurm has suspended job ${job.id}: it gets TERM when it goes on`)
      if (job) await signal(job.id, 'TERM')
    },
    isAsked: async (handle) => (await stops.read(handle)) !== null,
    isOver: kills.isOver,
    cancel,
    async forget(handle) {
      kills.isOver(handle)
      await stops.forget(handle)
    },
    async resume() {
      if (isResumed) return
      for (const runId of await stops.list()) killWhenDue(runId, (await stops.read(runId)) ?? 0)
      isResumed = true
    },
  }
}

/** scancel waits for such a job to go on, with any signal but a KILL to all of it. */
const isSuspended = ({ state }: SlurmJob) => state === 'SUSPENDED'
