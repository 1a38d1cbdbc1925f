import {
  type ApprovalNotAllowed,
  CountMismatch,
  Forbidden,
  type IdempotencyConflict,
  InvalidInput,
  type InvalidState,
  NotFound,
  type QuotaExceeded,
  type Refusal,
  type Rejected,
  type ReservationExpired,
  VersionConflict,
} from '../../domain/errors.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from './builder.ts'

type Problem =
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

/** Declares the result of a deletion. The id is not called `id`, which caches take for the identity of the result. */
export const declareDeletion = (
  mutation: string,
  { description, problems = [NotFound, VersionConflict] }: { description: string; problems?: readonly Problem[] },
) =>
  declareResult(
    mutation,
    builder.objectRef<{ id: string }>(`${mutation}Success`).implement({
      description,
      fields: (t) => ({ deletedId: t.exposeID('id', { description: 'Id of the deleted object.' }) }),
    }),
    problems,
    { refusesInput: false },
  )

/** Declares the result of a mutation of several objects: one result for each of them. */
export const declareBulkResult = <Outcome extends object>(
  mutation: string,
  item: ReturnType<typeof declareResult<Outcome>>,
) =>
  declareResult(
    mutation,
    builder.objectRef<{ results: readonly (Outcome | Refusal | Unavailable)[] }>(`${mutation}Success`).implement({
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

export interface SelectionOutcome<Outcome> {
  jobIds: readonly string[]
  results: readonly (Outcome | Refusal | Unavailable)[]
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
        jobIds: t.idList({
          description: 'The jobs, those of a filter from the oldest to the newest.',
          resolve: ({ jobIds }) => [...jobIds],
        }),
        results: t.field({
          type: [item],
          description: 'One result per job, in the order of `jobIds`.',
          complexity: { multiplier: 1 },
          resolve: ({ results }) => results as never,
        }),
        remaining: t.exposeInt('remaining', {
          description:
            'Jobs that match the filter and that the mutation would still change: `expectedCount` of the next call. 0 for a selection by ids.',
        }),
      }),
    }),
    [CountMismatch],
  )
