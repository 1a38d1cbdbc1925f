import type { RequestFailed } from '../../client/connection/failure.ts'
import type { JobRowFragment, ProblemFragment, RefusalFragment } from '../../client/generated/graphql.ts'

/** Exit codes, on which scripts rely. */
export const exitCodes = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  refused: 3,
  retryable: 4,
  notFound: 5,
  notAllowed: 6,
  failedWithoutCode: 70,
  interrupted: 75,
  cancelled: 130,
  detached: 130,
} as const

/** Ends the command with one line on stderr: the problem and the next step. */
export class Stop extends Error {
  override name = 'Stop'
  readonly exitCode: number
  readonly next: string | undefined
  constructor(exitCode: number, message: string, next?: string) {
    super(message)
    this.exitCode = exitCode
    this.next = next
  }
}

export const usageError = (message: string, next?: string) => new Stop(exitCodes.usage, message, next)

/** The command needs a job, and the command line names no job. */
export class MissingJob extends Stop {
  constructor(next: string) {
    super(exitCodes.usage, 'the job is missing', next)
  }
}

export const seeJobs = '"berth ls" lists your jobs'
export const seePools = '"berth node ls" lists the nodes of all pools'

/** Commands that list the objects, by the word before "not found". */
const lists: Readonly<Record<string, string>> = {
  Job: seeJobs,
  Pool: seePools,
  Node: '"berth node ls" lists the nodes',
  Quota: '"berth quota ls" lists the quotas',
  'Approval rule': '"berth rules" lists the rules',
  Webhook: '"berth webhooks" lists the webhooks',
  'Capacity reservation': '"berth reservation ls" lists the reservations',
}

const findList = (message: string): string | undefined => lists[/^(.*?) \S+ not found$/.exec(message)?.[1] ?? '']

export const unknownJob = (id: string) => new Stop(exitCodes.notFound, `Job ${id} not found`, seeJobs)

export function createStop(problem: ProblemFragment | RefusalFragment, nextIfMissing?: string): Stop {
  const violations = 'violations' in problem ? problem.violations : []
  const details = violations.map(({ path, message }) => `${path.join('.')}: ${message}`)
  const message = details.length > 0 ? details.join('; ') : problem.message
  const next = problem.code === 'NOT_FOUND' ? (nextIfMissing ?? findList(message)) : findStep(problem.code, message)
  return new Stop(toExitCode(problem.code, problem.retryable), message, next)
}

export function createStopForFailure(failure: RequestFailed): Stop {
  const { code, retryable, message, requestId } = failure
  const isLogged = code === 'INTERNAL_SERVER_ERROR' && requestId !== null
  const next = isLogged ? `see request id ${requestId} in the log of the server` : findNextStep(failure)
  return new Stop(toExitCode(code, retryable), message.replaceAll(variable, '$1: '), next)
}

function findNextStep({ code, message, isForeign }: RequestFailed): string | undefined {
  if (isForeign && code === 'BAD_REQUEST') return nextSteps['UNREACHABLE']
  // The refusal of the gate or of a proxy says what to do. A Berth token would not help.
  return isForeign && code === 'FORBIDDEN' ? undefined : (findStep(code, message) ?? findList(message))
}

/** Returns advice for an error code, unless the message of the server already has advice. */
const findStep = (code: string, message: string): string | undefined =>
  code === 'UNAVAILABLE' && message.includes('try again') ? undefined : nextSteps[code]

/** The server's prefix for an error in a variable. */
const variable = /(?<=^|; )Variable "\$(?:input\.)?([^"]+)": /g

function toExitCode(code: string, retryable: boolean): number {
  switch (code) {
    case 'INVALID_INPUT':
    case 'BAD_REQUEST':
    case 'GRAPHQL_VALIDATION_FAILED':
    case 'GRAPHQL_PARSE_FAILED':
    case 'INVALID_CURSOR':
      return exitCodes.usage
    case 'NOT_FOUND':
      return exitCodes.notFound
    case 'FORBIDDEN':
    case 'UNAUTHENTICATED':
    case 'LOG_IN_FAILED':
    case 'APPROVAL_NOT_ALLOWED':
      return exitCodes.notAllowed
    case 'INTERNAL_SERVER_ERROR':
      return exitCodes.unexpected
    default:
      return retryable ? exitCodes.retryable : exitCodes.refused
  }
}

const nextSteps: Readonly<Record<string, string>> = {
  UNREACHABLE: 'start a server with "berth up", or set BERTH_URL',
  UNAUTHENTICATED: 'log in with "berth login", or set BERTH_TOKEN to a valid token',
  FORBIDDEN: 'use a token with this permission, or ask an administrator',
  INVALID_STATE: '"berth info JOB" shows its state',
  UNAVAILABLE: 'try again in a moment',
}

/**
 * Returns the exit code of `--wait`. A FAILED job may have exit code 0 (it exceeded its maximum run time and then exited
 * cleanly), which is not a success.
 */
export function getJobExitCode({ state, exitCode }: Pick<JobRowFragment, 'state' | 'exitCode'>): number {
  switch (state) {
    case 'SUCCEEDED':
      return exitCodes.ok
    case 'FAILED':
      return exitCode || exitCodes.failedWithoutCode
    case 'INTERRUPTED':
      return exitCodes.interrupted
    case 'CANCELLED':
      return exitCodes.cancelled
    default:
      return exitCodes.unexpected
  }
}

const ranks: readonly string[] = ['CANCELLED', 'INTERRUPTED', 'FAILED']

/** FAILED is worse than INTERRUPTED, which is worse than CANCELLED. In the same state, the greater exit code is worse. */
export function findWorstExitCode(jobs: readonly JobRowFragment[]): number {
  const worse = (one: JobRowFragment, other: JobRowFragment) =>
    ranks.indexOf(other.state) - ranks.indexOf(one.state) || getJobExitCode(other) - getJobExitCode(one)
  const [worst] = jobs.toSorted(worse)
  return worst ? getJobExitCode(worst) : 0
}
