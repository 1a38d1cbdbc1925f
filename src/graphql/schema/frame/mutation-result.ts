import {
  type ApprovalNotAllowed,
  CountMismatch,
  Forbidden,
  type IdempotencyConflict,
  InvalidInput,
  type InvalidState,
  type NotFound,
  type QuotaExceeded,
  type Refusal,
  type Rejected,
  type ReservationExpired,
  type VersionConflict,
} from '../../../domain/errors.ts'
import { Unavailable } from '../../../platform/tx.ts'
import { builder } from './builder.ts'

export type Problem =
  | typeof ApprovalNotAllowed
  | typeof CountMismatch
  | typeof IdempotencyConflict
  | typeof InvalidInput
  | typeof InvalidState
  | typeof NotFound
  | typeof QuotaExceeded
  | typeof Rejected
  | typeof ReservationExpired
  | typeof VersionConflict

export type SuccessFields<Outcome = { id: string }> = PothosSchemaTypes.ObjectFieldBuilder<
  typeof builder.$inferSchemaTypes,
  Outcome
>
export type Success<Outcome> = ReturnType<ReturnType<typeof builder.objectRef<Outcome>>['implement']>

/** Declares `<Mutation>Result`. Every mutation can also return Forbidden and Unavailable, and most InvalidInput. */
export const declareResult = <Outcome extends object>(
  mutation: string,
  success: Success<Outcome>,
  problems: readonly Problem[] = [],
  { refusesInput = true }: { refusesInput?: boolean } = {},
) =>
  builder.errorUnion(`${mutation}Result`, {
    description: `Result of \`${mutation.charAt(0).toLowerCase()}${mutation.slice(1)}\`.`,
    types: [success, Forbidden, ...(refusesInput ? [InvalidInput] : []), Unavailable, ...problems],
    resolveType: () => success,
  })

/** The id field is not called `id`, because caches would take it for the id of the result. */
export const deletedFields = (t: SuccessFields) => ({
  deletedId: t.exposeID('id', { description: 'Id of the deleted object.' }),
})

type Settled<Outcome> = Outcome | Refusal | Unavailable

/** Declares the result of a mutation of several new objects: one result for each of them. */
export const declareBulkResult = <Outcome extends object>(
  mutation: string,
  item: ReturnType<typeof declareResult<Outcome>>,
) =>
  declareResult(
    mutation,
    builder.objectRef<{ results: readonly Settled<Outcome>[] }>(`${mutation}Success`).implement({
      description: 'The request was processed; each item has its own result.',
      fields: (t) => ({
        results: t.field({
          type: [item],
          description: 'One result per item, in the same order.',
          complexity: { multiplier: 1 },
          resolve: ({ results }) => results as never,
        }),
      }),
    }),
  )

export const pairJobs = <Outcome>(jobIds: readonly string[], outcomes: readonly Settled<Outcome>[]) =>
  outcomes.map((outcome, index) => ({ jobId: jobIds[index] ?? '', outcome }))

interface JobOutcome<Outcome> {
  jobId: string
  outcome: Settled<Outcome>
}

const declareJobOutcome = <Outcome extends object>(
  mutation: string,
  result: ReturnType<typeof declareResult<Outcome>>,
) =>
  builder.objectRef<JobOutcome<Outcome>>(`${mutation}Outcome`).implement({
    description: `What \`${mutation.charAt(0).toLowerCase()}${mutation.slice(1)}\` did to one job.`,
    fields: (t) => ({
      jobId: t.exposeID('jobId', { description: 'Id of the job, as it was given.' }),
      result: t.field({
        type: result,
        description: 'The result, as of the mutation of one job.',
        resolve: ({ outcome }) => outcome as never,
      }),
    }),
  })

/** Declares the result of decisions on several jobs: one result for each of them. */
export const declareJobsResult = <Outcome extends object>(
  mutation: string,
  item: ReturnType<typeof declareResult<Outcome>>,
) =>
  declareResult(
    mutation,
    builder.objectRef<{ results: readonly JobOutcome<Outcome>[] }>(`${mutation}Success`).implement({
      description: 'The request was processed; each decision has its own result.',
      fields: (t) => ({
        results: t.expose('results', {
          type: [declareJobOutcome(mutation, item)],
          description: 'One result per decision, in the same order.',
          complexity: { multiplier: 1 },
        }),
      }),
    }),
  )

export interface SelectionOutcome<Outcome> {
  results: readonly JobOutcome<Outcome>[]
  remaining: number
}

/** Declares the result of a mutation of the jobs of a `JobSelection`: one result for each of them. */
export const declareSelectionResult = <Outcome extends object>(
  mutation: string,
  item: ReturnType<typeof declareResult<Outcome>>,
) =>
  declareResult(
    mutation,
    builder.objectRef<SelectionOutcome<Outcome>>(`${mutation}Success`).implement({
      description: 'The request was processed; each job has its own result.',
      fields: (t) => ({
        results: t.expose('results', {
          type: [declareJobOutcome(mutation, item)],
          description: 'One result per job; those of a filter from the oldest job to the newest.',
          complexity: { multiplier: 1 },
        }),
        remaining: t.exposeInt('remaining', {
          description:
            'Jobs that match the filter and that the mutation would still change: `expectedCount` of the next call. 0 for a selection by ids.',
        }),
      }),
    }),
    [CountMismatch],
  )
