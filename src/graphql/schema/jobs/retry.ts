import { buildRetryableSql } from '../../../domain/control/changeable.ts'
import { retryJob, retryJobs } from '../../../domain/submission/retry.ts'
import { builder } from '../frame/builder.ts'
import { countSelected, selectionCost, submissionCost } from '../frame/bulk-cost.ts'
import { expectedVersion, objectFieldOrNull } from '../frame/fields.ts'
import { declareSelectionResult } from '../frame/mutation-result.ts'
import { JobRef } from '../frame/refs.ts'
import { declareAccepted } from './job-mutations.ts'
import { actOnSelection, JobSelection } from './job-selection.ts'
import { JobSpecInput, readChanges } from './job-spec-input.ts'

export const RetryJobInput = builder.inputType('RetryJobInput', {
  description: 'The job to retry, and changes to its spec.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The final job to retry.' }),
    overrides: t.field({
      type: JobSpecInput,
      description:
        'Fields that replace those of the original spec, including single fields of `resources`; null resets a field to its default. Omitted fields stay.',
    }),
    idempotencyKey: t.string({ description: 'Idempotency key of this retry, as for `submitJob`.' }),
    idempotencyTtlSeconds: t.int({ description: 'Lifetime of the key in seconds, 60 … 2,592,000; default: one day.' }),
    slotReservationId: t.id({ description: 'Id of a slot reservation to consume.' }),
    noWait: t.boolean({
      description: 'Refuse the job unless it can start now. A refusal stores nothing, not even the idempotency key.',
    }),
    expectedVersion: t.field(expectedVersion('original')),
  }),
})

const RetryJobResult = declareAccepted('RetryJob')

builder.mutationField('retryJob', (t) =>
  t.field({
    type: RetryJobResult,
    description: 'Submits a new job with the spec of a final one. Quotas and approval rules apply again.',
    complexity: ({ input }) => submissionCost([input]),
    extensions: { submissions: 1 },
    args: { input: t.arg({ type: RetryJobInput, required: true, description: 'The job and the changes.' }) },
    resolve: (_root, { input }, { domain, viewer }) =>
      retryJob(domain, viewer, { ...input, overrides: readChanges(input.overrides) }),
  }),
)

const RetryJobsInput = builder.inputType('RetryJobsInput', {
  description: 'The jobs to retry, and changes to their specs.',
  fields: (t) => ({
    selection: t.field({ type: JobSelection, required: true, description: 'The final jobs to retry.' }),
    overrides: t.field({ type: JobSpecInput, description: 'Changes of every spec, as for `retryJob`.' }),
    idempotencyKey: t.string({
      description:
        'Idempotency key, as for `submitJob`; the key of each retry is this key, `:` and the id of its original.',
    }),
    idempotencyTtlSeconds: t.int({ description: 'Lifetime of the keys in seconds, 60 … 2,592,000; default: one day.' }),
  }),
})

builder.mutationField('retryJobs', (t) =>
  t.field({
    type: declareSelectionResult('RetryJobs', RetryJobResult),
    description:
      'Submits a new job for each of up to 1,000 final ones. A filter selects the final jobs that match and that you have not retried yet; its `createdBefore` leaves out the new jobs.',
    complexity: ({ input: { selection } }) => selectionCost(selection),
    extensions: {
      submissions: ({ input }: { input: { selection: Parameters<typeof countSelected>[0] } }) =>
        countSelected(input.selection),
    },
    args: { input: t.arg({ type: RetryJobsInput, required: true, description: 'The jobs and the changes.' }) },
    resolve(_root, { input: { selection, overrides, ...keys } }, context) {
      const changes = readChanges(overrides)
      return actOnSelection(context, selection, {
        action: 'RETRY',
        condition: (bind) => buildRetryableSql(context.viewer, 'environment' in changes, bind),
        work: (jobIds) =>
          retryJobs(context.domain, context.viewer, {
            ...keys,
            jobIds,
            overrides: changes,
            // Concurrent calls may select the same job by their filters. Only one of them retries it.
            unlessRetried: selection.matching != null,
          }),
      })
    },
  }),
)

builder.objectFields(JobRef, (t) => ({
  retryOf: objectFieldOrNull(
    t,
    'retryOfId',
    'The job that this one retries; null: none, deleted, or not visible to you.',
    'job',
  ),
}))
