import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { createKills } from '../backend/pending-kills.ts'
import type { Handle } from '../executor.ts'
import { type Slurm, SlurmAway } from './commands.ts'
import type { Layout } from './layout.ts'
import { isRunning, saysOver } from './observation.ts'
import { createStopRecords } from './requested-stops.ts'
import { directoryOf, type Records, readRecords, takeClaim } from './run-files.ts'
import type { Queue } from './squeue.ts'
import type { SlurmJob } from './squeue-output.ts'

/**
 * Ends a run. A run that has not begun never begins, whatever Slurm does: the server takes the claim that its batch
 * script would have taken. A run that has begun gets TERM, and KILL after its grace, from this server or the next one.
 *
 * Signals go to the batch script, which passes them on to the command, and to the processes that srun has started. The
 * whole Slurm job is killed only if that did not end it, because then the last output is lost. A record of the end does not
 * spare it: the job can write that.
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
   * The jobs of the run that run; more than one only if its submission was repeated. They are found by their comment: the
   * job can change the record of its id, and a controller that crashed gives the ids of lost jobs to others.
   */
  async function jobsOf(handle: Handle): Promise<readonly SlurmJob[]> {
    const records = await recordsOf(handle)
    const snapshot = await queue.look(records ? [records.uid] : [])
    if (!snapshot) throw new SlurmAway('Slurm does not answer: its job cannot be signalled now')
    const jobs = snapshot.byRun.get(handle)?.filter(isRunning) ?? []
    return jobs.filter(({ uid }) => records === null || uid === records.uid)
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
    const jobs = (await jobsOf(handle)).filter((job) => !isSuspended(job))
    for (const { id } of jobs) await signal(id, 'KILL')
    if (jobs.length > 0) await clock.sleep(lastOutputMs, over)
    if (over.aborted) return
    for (const { id } of await jobsOf(handle)) await scancel(['--full', '--signal=KILL', id])
  }

  async function cancel(handle: Handle): Promise<void> {
    const jobs = (await queue.look([]))?.byRun.get(handle) ?? []
    if (jobs.length > 0) await scancel(jobs.map(({ id }) => id))
  }

  return {
    async stop(handle, graceMs) {
      const files = directoryOf(layout, handle)
      const records = files && (await readRecords(files))
      const isDone = records === null || saysOver(records)
      if (isDone && (await jobsOf(handle)).length === 0) return
      const leftMs = await stops.record(handle, graceMs)
      if (files && records && !records.claim && (await takeClaim(files, { by: 'void' }))) {
        options.onEnd(handle)
        return cancel(handle)
      }
      killWhenDue(handle, leftMs)
      for (const job of leftMs > 0 ? await jobsOf(handle) : []) {
        if (isSuspended(job)) throw new Error(`Slurm has suspended job ${job.id}: it gets TERM when it goes on`)
        await signal(job.id, 'TERM')
      }
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
