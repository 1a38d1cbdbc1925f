import { type JobPreview, previewJob, previewRetry } from '../../domain/submission/preview.ts'
import { questionCost } from '../caller-limits.ts'
import { builder } from './builder.ts'
import { JobState } from './enums.ts'
import { retryProblems, SubmitJobInput, submissionProblems } from './job-mutations.ts'
import { JobSpecRef } from './job-spec.ts'
import { readChanges } from './job-spec-input.ts'
import { declareResult } from './mutation-result.ts'
import { JobRef } from './refs.ts'
import { RetryJobInput } from './retry.ts'
import { EstimatedStart, Fit, PendingReason } from './scheduling.ts'

const JobPreviewRef = builder.objectRef<JobPreview>('JobPreview').implement({
  description: 'The outcome that a submission would have now. Nothing was stored.',
  fields: (t) => ({
    wouldBe: t.expose('wouldBe', {
      type: JobState,
      description:
        'STARTING: the job would start now. QUEUED: it would wait. BLOCKED: it would need an approval. FAILED: the quota of interactive jobs would fail it.',
    }),
    nodeNames: t.exposeStringList('nodes', { description: 'Names of the nodes on which the job would start.' }),
    gpuIds: t.exposeIntList('gpuIds', { description: 'Physical ids of the GPUs that the job would get.' }),
    reasons: t.expose('reasons', { type: [PendingReason], description: 'Why the job would not start now.' }),
    fit: t.expose('fit', {
      type: Fit,
      nullable: true,
      description:
        'Whether the pool has the requested resources; null: the idempotency key belongs to an existing job.',
    }),
    warnings: t.exposeStringList('warnings', {
      description: 'Changes that would be made to the spec, and other warnings.',
    }),
    queuePosition: t.exposeInt('position', {
      nullable: true,
      description: 'Queue position, from 1; null: the job would not be queued.',
    }),
    estimatedStart: t.expose('estimatedStart', {
      type: EstimatedStart,
      nullable: true,
      description: 'Estimated start; null: no estimate is possible, or the idempotency key belongs to an existing job.',
    }),
    idempotentJob: t.field({
      type: JobRef,
      nullable: true,
      description: 'The existing job of the idempotency key; null: none.',
      resolve: ({ idempotentJobId: id }, _args, { load }) => (id === null ? null : load.job.load(id)),
    }),
    spec: t.field({
      type: JobSpecRef,
      description: 'The normalised spec that would be stored.',
      resolve: ({ spec }) => ({ ...spec, isOwner: true }),
    }),
  }),
})

const PreviewJobInput = builder.inputType('PreviewJobInput', {
  description: 'The submission or retry to preview; set exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    submit: t.field({ type: SubmitJobInput, description: 'Previews a submission: the input of `submitJob`.' }),
    retry: t.field({ type: RetryJobInput, description: 'Previews a retry: the input of `retryJob`.' }),
  }),
})

builder.queryField('previewJob', (t) =>
  t.field({
    type: declareResult('PreviewJob', JobPreviewRef, [...submissionProblems, ...retryProblems]),
    description: 'Predicts the outcome of a submission or a retry. Nothing is stored.',
    complexity: 1 + questionCost,
    args: { input: t.arg({ type: PreviewJobInput, required: true, description: 'The submission or retry.' }) },
    resolve: (_root, { input: { submit, retry } }, { domain, viewer }) =>
      retry
        ? previewRetry(domain, viewer, { ...retry, overrides: readChanges(retry.overrides) })
        : previewJob(domain, viewer, submit),
  }),
)
