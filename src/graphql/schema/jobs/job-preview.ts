import type { ApprovalNeed } from '../../../domain/control/approval-rules.ts'
import type { QuotaEffect } from '../../../domain/submission/accept.ts'
import { type JobPreview, previewJob, previewRetry } from '../../../domain/submission/preview.ts'
import { questionCost } from '../../caller-limits.ts'
import { builder } from '../frame/builder.ts'
import { JobState, UserLevel } from '../frame/enums.ts'
import { exposeColumns } from '../frame/fields.ts'
import { MoneyRef } from '../frame/money.ts'
import { declareResult } from '../frame/mutation-result.ts'
import { ApprovalRuleRef, JobRef } from '../frame/refs.ts'
import { parseScope, Scope } from '../frame/scope.ts'
import { QuotaActionRef, QuotaTypeRef } from '../policies/quota.ts'
import { retryProblems, SubmitJobInput, submissionProblems } from './job-mutations.ts'
import { JobSpecRef } from './job-spec.ts'
import { readChanges } from './job-spec-input.ts'
import { RetryJobInput } from './retry.ts'
import { EstimatedStart, Fit, PendingReason } from './scheduling.ts'

const NeededApproval = builder.objectRef<ApprovalNeed>('NeededApproval').implement({
  description: 'An approval that a submission would wait for.',
  fields: (t) => ({
    ...exposeColumns(t, {
      reason: ['String', 'Why the submission needs an approval.'],
      expiresAfterSeconds: ['Int', 'Time from the submission after which the job fails without an approval.'],
    }),
    rule: t.field({
      type: ApprovalRuleRef,
      nullable: true,
      description: 'The rule that requires it; null: a quota or the submitter requires it.',
      resolve: ({ rule }, _args, { load }) => (rule === null ? null : load.approvalRuleByName.load(rule)),
    }),
    requiredLevel: t.expose('requiredLevel', { type: UserLevel, description: 'Lowest level that may approve.' }),
  }),
})

const QuotaEffectRef = builder.objectRef<QuotaEffect>('QuotaEffect').implement({
  description: 'A quota before and after a submission.',
  fields: (t) => ({
    ...exposeColumns(t, {
      limit: ['Float', 'Highest allowed value.'],
      used: ['Float', 'Usage now.'],
      usedAfter: [
        'Float?',
        'Usage after the submission; null: the cost of the job has no bound, because it has no maximum run time.',
      ],
    }),
    type: t.expose('type', { type: QuotaTypeRef, description: 'Quantity that the quota limits.' }),
    action: t.expose('action', { type: QuotaActionRef, description: 'Action when a submission exceeds the limit.' }),
    scope: t.field({
      type: Scope,
      description: 'The user, team or account whose usage counts.',
      resolve: ({ scope }) => parseScope(scope),
    }),
  }),
})

const preemptsMax = 100

const JobPreviewRef = builder.objectRef<JobPreview>('JobPreview').implement({
  description: 'The outcome that a submission would have now. Nothing was stored.',
  fields: (t) => ({
    ...exposeColumns(t, {
      gpuIds: ['[Int]', 'Physical ids of the GPUs that the job would get.'],
      warnings: ['[String]', 'Changes that would be made to the spec, and other warnings.'],
      position: ['Int?', 'Position among the QUEUED jobs of the pool, from 1; null: the job would not be QUEUED.'],
    }),
    wouldBe: t.expose('wouldBe', {
      type: JobState,
      description:
        'STARTING: the job would start now. QUEUED: it would wait. BLOCKED: it would need an approval. FAILED: the quota of interactive jobs would fail it.',
    }),
    nodeNames: t.exposeStringList('nodes', { description: 'Names of the nodes on which the job would start.' }),
    reasons: t.expose('reasons', { type: [PendingReason], description: 'Why the job would not start now.' }),
    fit: t.expose('fit', {
      type: Fit,
      nullable: true,
      description:
        'Whether the pool has the requested resources; null: the idempotency key belongs to an existing job.',
    }),
    estimatedStart: t.expose('estimatedStart', {
      type: EstimatedStart,
      nullable: true,
      description: 'Estimated start; null: no estimate is possible, or the idempotency key belongs to an existing job.',
    }),
    approval: t.expose('approval', {
      type: NeededApproval,
      nullable: true,
      description: 'The approval that the job would wait for; null: none.',
    }),
    cost: t.expose('cost', {
      type: MoneyRef,
      nullable: true,
      description:
        'Highest cost of the job, which quotas on cost count; null: unknown, or without a bound, because the job has no maximum run time.',
    }),
    quotas: t.expose('quotas', {
      type: [QuotaEffectRef],
      description: 'The quotas that the submission would count against.',
    }),
    preempts: t.field({
      type: [JobRef],
      description: `The jobs that would be preempted for the job and that you may see; at most ${preemptsMax}.`,
      complexity: { multiplier: preemptsMax },
      async resolve({ preempts }, _args, { load }) {
        const jobs = await Promise.all(preempts.slice(0, preemptsMax).map((id) => load.job.load(id)))
        return jobs.filter((job) => job !== null)
      },
    }),
    preemptedCount: t.int({
      description: 'How many jobs would be preempted, including those that you may not see.',
      resolve: ({ preempts }) => preempts.length,
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
