import { signalFromExitCode } from '../backend/exit-code.ts'
import { type BackendPlacement, type Ended, isOver, type Observation } from '../executor.ts'
import type { Records } from './run-files.ts'
import type { SlurmJob } from './squeue-output.ts'
import { isJobAlive, jobPhaseOf, type Phase } from './state-tables.ts'

/**
 * The state of a run by what its batch script recorded and what Slurm says. Slurm tells why a run waits, and how one
 * ended that could not record it. The job can write any record, so a run is over only when Slurm agrees: none of its jobs
 * runs. Pure.
 */

export interface Facts {
  /** null: its directory cannot be seen. */
  records: Records | null
  /** Slurm's jobs of this run, the oldest first; null: Slurm does not answer. */
  jobs: readonly SlurmJob[] | null
  /** A stop was requested. */
  stopped: boolean
  /** Slurm has said for long that the run is over; a record that is not seen by now will not be. */
  isSettled: boolean
  /** A record that it has begun was there before Slurm was asked. */
  hadBegun: boolean
  /** Its directory is not there, and the file system is. */
  isRemoved: boolean
  /** null: the clocks have not been compared yet. */
  toTime: ((fileMs: number) => Date) | null
}

/** Slurm has no job of the run, and none has begun. */
export type Unsubmitted = { state: 'unsubmitted' }

const TERM = 15
const KILL = 9
const awayInfo = 'Slurm does not answer'

/** A record says that the run is over, or that it never begins. */
export const saysOver = ({ claim, exit, failed }: Records): boolean =>
  exit !== null || failed !== null || (claim !== null && claim.by !== 'job')

/** A COMPLETING job has left its resources to Slurm, which ends what is left of it. */
export const isRunning = (job: SlurmJob): boolean =>
  isAlive(job) && job.state !== 'COMPLETING' && jobPhaseOf(job.state) !== 'waits'

/**
 * Slurm may have ended the run: the batch script got a TERM, or the command died by a TERM or KILL. Signals of Slurm reach
 * the command and the script in any order, so the script may have recorded the end before it got one.
 */
const mayBeOfSlurm = ({ code, why }: NonNullable<Records['exit']>): boolean =>
  code !== 0 && (why !== null || code === 128 + TERM || code === 128 + KILL)

export function conclude(facts: Facts): Observation | Unsubmitted {
  const verdict = byRecords(facts)
  const { records, jobs } = facts
  if (verdict.state === 'unsubmitted' || !isOver(verdict) || records === null) return verdict
  return jobs === null || jobs.some(isRunning) ? notOver(facts, records) : verdict
}

/** Its records say that it is over, and Slurm does not, or does not answer. */
function notOver(facts: Facts, records: Records): Observation {
  const job = facts.jobs?.find(isRunning)
  const nativeId = records.claim?.by === 'job' ? records.claim.id : job?.id
  const known = nativeId === undefined ? {} : { nativeId }
  if (records.begun === null) return { state: 'starting', ...known, ...(facts.jobs === null && { info: awayInfo }) }
  return { state: 'running', ...known, ...timesOf({ ...records, exit: null }, facts), ...placed(records, job) }
}

function byRecords(facts: Facts): Observation | Unsubmitted {
  const { records, jobs, stopped } = facts
  if (records === null) return unseen(facts)
  if (records.failed) return { state: 'failed', ...records.failed }
  const { claim } = records
  switch (claim?.by) {
    case undefined:
      return unclaimed(facts)
    case 'void':
      return stopped ? signalled(TERM, true) : { state: 'gone', info: 'It was given up before Slurm started it' }
    case 'refused':
      return { state: 'failed', reason: claim.reason, message: claim.message }
    case 'job':
      return ofJob(facts, records, { id: claim.id, job: jobs?.find(({ id }) => id === claim.id) })
    default:
      return claim satisfies never
  }
}

/** Its directory was removed, or cannot be read now. */
function unseen({ jobs, isSettled, isRemoved, stopped }: Facts): Observation {
  // A run that was forgotten leaves a job that Slurm still cleans up after.
  const alive = jobs?.find((job) => isAlive(job) && job.state !== 'COMPLETING')
  if (alive) return jobPhaseOf(alive.state) === 'runs' ? running(alive) : waiting(alive)
  if (isRemoved) return { state: 'gone', info: 'Its directory was removed' }
  const [job] = jobs ?? []
  if (job && isSettled) return byStatus(job, phaseOf(job), stopped)
  return job ? { state: 'running', nativeId: job.id } : { state: 'starting', info: unreadInfo }
}

const unreadInfo = 'Its directory cannot be read now, and Slurm does not show its job'

