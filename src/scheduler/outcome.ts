import { createHash } from 'node:crypto'
import { isDelegated } from '../domain/executors.ts'
import type { ReportedJob } from '../domain/jobs/runs.ts'
import type { Move } from '../domain/jobs/transition.ts'
import { formatGib, toMachineAmounts } from '../domain/shape.ts'
import type { JobSpec } from '../domain/spec.ts'
import type { StateReason } from '../domain/state.ts'
import type { BackendPlacement, Ended, Handle, Observation, StartFailed } from '../executors/executor.ts'
import { backOffMs } from '../platform/retry.ts'
import { tiers } from './plan/model.ts'

/**
 * Computes the transitions of a job from a report of its executor, without I/O. If the first report of a job says that
 * it ended, the job gets two transitions: RUNNING, then its final state.
 */

export type Report =
  | { kind: 'seen'; observation: Observation }
  | { kind: 'startFailed'; reason: StartFailed['reason']; message: string; cause?: unknown }
  /** The run was cancelled before it started. */
  | { kind: 'neverStarted' }
  /** The node has been unreachable for too long. */
  | { kind: 'lost'; info: string; neverBegan?: boolean }

export interface RunReport {
  runId: string
  jobId: string
  number: number
  /** The handle from `start`, stored with the report. */
  handle?: Handle
  report: Report
}

export type Step = Pick<
  Move,
  | 'to'
  | 'reason'
  | 'info'
  | 'exitCode'
  | 'runEnds'
  | 'eligibleInMs'
  | 'losesTurn'
  | 'startedAt'
  | 'finishedAt'
  | 'nativeId'
  | 'ip'
  | 'imageDigest'
  | 'nodes'
  | 'gpuIds'
  | 'usage'
>

const backOffMsMax = 300_000
const apartMsMin = 30_000

export function planSteps(job: ReportedJob, report: Report, startAttemptsMax: number): Step[] {
  switch (report.kind) {
    case 'neverStarted':
      return job.state === 'CANCELLING'
        ? [{ to: 'CANCELLED', reason: 'CANCELLED', info: 'Cancelled before it was started' }]
        : []
    case 'lost':
      return [planGone(job, report)]
    case 'startFailed':
      return [planStartFailed(job, report, startAttemptsMax)]
    case 'seen':
      return planObserved(job, report.observation, startAttemptsMax)
    default:
      return report satisfies never
  }
}

function planStartFailed(
  job: ReportedJob,
  { reason, message }: { reason: StartFailed['reason']; message: string },
  attemptsMax: number,
): Step {
  if (job.state === 'CANCELLING')
    return { to: 'CANCELLED', reason: 'CANCELLED', info: `Cancelled; the start failed as well: ${message}` }
  if (reason === 'NODE_TROUBLE')
    return { to: 'QUEUED', reason, info: `The node could not start the run: ${message}`, runEnds: 'FAILED' }
  if (reason === 'BACKEND_AWAY')
    return { to: 'QUEUED', reason: 'NODE_TROUBLE', info: message, runEnds: 'FAILED', eligibleInMs: spreadRetryMs(job) }
  if (reason === 'NOT_TOGETHER') {
    const info = `The parts of the run could not start together: ${message}`
    return { to: 'QUEUED', reason, info, runEnds: 'FAILED', eligibleInMs: spreadRetryMs(job) }
  }
  if (reason !== 'START_FAILED') return { to: 'FAILED', reason, info: message }
  const failures = job.startFailures + 1
  const info = `Start ${failures} of ${attemptsMax} failed: ${message}`
  if (failures >= attemptsMax) return { to: 'FAILED', reason, info }
  return { to: 'QUEUED', reason, info, runEnds: 'FAILED', eligibleInMs: jobBackOffMs(job.startFailures) }
}

const jobBackOffMs = (before: number) => backOffMs(before, 1_000, backOffMsMax)

const isFinal = (reason: StartFailed['reason']) => reason === 'BAD_SPEC' || reason === 'WORKDIR_NOT_FOUND'

/**
 * Spreads the retries of jobs by a hash: two jobs that blocked each other must not restart at the same time, and the
 * same report must give the same result.
 */
