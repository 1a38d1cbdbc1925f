import { signalFromExitCode } from '../backend/exit-code.ts'
import { type BackendPlacement, type Ended, isOver, type Observation } from '../executor.ts'
import type { Records } from './run-files.ts'
import type { SlurmJob } from './squeue-output.ts'
import { getJobPhase, isJobAlive, type Phase } from './state-tables.ts'

/**
 * Computes the state of a run from its records and Slurm's report. The job can write any record, so a run is over only
 * when Slurm reports that none of its jobs runs. Pure function.
 */

export interface Facts {
  /** null: the directory is not visible. */
  records: Records | null
  /** Slurm's jobs of this run, the oldest first; null: Slurm is unreachable. */
  jobs: readonly SlurmJob[] | null
  stopped: boolean
  /** true: Slurm reported the end of the run so long ago that no more records will appear. */
  isSettled: boolean
  /** true: the run had recorded its beginning before Slurm was queried. */
  hadBegun: boolean
  /** true: the directory is missing although the file system is mounted. */
  isRemoved: boolean
  /** null: the clocks were not compared yet. */
  toTime: ((fileMs: number) => Date) | null
}

type Unsubmitted = { state: 'unsubmitted' }

const TERM = 15
const KILL = 9
const unreachableInfo = 'Slurm is unreachable'

/** Whether a record says that the run has ended, or will never begin. */
export const saysOver = ({ claim, exit, failed }: Records): boolean =>
  exit !== null || failed !== null || (claim !== null && claim.by !== 'job')

/** A job that is COMPLETING does not count as running: it has ended, and Slurm cleans up. */
export const isRunning = (job: SlurmJob): boolean =>
  isAlive(job) && job.state !== 'COMPLETING' && getJobPhase(job.state) !== 'waits'

/**
 * true: Slurm may have ended the command. Its signals reach the command and the script in any order, so the script may
 * record the end before it gets a signal.
 */
const mayBeEndedBySlurm = ({ code, why }: NonNullable<Records['exit']>): boolean =>
  code !== 0 && (why !== null || code === 128 + TERM || code === 128 + KILL)

export function concludeState(facts: Facts): Observation | Unsubmitted {
  const verdict = judgeRecords(facts)
  const { records, jobs } = facts
  if (verdict.state === 'unsubmitted' || !isOver(verdict) || records === null) return verdict
  return jobs === null || jobs.some(isRunning) ? unconfirmed(facts, records) : verdict
}

/** Returns the state if the records report an end that Slurm does not confirm. */
function unconfirmed(facts: Facts, records: Records): Observation {
  const job = facts.jobs?.find(isRunning)
  const nativeId = records.claim?.by === 'job' ? records.claim.id : job?.id
  const known = nativeId === undefined ? {} : { nativeId }
  if (records.begun === null)
    return { state: 'starting', ...known, ...(facts.jobs === null && { info: unreachableInfo }) }
  return {
    state: 'running',
    ...known,
    ...recordedTimes({ ...records, exit: null }, facts),
    ...placements(records, job),
  }
}

function judgeRecords(facts: Facts): Observation | Unsubmitted {
  const { records, jobs, stopped } = facts
  if (records === null) return unseen(facts)
  if (records.failed) return { state: 'failed', ...records.failed }
  const { claim } = records
  switch (claim?.by) {
    case undefined:
      return unclaimed(facts)
    case 'void':
      return stopped ? endBySignal(TERM, true) : { state: 'gone', info: 'The run was given up before Slurm started it' }
    case 'refused':
      return { state: 'failed', reason: claim.reason, message: claim.message }
    case 'job':
      return judgeJob(facts, records, { id: claim.id, job: jobs?.find(({ id }) => id === claim.id) })
    default:
      return claim satisfies never
  }
}

function unseen({ jobs, isSettled, isRemoved, stopped }: Facts): Observation {
  // The run may be forgotten while Slurm is still cleaning up after its job.
  const alive = jobs?.find((job) => isAlive(job) && job.state !== 'COMPLETING')
  if (alive) return getJobPhase(alive.state) === 'runs' ? running(alive) : waiting(alive)
  if (isRemoved) return { state: 'gone', info: 'The directory of the run was removed' }
  const [job] = jobs ?? []
  if (job && isSettled) return endByStatus(job, phaseOf(job), stopped)
  return job ? { state: 'running', nativeId: job.id } : { state: 'starting', info: unreadInfo }
}

const unreadInfo = 'The directory of the run cannot be read now, and Slurm does not show its job'

