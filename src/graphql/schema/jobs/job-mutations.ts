import { cancelJob, cancelJobs } from '../../../domain/control/cancel.ts'
import { buildCancellableSql, buildDeletableSql } from '../../../domain/control/changeable.ts'
import { deleteJob, deleteJobs } from '../../../domain/control/remove.ts'
import {
  IdempotencyConflict,
  InvalidState,
  NotFound,
  QuotaExceeded,
  Rejected,
  ReservationExpired,
  VersionConflict,
} from '../../../domain/errors.ts'
import { submitAll } from '../../../domain/submission/submit.ts'
import { type Submitted, throwMissingOutcome } from '../../../domain/submission/submit-group.ts'
import { capBulk } from '../../admission/argument-bounds.ts'
import { limits } from '../../caller-limits.ts'
import { builder } from '../frame/builder.ts'
import { bulkCost, selectionCost, submissionCost } from '../frame/bulk-cost.ts'
import { expectedVersion, exposeColumns, objectField } from '../frame/fields.ts'
import { declareMutation } from '../frame/mutation.ts'
import {
  declareBulkResult,
  declareResult,
  declareSelectionResult,
  deletedFields,
  type SuccessFields,
} from '../frame/mutation-result.ts'
import { JobRef } from '../frame/refs.ts'
import { actOnSelection, JobSelection } from './job-selection.ts'
import { JobSpecInput } from './job-spec-input.ts'

/** Problems of a submission, and problems with the job of a retry. */
export const submissionProblems = [IdempotencyConflict, QuotaExceeded, ReservationExpired, Rejected] as const
export const retryProblems = [NotFound, InvalidState, VersionConflict] as const

export const declareAccepted = (mutation: 'SubmitJob' | 'RetryJob') =>
  declareResult(
    mutation,
    builder.objectRef<Submitted>(`${mutation}Success`).implement({
      description: 'The job was accepted.',
      fields: (t) => ({
        ...exposeColumns(t, {
          idempotentHit: ['Boolean', 'Whether this is the job of an earlier submission with the same key.'],
          warnings: ['[String]', 'Changes made to the spec, and other warnings.'],
        }),
        job: t.expose('job', {
          type: JobRef,
          description: 'The job as stored, or the earlier one of the idempotency key.',
        }),
      }),
    }),
    [...submissionProblems, ...(mutation === 'RetryJob' ? retryProblems : [])],
  )

const SubmitJobResult = declareAccepted('SubmitJob')

export const SubmitJobInput = builder.inputType('SubmitJobInput', {
  description: 'A submission.',
  fields: (t) => ({
    spec: t.field({ type: JobSpecInput, required: true, description: 'The job to run.' }),
    idempotencyKey: t.string({
      description: 'Idempotency key, 1 … 255 characters. Submitting the same key again returns the same job.',
    }),
    slotReservationId: t.id({
      description: 'Id of a slot reservation to consume; the submission then counts only once.',
    }),
    defaultWorkdir: t.string({
      description:
        'Working directory if the spec names no `workdir` and the executor shares files with the submitting machine (local, handler, slurm). Containers and pods start in the directory of their image.',
    }),
    requiresApproval: t.boolean({ description: 'Require an approval in any case.' }),
    idempotencyTtlSeconds: t.int({ description: 'Lifetime of the key in seconds, 60 … 2,592,000; default: one day.' }),
    noWait: t.boolean({
      description: 'Refuse the job unless it can start now. A refusal stores nothing, not even the idempotency key.',
    }),
  }),
})

builder.mutationField('submitJob', (t) =>
  t.field({
    type: SubmitJobResult,
    description: 'Checks a job, and stores it as BLOCKED or QUEUED in one transaction.',
    complexity: ({ input }) => submissionCost([input]),
    extensions: { submissions: 1 },
    args: { input: t.arg({ type: SubmitJobInput, required: true, description: 'The submission.' }) },
    async resolve(_root, { input }, { domain, viewer }) {
      const [outcome] = await submitAll(domain, viewer, [input])
      return outcome ?? throwMissingOutcome()
    },
  }),
)

const SubmitJobsInput = builder.inputType('SubmitJobsInput', {
  description: 'Several submissions.',
  fields: (t) => ({
    submissions: t.field({
      type: [SubmitJobInput],
      required: true,
      ...capBulk(limits.bulkMax, 'The submissions'),
    }),
  }),
})

