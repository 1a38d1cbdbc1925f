import { isPermission, tokenScopes, userLevels } from '../../../domain/access.ts'
import {
  ApprovalNotAllowed,
  CountMismatch,
  Forbidden,
  IdempotencyConflict,
  InvalidInput,
  InvalidState,
  NotFound,
  QuotaExceeded,
  type Refusal,
  Rejected,
  ReservationExpired,
  VersionConflict,
  type Violation,
} from '../../../domain/errors.ts'
import { Unavailable } from '../../../platform/tx.ts'
import { PendingReason } from '../jobs/scheduling.ts'
import { builder } from './builder.ts'
import { describeValues } from './enum-values.ts'
import { Permission, TokenScope, UserLevel } from './enums.ts'
import { exposeColumns, objectField, objectFieldOrNull } from './fields.ts'
import { parseScope, Scope } from './scope.ts'

/** Each refusal of the domain becomes the problem type of the same name. */
const ProblemCode = builder.enumType('ProblemCode', {
  description: 'Kind of failure.',
  values: describeValues({
    INVALID_INPUT: 'The input is invalid; `violations` lists what to correct.',
    NOT_FOUND: 'The object does not exist, or you may not see it.',
    FORBIDDEN: 'A permission, a scope of the token or a level is missing.',
    INVALID_STATE: 'The state of the job does not allow the operation.',
    VERSION_CONFLICT: 'The object has changed since the expected version.',
    COUNT_MISMATCH: '`expectedCount` is not the number of jobs that would change.',
    IDEMPOTENCY_CONFLICT: 'The idempotency key was used before with a different payload.',
    QUOTA_EXCEEDED: 'A quota or a limit on submissions would be exceeded.',
    COST_LIMIT_EXCEEDED: 'A quota on cost would be exceeded.',
    RESERVATION_EXPIRED: 'The slot reservation cannot be used.',
    REJECTED: 'The job would not start now, and `noWait` was set.',
    APPROVAL_NOT_ALLOWED: 'You cannot decide on a job that you submitted yourself.',
    UNAVAILABLE: 'The server cannot process the request right now; try again.',
  }),
})

/** The errors plugin copies errors, so `instanceof` fails. */
const isRefusal = (problem: Refusal | Unavailable): problem is Refusal => 'retryable' in problem

const Problem = builder.interfaceRef<Refusal | Unavailable>('Problem').implement({
  description: 'A failure that the caller can act on. All failing members of result unions implement it.',
  fields: (t) => ({
    code: t.field({
      type: ProblemCode,
      description: 'Kind of failure.',
      resolve: (problem) => (isRefusal(problem) ? problem.code : 'UNAVAILABLE'),
    }),
    message: t.string({
      description: 'Explanation for humans, with the next step.',
      resolve: (problem) => (isRefusal(problem) ? problem.message : `${problem.message}; try again`),
    }),
    retryable: t.boolean({
      description:
        'Whether a retry of the same request after a short wait may succeed; false for quotas, whose windows are hours or days.',
      resolve: (problem) => (isRefusal(problem) ? problem.retryable : true),
    }),
  }),
})

const ViolationRef = builder.objectRef<Violation>('Violation').implement({
  description: 'An invalid value in the input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Path into the input: ["spec", "resources", "cpu"].',
      resolve: ({ path }) => [...path],
    }),
    message: t.exposeString('message', { description: 'What is wrong with the value.' }),
  }),
})

builder.objectType(InvalidInput, {
  name: 'InvalidInputProblem',
  description: 'The input is invalid.',
  interfaces: [Problem],
  fields: (t) => ({
    violations: t.field({
      type: [ViolationRef],
      description: 'The invalid values; at most 50.',
      resolve: ({ violations }) => [...violations],
    }),
  }),
})

builder.objectType(NotFound, {
  name: 'NotFoundProblem',
  description: 'The object does not exist, or you may not see it.',
  interfaces: [Problem],
})