function unclaimed({ jobs, isSettled, records }: Facts): Observation | Unsubmitted {
  if (jobs === null) return { state: 'starting', info: unreachableInfo }
  const alive = jobs.find(isAlive)
  if (alive) return waiting(alive)
  const last = jobs.at(-1)
  if (!last) return { state: 'unsubmitted' }
  // The record of the claim may not be visible yet.
  if (!isSettled) return { state: 'starting', nativeId: last.id }
  // A cancelled job that had nodes means that the prolog failed; `--no-requeue` prevents another attempt.
  if (getJobPhase(last.state) === 'cancelled' && last.nodes.length === 0)
    return { ...endBySignal(TERM, false), nativeId: last.id, info: cancelledInfo }
  const where = last.nodes.join(', ')
  const uid = records?.uid ?? ''
  const message = `Slurm job ${last.id} ended as ${last.state} on ${where} without a trace: did the prolog fail, does the node see the shared directory, and may the account with uid ${uid} write there?`
  return { state: 'failed', reason: 'START_FAILED', message }
}

const cancelledInfo = 'The job was cancelled in Slurm'

interface Own {
  id: string
  /** undefined: Slurm has forgotten the job, or is unreachable. */
  job: SlurmJob | undefined
}

function judgeJob(facts: Facts, records: Records, { id, job }: Own): Observation {
  const { jobs, stopped } = facts
  const phase = lastPhaseOf(facts, records, job)
  const isDone = job === undefined ? jobs !== null : phase === 'requeued' || !isAlive(job)
  const known = { nativeId: id, ...recordedTimes(records, facts), ...placements(records, job) }
  if (records.exit) {
    if (stopped || isDone || !mayBeEndedBySlurm(records.exit))
      return endByRecord(records.exit, { job, phase, stopped, known })
    return { ...known, state: 'running' }
  }
  if (!isDone) return records.begun ? { state: 'running', ...known } : { state: 'starting', nativeId: id }
  const ending = { ...known, ...finishedByNode(job, facts) }
  if (isLoss(phase)) return lost(job, phase, ending)
  if (!facts.isSettled) return records.begun ? { state: 'running', ...known } : { state: 'starting', nativeId: id }
  if (job) return { ...endByStatus(job, phase, stopped), ...ending }
  if (stopped) return { ...endBySignal(KILL, true), ...known }
  return { state: 'gone', info: `Slurm has forgotten job ${id}, which left no exit code` }
}

interface Ending {
  job: SlurmJob | undefined
  phase: Phase | Loss | null
  stopped: boolean
  known: Partial<Ended>
}

function endByRecord(exit: NonNullable<Records['exit']>, { job, phase, stopped, known }: Ending): Observation {
  const { why, usage } = exit
  const code = (job && slurmExitCode(job, phase)) ?? exit.code
  const signal = signalFromExitCode(code)
  const info = code === exit.code ? {} : { info: `The job recorded exit code ${exit.code}; Slurm reports ${code}` }
  const ended: Ended = { ...known, state: 'ended', exitCode: code, signal, stopped, usage, ...info }
  if (stopped || code === 0) return ended
  if (mayBeEndedBySlurm(exit) && isLoss(phase)) return lost(job, phase, known)
  if (phase === 'out of memory') return { ...ended, cause: 'OOM_KILLED' }
  return phase === 'time over' || why === 'late' ? { ...ended, ...timeOver } : ended
}

/**
 * Returns Slurm's exit code, which differs from the recorded one if the job wrote that record. null: unknown, because a
 * signal ended the script, or Slurm ended the job. While the job is COMPLETING, 0 may mean unknown.
 */
function slurmExitCode(job: SlurmJob, phase: Phase | Loss | null): number | null {
  if ((job.status & 0x7f) !== 0) return null
  const code = job.status >> 8
  return phase === 'over' || (job.state === 'COMPLETING' && code > 0) ? code : null
}

type Loss = 'node lost' | 'preempted' | 'requeued' | 'forgotten'

const isLoss = (phase: Phase | Loss | null): phase is Loss =>
  phase === 'node lost' || phase === 'preempted' || phase === 'requeued' || phase === 'forgotten'

const startedMsMax = 1_000

/**
 * Returns the last phase that Slurm reports. A controller that crashed has lost its last changes: it may end a job that
 * it no longer knows with TERM, or start the job again. If the node rejects the second start, the job is CANCELLED with
 * a start later than that of the run.
 */