function unclaimed({ jobs, isSettled, records }: Facts): Observation | Unsubmitted {
  if (jobs === null) return { state: 'starting', info: awayInfo }
  const alive = jobs.find(isAlive)
  if (alive) return waiting(alive)
  const last = jobs.at(-1)
  if (!last) return { state: 'unsubmitted' }
  // The record of the claim may not be visible yet.
  if (!isSettled) return { state: 'starting', nativeId: last.id }
  // One that has nodes was cancelled by Slurm, for its prolog failed: without `--no-requeue` it would wait again.
  if (jobPhaseOf(last.state) === 'cancelled' && last.nodes.length === 0)
    return { ...signalled(TERM, false), nativeId: last.id, info: cancelledInfo }
  const where = last.nodes.join(', ')
  const uid = records?.uid ?? ''
  const message = `Slurm job ${last.id} ended as ${last.state} on ${where} without a trace: did the prolog fail, does the node see the shared directory, and may the account with uid ${uid} write there?`
  return { state: 'failed', reason: 'START_FAILED', message }
}

const cancelledInfo = 'It was cancelled in Slurm'

interface Own {
  id: string
  /** undefined: Slurm has forgotten it, or does not answer. */
  job: SlurmJob | undefined
}

function ofJob(facts: Facts, records: Records, { id, job }: Own): Observation {
  const { jobs, stopped } = facts
  const phase = lastPhaseOf(facts, records, job)
  const isDone = job === undefined ? jobs !== null : phase === 'requeued' || !isAlive(job)
  const known = { nativeId: id, ...timesOf(records, facts), ...placed(records, job) }
  if (records.exit) {
    if (stopped || isDone || !mayBeOfSlurm(records.exit)) return byRecord(records.exit, { job, phase, stopped, known })
    return { ...known, state: 'running' }
  }
  if (!isDone) return records.begun ? { state: 'running', ...known } : { state: 'starting', nativeId: id }
  const ending = { ...known, ...endOf(job, facts) }
  if (isLoss(phase)) return lost(job, phase, ending)
  if (!facts.isSettled) return records.begun ? { state: 'running', ...known } : { state: 'starting', nativeId: id }
  if (job) return { ...byStatus(job, phase, stopped), ...ending }
  if (stopped) return { ...signalled(KILL, true), ...known }
  return { state: 'gone', info: `Slurm has forgotten job ${id}, which left no exit code` }
}

interface Ending {
  job: SlurmJob | undefined
  phase: Phase | Loss | null
  stopped: boolean
  known: Partial<Ended>
}

function byRecord(exit: NonNullable<Records['exit']>, { job, phase, stopped, known }: Ending): Observation {
  const { why, usage } = exit
  const code = (job && codeOfSlurm(job, phase)) ?? exit.code
  const signal = signalFromExitCode(code)
  const info = code === exit.code ? {} : { info: `Its record says exit code ${exit.code}; Slurm says ${code}` }
  const ended: Ended = { ...known, state: 'ended', exitCode: code, signal, stopped, usage, ...info }
  if (stopped || code === 0) return ended
  if (mayBeOfSlurm(exit) && isLoss(phase)) return lost(job, phase, known)
  if (phase === 'out of memory') return { ...ended, cause: 'OOM_KILLED' }
  return phase === 'time over' || why === 'late' ? { ...ended, ...timeOver } : ended
}

/**
 * The exit code of the batch script, which is the recorded one unless the job wrote that record. null: Slurm does not know
 * it, because a signal ended the script, or Slurm ended the job. While a job is COMPLETING, 0 may mean not known yet.
 */
function codeOfSlurm(job: SlurmJob, phase: Phase | Loss | null): number | null {
  if ((job.status & 0x7f) !== 0) return null
  const code = job.status >> 8
  return phase === 'over' || (job.state === 'COMPLETING' && code > 0) ? code : null
}

type Loss = 'node lost' | 'preempted' | 'requeued' | 'forgotten'

const isLoss = (phase: Phase | Loss | null): phase is Loss =>
  phase === 'node lost' || phase === 'preempted' || phase === 'requeued' || phase === 'forgotten'

/** More than the rounding of a start to seconds. */
const startedMsMax = 1_000

/**
 * A controller that crashed forgets what it did last. It may not know the job any more, and ends it with a TERM; or it
 * takes the job for one that waits, ends the run, and begins the job once more. The node may refuse that, and then the
 * job is CANCELLED, with a start after that of the run.
 */
