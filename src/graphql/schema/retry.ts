import { retryJob } from '../../domain/submission/retry.ts'
import { builder } from '../builder.ts'
import { JobRef } from '../refs.ts'
import { SubmitJobResult } from './job-mutations.ts'
import { changesOf, JobSpecInput } from './job-spec-input.ts'

/** Jobs that retry others. */
const RetryJobInput = builder.inputType('RetryJobInput', {
  description: 'Which job to submit once more, and with what changes.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'A job that is over.' }),
    overrides: t.field({
      type: JobSpecInput,
      description:
        'Fields that replace those of the original, in `resources` too; null: the default. A field at its default value leaves the original.',
    }),
    idempotencyKey: t.string({ description: 'Your name for this retry; as for `submitJob`.' }),
    idempotencyTtlSeconds: t.int({ description: 'How long the key is kept, 60 … 2,592,000 s; default a day.' }),
    slotReservationId: t.id({ description: 'A slot that you reserved.' }),
    dryRun: t.boolean({
      description: 'Only say what would become of it; the answer is DryRun, and nothing is written.',
    }),
    noWait: t.boolean({ description: 'Start it now or refuse it: then nothing is stored, its key neither.' }),
    expectedVersion: t.field({ type: 'UInt53', description: 'Only if the original is still at this version.' }),
  }),
})

builder.mutationField('retryJob', (t) =>
  t.field({
    type: SubmitJobResult,
    description: 'Submits a new job from the spec of one that is over; quotas and approval rules are asked again.',
    args: { input: t.arg({ type: RetryJobInput, required: true, description: 'Which job, and the changes.' }) },
    resolve: (_root, { input }, { domain, viewer }) =>
      retryJob(domain, viewer, { ...input, overrides: changesOf(input.overrides) }),
  }),
)

builder.objectFields(JobRef, (t) => ({
  retryOf: t.field({
    type: JobRef,
    nullable: true,
    description: 'The job that it retries; null: none, deleted since, or not yours to see.',
    resolve: ({ retryOfId }, _args, { load }) => (retryOfId === null ? null : load.job.load(retryOfId)),
  }),
}))