function lastPhaseOf({ jobs, hadBegun }: Facts, { begun, exit, again }: Records, job: SlurmJob | undefined) {
  if (job === undefined) return jobs !== null && exit?.why === 'term' ? 'forgotten' : null
  const phase = phaseOf(job)
  const isLater = begun?.nodeMs != null && job.startMs !== null && job.startMs > begun.nodeMs + startedMsMax
  const isForgotten = again || (hadBegun && phase === 'waits') || (phase === 'cancelled' && isLater)
  return isForgotten && job.state !== 'COMPLETING' ? 'requeued' : phase
}

/** The phase of a job. A requeued job has ended its run; while it is COMPLETING, processes of the run may be left. */
const phaseOf = ({ state, restarts }: SlurmJob): Phase | 'requeued' | null =>
  restarts > 0 && state !== 'COMPLETING' ? 'requeued' : getJobPhase(state)

function endByStatus(job: SlurmJob, phase: Phase | Loss | null, stopped: boolean): Observation {
  if (isLoss(phase)) return lost(job, phase)
  const signal = job.status & 0x7f || (stopped || phase !== 'over' ? KILL : 0)
  const ended = { ...(signal > 0 ? endBySignal(signal, stopped) : endWithCode(job.status >> 8)), nativeId: job.id }
  if (phase === 'cancelled' && !stopped) return { ...ended, info: cancelledInfo }
  if (phase === 'out of memory') return { ...ended, cause: 'OOM_KILLED' }
  if (phase === 'time over') return { ...ended, ...timeOver }
  return stopped ? ended : { ...ended, info: 'The record of the end is not visible; the exit code is from Slurm' }
}

const timeOver = { cause: 'MAX_RUN_TIME', info: 'Slurm ended the job at its time limit' } as const

const endWithCode = (exitCode: number): Ended => ({ state: 'ended', exitCode, signal: null, stopped: false })
const endBySignal = (signal: number, stopped: boolean): Ended => ({
  state: 'ended',
  exitCode: 128 + signal,
  signal,
  stopped,
})

function lost(job: SlurmJob | undefined, phase: Loss, { finishedAt }: Partial<Ended> = {}): Observation {
  const gone = { state: 'gone', ...(finishedAt && { finishedAt }) } as const
  if (phase === 'preempted') return { ...gone, cause: 'PREEMPTED', info: 'Slurm took its nodes for another job' }
  if (phase === 'requeued')
    return { ...gone, cause: 'PREEMPTED', info: 'Slurm ended the job and put it back into the queue' }
  if (phase === 'forgotten') return { ...gone, info: 'The controller of Slurm lost the job, and ended it' }
  const where = job?.nodes.length ? ` (${job.nodes.join(', ')})` : ''
  return { ...gone, info: `Slurm lost its node${where}${job ? `: ${job.state}` : ''}` }
}

const isAlive = ({ state }: SlurmJob): boolean => isJobAlive(state)

const waiting = (job: SlurmJob): Observation => ({
  state: 'starting',
  nativeId: job.id,
  ...(getJobPhase(job.state) === 'waits' && job.reason !== 'None' && { info: `Slurm: ${job.reason}` }),
})

const running = (job: SlurmJob): Observation => ({
  state: 'running',
  nativeId: job.id,
  placements: job.nodes.map((node) => ({ node, gpuIds: [] })),
})

function recordedTimes({ begun, exit }: Records, { toTime }: Facts): { startedAt?: Date; finishedAt?: Date } {
  if (toTime === null) return {}
  return { ...(begun && { startedAt: toTime(begun.atMs) }), ...(exit && { finishedAt: toTime(exit.atMs) }) }
}

/**
 * Returns when Slurm ended a run that recorded no end. The record of its beginning has both clocks, so they can be
 * compared.
 */
function finishedByNode(job: SlurmJob | undefined, { records, toTime }: Facts): { finishedAt?: Date } {
  const { begun } = records ?? {}
  if (!toTime || !job?.endMs || !begun?.nodeMs) return {}
  return { finishedAt: toTime(job.endMs + begun.atMs - begun.nodeMs) }
}

function placements({ begun }: Records, job: SlurmJob | undefined): { placements?: readonly BackendPlacement[] } {
  const nodes = begun?.nodes ?? job?.nodes ?? []
  if (nodes.length === 0) return {}
  return { placements: nodes.map((node, at) => ({ node, gpuIds: at === 0 ? (begun?.gpuIds ?? []) : [] })) }
}