function lastPhaseOf({ jobs, hadBegun }: Facts, { begun, exit, again }: Records, job: SlurmJob | undefined) {
  if (job === undefined) return jobs !== null && exit?.why === 'term' ? 'forgotten' : null
  const phase = phaseOf(job)
  const isLater = begun?.nodeMs != null && job.startMs !== null && job.startMs > begun.nodeMs + startedMsMax
  const isForgotten = again || (hadBegun && phase === 'waits') || (phase === 'cancelled' && isLater)
  return isForgotten && job.state !== 'COMPLETING' ? 'requeued' : phase
}

/**
 * A run that has begun is over when Slurm has put its job back: the batch script does nothing when it begins anew, so what
 * Slurm says of it then says nothing of the run. While the job is COMPLETING, processes of the run may be left.
 */
const phaseOf = ({ state, restarts }: SlurmJob): Phase | 'requeued' | null =>
  restarts > 0 && state !== 'COMPLETING' ? 'requeued' : jobPhaseOf(state)

/** By the wait status that Slurm has of the batch script. */
function byStatus(job: SlurmJob, phase: Phase | Loss | null, stopped: boolean): Observation {
  if (isLoss(phase)) return lost(job, phase)
  const signal = job.status & 0x7f || (stopped || phase !== 'over' ? KILL : 0)
  const ended = { ...(signal > 0 ? signalled(signal, stopped) : exited(job.status >> 8)), nativeId: job.id }
  if (phase === 'cancelled' && !stopped) return { ...ended, info: cancelledInfo }
  if (phase === 'out of memory') return { ...ended, cause: 'OOM_KILLED' }
  if (phase === 'time over') return { ...ended, ...timeOver }
  return stopped
    ? ended
    : { ...ended, info: 'Its own record of the end is not visible; the exit code is that of Slurm' }
}

/** The limit may be that of the partition, or another one that an operator set. */
const timeOver = { cause: 'MAX_RUN_TIME', info: 'Slurm ended it at the time limit of its job' } as const

const exited = (exitCode: number): Ended => ({ state: 'ended', exitCode, signal: null, stopped: false })
const signalled = (signal: number, stopped: boolean): Ended => ({
  state: 'ended',
  exitCode: 128 + signal,
  signal,
  stopped,
})

function lost(job: SlurmJob | undefined, phase: Loss, { finishedAt }: Partial<Ended> = {}): Observation {
  const gone = { state: 'gone', ...(finishedAt && { finishedAt }) } as const
  if (phase === 'preempted') return { ...gone, cause: 'PREEMPTED', info: 'Slurm took its nodes for another job' }
  if (phase === 'requeued')
    return { ...gone, cause: 'PREEMPTED', info: 'Slurm ended it and put its job back into the queue' }
  if (phase === 'forgotten') return { ...gone, info: 'The controller of Slurm had forgotten its job, and ended it' }
  const where = job?.nodes.length ? ` (${job.nodes.join(', ')})` : ''
  return { ...gone, info: `Slurm lost its node${where}${job ? `: ${job.state}` : ''}` }
}

const isAlive = ({ state }: SlurmJob): boolean => isJobAlive(state)

const waiting = (job: SlurmJob): Observation => ({
  state: 'starting',
  nativeId: job.id,
  ...(jobPhaseOf(job.state) === 'waits' && job.reason !== 'None' && { info: `Slurm: ${job.reason}` }),
})

const running = (job: SlurmJob): Observation => ({
  state: 'running',
  nativeId: job.id,
  placements: job.nodes.map((node) => ({ node, gpuIds: [] })),
})

function timesOf({ begun, exit }: Records, { toTime }: Facts): { startedAt?: Date; finishedAt?: Date } {
  if (toTime === null) return {}
  return { ...(begun && { startedAt: toTime(begun.atMs) }), ...(exit && { finishedAt: toTime(exit.atMs) }) }
}

/** When Slurm ended a run that recorded no end. Its batch script compared the clocks when it began. */
function endOf(job: SlurmJob | undefined, { records, toTime }: Facts): { finishedAt?: Date } {
  const { begun } = records ?? {}
  if (!toTime || !job?.endMs || !begun?.nodeMs) return {}
  return { finishedAt: toTime(job.endMs + begun.atMs - begun.nodeMs) }
}

/** Slurm tells the first node which GPUs it has, and Berth nothing of the others. */
function placed({ begun }: Records, job: SlurmJob | undefined): { placements?: readonly BackendPlacement[] } {
  const nodes = begun?.nodes ?? job?.nodes ?? []
  if (nodes.length === 0) return {}
  return { placements: nodes.map((node, at) => ({ node, gpuIds: at === 0 ? (begun?.gpuIds ?? []) : [] })) }
}