builder.objectType(Forbidden, {
  name: 'ForbiddenProblem',
  description: 'A permission, a scope of the token or a level is missing.',
  interfaces: [Problem],
  fields: (t) => ({
    requiredPermission: t.field({
      type: Permission,
      nullable: true,
      description: 'The missing permission of the user; null: something else is missing.',
      resolve: ({ requiredPermission: required }) => (isPermission(required) ? required : null),
    }),
    requiredScope: t.field({
      type: TokenScope,
      nullable: true,
      description: 'The missing scope of the token; null: something else is missing.',
      resolve: ({ requiredPermission: required }) => tokenScopes.find((scope) => required === `scope:${scope}`) ?? null,
    }),
    requiredLevel: t.field({
      type: UserLevel,
      nullable: true,
      description: 'The lowest level that may do this; null: something else is missing.',
      resolve: ({ requiredPermission: required }) => userLevels.find((level) => required === `level:${level}`) ?? null,
    }),
  }),
})

builder.objectType(InvalidState, {
  name: 'InvalidStateProblem',
  description: 'The state of the job does not allow the operation.',
  interfaces: [Problem],
  fields: (t) => ({
    job: objectField(t, 'jobId', 'The job as it is now.'),
  }),
})

builder.objectType(VersionConflict, {
  name: 'VersionConflictProblem',
  description: 'The object has changed since the expected version.',
  interfaces: [Problem],
  fields: (t) => ({
    ...exposeColumns(t, { currentVersion: ['UInt53', 'Version of the object now.'] }),
    currentJob: objectFieldOrNull(t, 'jobId', 'The job as it is now; null: another object has changed.'),
  }),
})

builder.objectType(CountMismatch, {
  name: 'CountMismatchProblem',
  description: 'The mutation would change more or fewer jobs than expected. It changed none.',
  interfaces: [Problem],
  fields: (t) => ({
    actualCount: t.exposeInt('actualCount', { description: 'Jobs that the mutation would change.' }),
  }),
})

builder.objectType(IdempotencyConflict, {
  name: 'IdempotencyConflictProblem',
  description: 'The idempotency key was used before with a different payload.',
  interfaces: [Problem],
})

builder.objectType(QuotaExceeded, {
  name: 'QuotaExceededProblem',
  description:
    'The submission would exceed a limit. The code is COST_LIMIT_EXCEEDED for cost, otherwise QUOTA_EXCEEDED.',
  interfaces: [Problem],
  fields: (t) => ({
    ...exposeColumns(t, {
      quota: ['String', 'Type of the quota, or MAX_ACTIVE or MAX_BLOCKED for limits of the pool.'],
      limit: ['Float', 'Highest allowed value.'],
      used: ['Float', 'Usage before this submission.'],
    }),
    scope: t.field({
      type: Scope,
      description: 'The user, team or account whose usage counts.',
      resolve: ({ scope }) => parseScope(scope),
    }),
  }),
})

builder.objectType(ReservationExpired, {
  name: 'ReservationExpiredProblem',
  description: 'The slot reservation is expired, consumed, released, or belongs to another user.',
  interfaces: [Problem],
})

builder.objectType(ApprovalNotAllowed, {
  name: 'ApprovalNotAllowedProblem',
  description: 'You cannot decide on a job that you submitted yourself.',
  interfaces: [Problem],
})

builder.objectType(Rejected, {
  name: 'RejectedProblem',
  description:
    'The job would not start now, and `noWait` was set, or no node could ever run it. Nothing was stored. Retryable unless a reason is UNSATISFIABLE or APPROVAL_PENDING.',
  interfaces: [Problem],
  fields: (t) => ({
    reasons: t.field({
      type: [PendingReason],
      description: 'Why the job would wait; the first reason is the decisive one.',
      resolve: ({ reasons }) => [...reasons],
    }),
  }),
})

builder.objectType(Unavailable, {
  name: 'UnavailableProblem',
  description: 'The server cannot process the request right now; try again.',
  interfaces: [Problem],
})

export { requireRow } from './fields.ts'

/** Converts a NotFound refusal to null: the object does not exist, or the viewer may not see it. */
export async function nullIfNotFound<Found>(found: Promise<Found>): Promise<Found | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof NotFound) return null
    throw error
  }
}
