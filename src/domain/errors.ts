import { explainUnavailability, isUnavailable, Unavailable } from '../platform/tx.ts'
import type { Reason } from './reason.ts'

/**
 * Refusals: failures that the caller can act on. Domain functions throw them. The API masks and logs every other error.
 */

export type ProblemCode =
  | 'INVALID_INPUT'
  | 'NOT_FOUND'
  | 'FORBIDDEN'
  | 'INVALID_STATE'
  | 'VERSION_CONFLICT'
  | 'COUNT_MISMATCH'
  | 'IDEMPOTENCY_CONFLICT'
  | 'QUOTA_EXCEEDED'
  | 'COST_LIMIT_EXCEEDED'
  | 'RESERVATION_EXPIRED'
  | 'REJECTED'
  | 'APPROVAL_NOT_ALLOWED'
  | 'UNAVAILABLE'

export abstract class Refusal extends Error {
  override name = this.constructor.name
  abstract readonly code: ProblemCode
  readonly retryable: boolean = false
}

/** Returns a refusal as a value, for operations on many items; rethrows every other error. */
export function orRefusal<T>(work: () => T): T | Refusal {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Like `orRefusal`, for asynchronous work; also returns Unavailable as a value. */
export async function settled<T>(work: Promise<T>): Promise<T | Refusal | Unavailable> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal || error instanceof Unavailable) return error
    if (isUnavailable(error)) return new Unavailable(explainUnavailability(error), { cause: error })
    throw error
  }
}

export function takeOnlyOutcome<T>([outcome]: readonly (T | Refusal)[]): T {
  if (outcome === undefined) throw new Error('An operation on one item returned no outcome')
  if (outcome instanceof Refusal) throw outcome
  return outcome
}

export interface Violation {
  /** Path into the input: ["spec", "resources", "cpu"]. */
  path: readonly string[]
  message: string
}

const violationsMax = 50

export class InvalidInput extends Refusal {
  readonly code = 'INVALID_INPUT'
  readonly violations: readonly Violation[]
  constructor(violations: readonly Violation[]) {
    super(violations.map(({ path, message }) => `${path.join('.')}: ${message}`)[0] ?? 'The input is invalid')
    this.violations = violations.slice(0, violationsMax)
  }

  /** `path`: fields joined by dots. */
  static at(path: string, message: string): InvalidInput {
    return new InvalidInput([{ path: path.split('.'), message }])
  }
}

/** The object does not exist, or the viewer may not see it. */
export class NotFound extends Refusal {
  readonly code = 'NOT_FOUND'
}

export class Forbidden extends Refusal {
  readonly code = 'FORBIDDEN'
  readonly requiredPermission: string
  constructor(requiredPermission: string) {
    super(missingWords(requiredPermission))
    this.requiredPermission = requiredPermission
  }
}

/** `scope:X` is missing in the token, `level:X` in the user; `run`: the caller is not an alive run. */
function missingWords(required: string): string {
  if (required === 'run') return 'Only a job may do this, with the token of its run, and only during that run'
  const [kind, name] = required.split(':')
  if (kind === 'scope') return `Your token needs the scope ${name}`
  if (kind === 'level') return `You need the level ${name} or above`
  return `You need the permission ${required}`
}

export class InvalidState extends Refusal {
  readonly code = 'INVALID_STATE'
  readonly jobId: string
  constructor(message: string, jobId: string) {
    super(message)
    this.jobId = jobId
  }
}

export class VersionConflict extends Refusal {
  readonly code = 'VERSION_CONFLICT'
  /** null: the object is not a job. */
  readonly jobId: string | null
  readonly currentVersion: number
  constructor(object: string, { expected, actual, jobId }: { expected: number; actual: number; jobId?: string }) {
    super(`The ${object} is at version ${actual}, not ${expected}; read it again before you change it`)
    this.jobId = jobId ?? null
    this.currentVersion = actual
  }
}

/** A mutation of all jobs that match a filter would change more or fewer jobs than the caller expects. */
export class CountMismatch extends Refusal {
  readonly code = 'COUNT_MISMATCH'
  readonly actualCount: number
  constructor(expectedCount: number, actualCount: number) {
    super(
      `The mutation would change ${actualCount === 1 ? '1 job' : `${actualCount} jobs`}, not ${expectedCount}, and changed none; check the filter, then ` +
        `send it with expectedCount ${actualCount}`,
    )
    this.actualCount = actualCount
  }
}

export class IdempotencyConflict extends Refusal {
  readonly code = 'IDEMPOTENCY_CONFLICT'
  constructor(key: string) {
    super(
      `The key ${JSON.stringify(key)} was used for a different submission; use another key, or send the same payload`,
    )
  }
}

export interface Exceeded {
  code: 'QUOTA_EXCEEDED' | 'COST_LIMIT_EXCEEDED'
  /** A quota's type, or MAX_ACTIVE or MAX_BLOCKED. */
  quota: string
  /** Subject of the usage: user:ann, team:ml, account:ml.vision. */
  scope: string
  limit: number
  used: number
}

export class QuotaExceeded extends Refusal {
  readonly code: Exceeded['code']
  readonly quota: string
  readonly scope: string
  readonly limit: number
  readonly used: number
  constructor(message: string, { code, quota, scope, limit, used }: Exceeded) {
    super(message)
    this.code = code
    this.quota = quota
    this.scope = scope
    this.limit = limit
    this.used = used
  }
}

export class ReservationExpired extends Refusal {
  readonly code = 'RESERVATION_EXPIRED'
  constructor(id: string) {
    super(
      `The slot reservation ${id.slice(0, 64)} cannot be used: it is expired, consumed, released, or not yours; reserve another slot`,
    )
  }
}

export class ApprovalNotAllowed extends Refusal {
  readonly code = 'APPROVAL_NOT_ALLOWED'
  constructor() {
    super('You cannot decide on your own job; ask another approver')
  }
}

/** Missing and hidden jobs get the same message. */
export const jobNotFound = (jobId: string) => new NotFound(`Job ${jobId.slice(0, 64)} not found`)

export const userNotFound = (id: string) => new NotFound(`User ${id.slice(0, 64)} not found`)

/** Codes of reasons that stay if the job is submitted again. */
const lasting: ReadonlySet<string> = new Set(['UNSATISFIABLE', 'APPROVAL_PENDING'])

/** The job would not start now, and the caller did not want it to wait. */
export class Rejected extends Refusal {
  readonly code = 'REJECTED'
  override readonly retryable: boolean
  readonly reasons: readonly Reason[]
  constructor(reasons: readonly Reason[]) {
    super(reasons[0]?.message ?? 'The job cannot start now')
    this.reasons = reasons
    this.retryable = !reasons.some(({ code }) => lasting.has(code))
  }
}