function spreadRetryMs({ jobId, run }: ReportedJob): number {
  const share = createHash('sha256').update(`${jobId} ${run}`).digest().readUInt32BE() / 2 ** 32
  return Math.round(apartMsMin + share * (backOffMsMax - apartMsMin))
}

function planObserved(job: ReportedJob, observation: Observation, startAttemptsMax: number): Step[] {
  switch (observation.state) {
    case 'starting':
    case 'unreachable':
      return []
    case 'running':
      return job.state === 'STARTING' ? [makeRunningStep(job, observation)] : []
    case 'ended':
      return job.state === 'STARTING'
        ? [makeRunningStep(job, observation), planEnded({ ...job, state: 'RUNNING' }, observation)]
        : [planEnded(job, observation)]
    case 'failed':
      // A backend may report RUNNING before the command begins, so a recorded failure to start is accepted here. A
      // job can forge that record, therefore it does not get a retry.
      return [
        job.state === 'RUNNING' && !isFinal(observation.reason)
          ? planGone(job, { info: observation.message })
          : planStartFailed(job, observation, startAttemptsMax),
      ]
    case 'gone':
      return [planGone(job, observation)]
    default:
      return observation satisfies never
  }
}

function makeRunningStep(
  { leaving }: ReportedJob,
  observation: Ended | Extract<Observation, { state: 'running' }>,
): Step {
  const why = leaving === null ? { reason: null } : { reason: 'PREEMPTING' as const, info: leaving }
  const { startedAt } = observation
  return { to: 'RUNNING', ...why, ...(startedAt && { startedAt }), ...toFacts(observation) }
}

type Gone = Pick<Extract<Observation, { state: 'gone' }>, 'info' | 'cause' | 'finishedAt'> & { neverBegan?: boolean }

function planGone(job: ReportedJob, { info: told, cause, finishedAt, neverBegan = false }: Gone): Step {
  const info = told ?? (cause ? 'The backend preempted the run' : 'The backend does not know the run any more')
  const facts = { info, ...(finishedAt && { finishedAt }) }
  if (job.state === 'CANCELLING') return { to: 'CANCELLED', reason: cause ? 'CANCELLED' : 'NODE_LOST', ...facts }
  const reason = cause ?? 'NODE_LOST'
  if (neverBegan || mayRunAgain(job)) return { to: 'QUEUED', reason, runEnds: 'INTERRUPTED', ...facts }
  return { to: 'INTERRUPTED', reason, ...facts }
}

const mayRunAgain = ({ spec: { restartable, resumable }, hasClosure }: ReportedJob): boolean =>
  restartable || (resumable && hasClosure)

function planEnded(job: ReportedJob, end: Ended): Step {
  const facts = toEndFacts(end)
  if (job.state === 'CANCELLING' && end.stopped)
    return { to: 'CANCELLED', reason: 'CANCELLED', info: describe(end), ...facts }
  const isInterrupted = end.cause === 'SUPERVISOR_KILLED' && !end.stopped
  if (end.cause === 'MAX_RUN_TIME' || (job.expired && (end.stopped || isInterrupted)))
    return { to: 'FAILED', reason: 'MAX_RUN_TIME', info: describeTimeLimit(job, end), ...facts }
  if (end.exitCode === 0) return { to: 'SUCCEEDED', reason: null, ...(end.info && { info: end.info }), ...facts }
  if (job.preempted && end.stopped && job.state === 'RUNNING')
    return planPreempted(job, { info: describe(end), ...facts })
  if (isInterrupted) return { ...planGone(job, { info: 'The run was killed together with its supervisor' }), ...facts }
  if (end.cause === 'RESUME_FAILED')
    return { to: 'FAILED', reason: end.cause, info: 'onResume failed; the log of the job says why', ...facts }
  return planFailed(job, end, facts)
}

