import {
  ApprovalNotAllowed,
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
} from '../../domain/errors.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from '../builder.ts'
import { JobRef } from '../refs.ts'
import { PendingReason } from './scheduling.ts'

/** Expected failures of mutations are data: each refusal of the domain is the problem of the same name. */
const ProblemCode = builder.enumType('ProblemCode', {
  description: 'What kind of failure it is, for programs.',
  values: [
    'INVALID_INPUT',
    'NOT_FOUND',
    'FORBIDDEN',
    'INVALID_STATE',
    'VERSION_CONFLICT',
    'IDEMPOTENCY_CONFLICT',
    'QUOTA_EXCEEDED',
    'COST_LIMIT_EXCEEDED',
    'RESERVATION_EXPIRED',
    'REJECTED',
    'APPROVAL_NOT_ALLOWED',
    'UNAVAILABLE',
  ] as const,
})

/** The errors plugin hands on a copy, which is no instance of the class any more. */
const isRefusal = (problem: Refusal | Unavailable): problem is Refusal => 'retryable' in problem

const Problem = builder.interfaceRef<Refusal | Unavailable>('Problem').implement({
  description: 'A failure that the caller can act on. Every failing member of a result union is one.',
  fields: (t) => ({
    code: t.field({
      type: ProblemCode,
      description: 'What kind of failure it is.',
      resolve: (problem) => (isRefusal(problem) ? problem.code : 'UNAVAILABLE'),
    }),
    message: t.string({
      description: 'The same as a sentence, with what to do.',
      resolve: (problem) => (isRefusal(problem) ? problem.message : `${problem.message}; try again`),
    }),
    retryable: t.boolean({
      description: 'Whether the very same request may succeed later.',
      resolve: (problem) => (isRefusal(problem) ? problem.retryable : true),
    }),
  }),
})

const ViolationRef = builder.objectRef<Violation>('Violation').implement({
  description: 'A rule that a value breaks.',
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
  description: 'Values that break rules.',
  interfaces: [Problem],
  fields: (t) => ({
    violations: t.field({
      type: [ViolationRef],
      description: 'Each broken rule; at most 50.',
      resolve: ({ violations }) => [...violations],
    }),
  }),
})

builder.objectType(NotFound, {
  name: 'NotFoundProblem',
  description: 'Not there, or not yours to see.',
  interfaces: [Problem],
})

builder.objectType(Forbidden, {
  name: 'ForbiddenProblem',
  description: 'You may not.',
  interfaces: [Problem],
  fields: (t) => ({
    requiredPermission: t.exposeString('requiredPermission', {
      description: 'The permission that is missing; scope:X: the scope of the token; level:X: the level of the person.',
    }),
  }),
})

builder.objectType(InvalidState, {
  name: 'InvalidStateProblem',
  description: 'The job is in a state that does not allow it.',
  interfaces: [Problem],
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job as it is now.',
      resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
    }),
  }),
})

builder.objectType(VersionConflict, {
  name: 'VersionConflictProblem',
  description: 'The job has changed since the version that was expected.',
  interfaces: [Problem],
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job as it is now.',
      resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
    }),
  }),
})

builder.objectType(IdempotencyConflict, {
  name: 'IdempotencyConflictProblem',
  description: 'The key came with another payload before.',
  interfaces: [Problem],
})

builder.objectType(QuotaExceeded, {
  name: 'QuotaExceededProblem',
  description: 'It would be more than a limit allows. Code COST_LIMIT_EXCEEDED for cost, else QUOTA_EXCEEDED.',
  interfaces: [Problem],
  fields: (t) => ({
    quota: t.exposeString('quota', {
      description: 'Type of the quota; MAX_ACTIVE and MAX_BLOCKED: limits of the pool.',
    }),
    scope: t.exposeString('scope', { description: 'Whose usage is counted: user:ann, team:ml, account:ml.vision.' }),
    limit: t.exposeFloat('limit', { description: 'The most that is allowed.' }),
    used: t.exposeFloat('used', { description: 'How much was used without this submission.' }),
  }),
})

builder.objectType(ReservationExpired, {
  name: 'ReservationExpiredProblem',
  description: "The slot reservation is expired, consumed, released or another user's.",
  interfaces: [Problem],
})

builder.objectType(ApprovalNotAllowed, {
  name: 'ApprovalNotAllowedProblem',
  description: 'Nobody decides on what they asked for themselves.',
  interfaces: [Problem],
})

builder.objectType(Rejected, {
  name: 'RejectedProblem',
  description: 'It would not start now, and was not to wait. Nothing is stored.',
  interfaces: [Problem],
  fields: (t) => ({
    reasons: t.field({
      type: [PendingReason],
      description: 'Why it would wait; the first decides.',
      resolve: ({ reasons }) => [...reasons],
    }),
  }),
})

builder.objectType(Unavailable, {
  name: 'UnavailableProblem',
  description: 'The server cannot do it now; try again.',
  interfaces: [Problem],
  fields: (t) => ({
    retryAfterMs: t.int({
      nullable: true,
      description: 'When to try again, where that is known.',
      resolve: () => null,
    }),
  }),
})

/** A row that was there a moment ago. */
export async function seen<Row>(row: Promise<Row | null>): Promise<Row> {
  const found = await row
  if (found === null) throw new NotFound('It was deleted meanwhile')
  return found
}