builder.mutationField('submitJobs', (t) =>
  t.field({
    type: declareBulkResult('SubmitJobs', SubmitJobResult),
    description: 'Submits up to 1,000 jobs; each succeeds or fails independently.',
    args: { input: t.arg({ type: SubmitJobsInput, required: true, description: 'The submissions.' }) },
    complexity: ({ input: { submissions } }) => bulkCost(submissions, submissionCost(submissions)),
    extensions: {
      submissions: ({ input }: { input: { submissions: readonly unknown[] } }) => input.submissions.length,
    },
    async resolve(_root, { input: { submissions } }, { domain, viewer }) {
      return { results: await submitAll(domain, viewer, submissions) }
    },
  }),
)

const CancelJobResult = declareMutation('cancelJob', {
  description: 'Cancels a job. A waiting job ends at once; a running job is stopped.',
  input: {
    argumentDescription: 'The job.',
    description: 'The job to cancel.',
    fields: (t) => ({
      jobId: t.id({ required: true, description: 'The job to cancel.' }),
      reason: t.string({ description: 'Reason for the cancellation; at most 1,000 characters.' }),
      expectedVersion: t.field(expectedVersion('job')),
    }),
  },
  success: {
    description: 'The job is being cancelled, or was already final.',
    fields: (t: SuccessFields<{ jobId: string; changed: boolean }>) => ({
      job: objectField(t, 'jobId', 'The job after the request: CANCELLED, or CANCELLING until its process ended.'),
      changed: t.exposeBoolean('changed', { description: 'false: the job was already final or CANCELLING.' }),
    }),
  },
  problems: [NotFound, VersionConflict],
  resolve: (input, { domain, viewer }) => cancelJob(domain, viewer, input),
})

const CancelJobsInput = builder.inputType('CancelJobsInput', {
  description: 'The jobs to cancel.',
  fields: (t) => ({
    selection: t.field({ type: JobSelection, required: true, description: 'The jobs.' }),
    reason: t.string({ description: 'Reason for the cancellation; at most 1,000 characters.' }),
  }),
})

builder.mutationField('cancelJobs', (t) =>
  t.field({
    type: declareSelectionResult('CancelJobs', CancelJobResult),
    description:
      'Cancels up to 1,000 jobs. A filter selects the BLOCKED, QUEUED, STARTING and RUNNING jobs that match.',
    args: { input: t.arg({ type: CancelJobsInput, required: true, description: 'The jobs.' }) },
    complexity: ({ input: { selection } }) => selectionCost(selection),
    resolve: (_root, { input: { selection, reason } }, context) =>
      actOnSelection(context, selection, {
        action: 'CANCEL',
        condition: (bind) => buildCancellableSql(context.viewer, bind),
        work: (jobIds) => {
          const inputs = jobIds.map((jobId) => ({ jobId, reason }))
          return cancelJobs(context.domain, context.viewer, inputs)
        },
      }),
  }),
)

const DeleteJobResult = declareMutation('deleteJob', {
  description: 'Deletes a final job with its runs, events and logs.',
  input: {
    argumentDescription: 'The job.',
    description: 'The job to delete.',
    fields: (t) => ({
      jobId: t.id({ required: true, description: 'The final job to delete.' }),
      expectedVersion: t.field(expectedVersion('job')),
    }),
  },
  success: { description: 'The job was deleted.', fields: deletedFields },
  problems: [NotFound, InvalidState, VersionConflict],
  refusesInput: false,
  resolve: (input, { domain, viewer }) => deleteJob(domain, viewer, input),
})

const DeleteJobsInput = builder.inputType('DeleteJobsInput', {
  description: 'The jobs to delete.',
  fields: (t) => ({ selection: t.field({ type: JobSelection, required: true, description: 'The jobs.' }) }),
})

builder.mutationField('deleteJobs', (t) =>
  t.field({
    type: declareSelectionResult('DeleteJobs', DeleteJobResult),
    description:
      'Deletes up to 1,000 final jobs with their runs, events and logs. A filter selects the final jobs that match and that no alive job depends on.',
    args: { input: t.arg({ type: DeleteJobsInput, required: true, description: 'The jobs.' }) },
    complexity: ({ input: { selection } }) => selectionCost(selection),
    resolve: (_root, { input: { selection } }, context) =>
      actOnSelection(context, selection, {
        action: 'DELETE',
        condition: (bind) => buildDeletableSql(context.viewer, bind),
        work: (jobIds) => {
          const inputs = jobIds.map((jobId) => ({ jobId }))
          return deleteJobs(context.domain, context.viewer, inputs)
        },
      }),
  }),
)