function planFailed(job: ReportedJob, end: Ended, facts: ReturnType<typeof toEndFacts>): Step {
  const isOom = end.cause === 'OOM_KILLED'
  const reason: StateReason = isOom ? 'OOM_KILLED' : end.signal === null ? 'EXIT_CODE' : 'SIGNAL'
  const info = isOom ? describeOom(end, job.spec) : describe(end)
  const again = job.state === 'RUNNING' && mayRetry(job, end.exitCode)
  if (!again) return { to: 'FAILED', reason, info, ...facts }
  return { to: 'QUEUED', runEnds: 'FAILED', reason, info, ...facts, eligibleInMs: jobBackOffMs(job.exits) }
}

const toEndFacts = (end: Ended) => ({
  exitCode: end.exitCode,
  ...(end.finishedAt && { finishedAt: end.finishedAt }),
  ...(end.usage && { usage: end.usage }),
  ...toFacts(end),
})

interface Told extends Pick<Facts, 'nativeId' | 'ip' | 'imageDigest'> {
  state: string
  placements?: readonly BackendPlacement[]
}

interface Facts {
  nativeId?: string
  ip?: string
  imageDigest?: string
  nodes?: readonly string[]
  gpuIds?: readonly number[]
}

export function toFacts(observation: Observation): Facts {
  const { nativeId, ip, imageDigest, placements }: Told = observation
  return {
    ...(nativeId && { nativeId }),
    ...(ip && { ip }),
    ...(imageDigest && { imageDigest }),
    ...(placements && {
      nodes: [...new Set(placements.map(({ node }) => node))],
      gpuIds: placements.flatMap(({ gpuIds }) => gpuIds),
    }),
  }
}

/**
 * For a run without a maximum run time the exceeded deadline is the end of the reservation, even if the reservation has
 * been removed since.
 */
function describeTimeLimit(
  { expired, endsWithReservation, spec: { maxRunTimeSeconds } }: ReportedJob,
  end: Ended,
): string {
  if (end.cause === 'MAX_RUN_TIME' && end.info) return end.info
  if ((expired && endsWithReservation) || maxRunTimeSeconds === 0)
    return 'The capacity reservation of the job has ended'
  return `The run reached its maximum run time of ${maxRunTimeSeconds} s`
}

/** A job that lost a rotation is queued behind the jobs that wait now. */
function planPreempted(job: ReportedJob, facts: Omit<Step, 'to' | 'reason' | 'runEnds' | 'losesTurn'>): Step {
  const step = { reason: 'PREEMPTED' as const, ...facts }
  if (!mayRunAgain(job)) return { to: 'INTERRUPTED', ...step }
  return { to: 'QUEUED', runEnds: 'INTERRUPTED', ...(job.tier === tiers.rotation && { losesTurn: true }), ...step }
}

function mayRetry({ spec: { retry }, exits }: ReportedJob, exitCode: number): boolean {
  if (!retry || exits + 1 >= retry.maxAttempts) return false
  return retry.onExitCodes === null || retry.onExitCodes.includes(exitCode)
}

const describe = ({ signal, exitCode, info }: Ended): string => {
  const meaning = exitMeanings[exitCode]
  const end =
    signal === null
      ? `The command exited with code ${exitCode}${meaning ? ` (${meaning})` : ''}`
      : `Signal ${signal} ended it`
  return [end, ...(info ? [info] : [])].join('. ')
}

/** Exit codes of env and of shells. Other programs may give them another meaning. */
const exitMeanings: Readonly<Record<number, string>> = {
  126: 'usually: the command is not executable',
  127: 'usually: the command was not found',
}

/** Names the exceeded memory limit: of the whole job if it runs on one machine, else of one copy. */
function describeOom({ signal, exitCode, info }: Ended, { executor, resources }: JobSpec): string {
  const { memoryBytes } = isDelegated([executor]) ? resources : toMachineAmounts(resources)
  const killed =
    signal === null
      ? `The command exited with code ${exitCode}; one of its processes was killed at its memory limit`
      : 'Killed at its memory limit'
  const advice = `retry with --mem ${Math.max(1, Math.ceil((resources.memoryBytes * 2) / 2 ** 30))}`
  return `${killed} of ${formatGib(memoryBytes)}; ${advice}${info ? `. ${info}` : ''}`
}
