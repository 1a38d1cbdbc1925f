import { retryJob } from '../../domain/submission/retry.ts'
import { builder } from './builder.ts'
import { submissionCost } from './bulk-cost.ts'
import { declareAccepted } from './job-mutations.ts'
import { JobSpecInput, readChanges } from './job-spec-input.ts'
import { JobRef } from './refs.ts'

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
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the original has this version.',
    }),
  }),
})

builder.mutationField('retryJob', (t) =>
  t.field({
    type: declareAccepted('RetryJob'),
    description: 'Submits a new job with the spec of a final one. Quotas and approval rules apply again.',
    complexity: ({ input }) => submissionCost([input]),
    extensions: { submissions: 1 },
    args: { input: t.arg({ type: RetryJobInput, required: true, description: 'The job and the changes.' }) },
    resolve: (_root, { input }, { domain, viewer }) =>
      retryJob(domain, viewer, { ...input, overrides: readChanges(input.overrides) }),
  }),
)

builder.objectFields(JobRef, (t) => ({
  retryOf: t.field({
    type: JobRef,
    nullable: true,
    description: 'The job that this one retries; null: none, deleted, or not visible to you.',
    resolve: ({ retryOfId }, _args, { load }) => (retryOfId === null ? null : load.job.load(retryOfId)),
  }),
}))
