import { type Cancelled, cancelJob, cancelJobs } from '../../domain/control/cancel.ts'
import { deleteJob } from '../../domain/control/remove.ts'
import {
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
} from '../../domain/errors.ts'
import { submitAll } from '../../domain/submission/submit.ts'
import { type Submitted, throwMissingOutcome } from '../../domain/submission/submit-group.ts'
import { Unavailable } from '../../platform/tx.ts'
import { capBulk } from '../admission/argument-bounds.ts'
import { limits } from '../caller-limits.ts'
import { builder } from './builder.ts'
import { bulkCost, submissionCost } from './bulk-cost.ts'
import { deletedFields } from './delete-result.ts'
import { DryRunRef } from './dry-run.ts'
import { JobSpecInput } from './job-spec-input.ts'
import { requireRow } from './problem.ts'
import { JobRef } from './refs.ts'
import { catchOutage } from './unavailable.ts'

const SubmitJobSuccess = builder.objectRef<Submitted>('SubmitJobSuccess').implement({
  description: 'The job was accepted.',
  fields: (t) => ({
    job: t.expose('job', { type: JobRef, description: 'The job.' }),
    idempotentHit: t.exposeBoolean('idempotentHit', {
      description: 'Whether this is the job of an earlier submission with the same key.',
    }),
    warnings: t.exposeStringList('warnings', {
      description: 'Changes made to the spec, and other warnings.',
    }),
  }),
})

export const SubmitJobResult = builder.errorUnion('SubmitJobResult', {
  description: 'Result of one submission.',
  types: [
    SubmitJobSuccess,
    DryRunRef,
    InvalidInput,
    NotFound,
    Forbidden,
    InvalidState,
    VersionConflict,
    IdempotencyConflict,
    QuotaExceeded,
    ReservationExpired,
    Rejected,
    Unavailable,
  ],
  resolveType: (outcome) => ('wouldBe' in outcome ? DryRunRef : SubmitJobSuccess),
})

const SubmitJobInput = builder.inputType('SubmitJobInput', {
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
    dryRun: t.boolean({
      description: 'Only predict the outcome. The result is a DryRun, and nothing is stored.',
    }),
    noWait: t.boolean({
      description: 'Refuse the job unless it can start now. A refusal stores nothing, not even the idempotency key.',
    }),
  }),
})

builder.mutationField('submitJob', (t) =>
  t.field({
    type: SubmitJobResult,
    description: 'Submits a job.',
    complexity: ({ input }) => submissionCost([input]),
    extensions: { submissions: 1 },
    args: { input: t.arg({ type: SubmitJobInput, required: true, description: 'The submission.' }) },
    async resolve(_root, { input }, { domain, viewer }) {
      const [outcome] = await submitAll(domain, viewer, [input])
      return outcome ?? throwMissingOutcome()
    },
  }),
)

const SubmitJobsPayload = builder.objectRef<{ results: Awaited<ReturnType<typeof submitAll>> }>('SubmitJobsPayload')

SubmitJobsPayload.implement({
  description: 'Results of several submissions.',
  fields: (t) => ({
    results: t.field({
      type: [SubmitJobResult],
      description: 'One result per input, in the same order.',
      complexity: { multiplier: 1 },
      resolve: ({ results }) => results,
    }),
  }),
})

builder.mutationField('submitJobs', (t) =>
  t.field({
    type: SubmitJobsPayload,
    description: 'Submits up to 1,000 jobs; each succeeds or fails independently.',
    args: { inputs: t.arg({ type: [SubmitJobInput], required: true, ...capBulk(limits.bulkMax, 'The submissions') }) },
    complexity: ({ inputs }) => bulkCost(inputs, submissionCost(inputs)),
    extensions: { submissions: ({ inputs }: { inputs: readonly unknown[] }) => inputs.length },
    async resolve(_root, { inputs }, { domain, viewer }) {
      return { results: await submitAll(domain, viewer, inputs) }
    },
  }),
)

const CancelJobSuccess = builder.objectRef<{ jobId: string; changed: boolean }>('CancelJobSuccess').implement({
  description: 'The job is being cancelled, or was already final.',
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job.',
      resolve: ({ jobId }, _args, { load }) => requireRow(load.job.load(jobId)),
    }),
    changed: t.exposeBoolean('changed', { description: 'false: the job was already final or CANCELLING.' }),
  }),
})

const CancelJobResult = builder.errorUnion('CancelJobResult', {
  description: 'Result of one cancellation.',
  types: [CancelJobSuccess, NotFound, Forbidden, VersionConflict, InvalidInput, Unavailable],
  resolveType: () => CancelJobSuccess,
})

const CancelJobInput = builder.inputType('CancelJobInput', {
  description: 'The job to cancel.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    reason: t.string({ description: 'Reason for the cancellation; at most 1,000 characters.' }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the job has this version.',
    }),
  }),
})

builder.mutationField('cancelJob', (t) =>
  t.field({
    type: CancelJobResult,
    description: 'Cancels a job. A waiting job ends at once; a running job is stopped.',
    args: { input: t.arg({ type: CancelJobInput, required: true, description: 'The job.' }) },
    resolve: (_root, { input }, { domain, viewer }) => cancelJob(domain, viewer, input),
  }),
)

const CancelJobsInput = builder.inputType('CancelJobsInput', {
  description: 'The jobs to cancel.',
  fields: (t) => ({
    jobIds: t.idList({ required: true, ...capBulk(limits.bulkMax, 'The jobs') }),
    reason: t.string({ description: 'Reason for the cancellation; at most 1,000 characters.' }),
  }),
})

const CancelJobsPayload = builder.objectRef<{ results: (Cancelled | Refusal | Unavailable)[] }>('CancelJobsPayload')

CancelJobsPayload.implement({
  description: 'Results of several cancellations.',
  fields: (t) => ({
    results: t.field({
      type: [CancelJobResult],
      description: 'One result per input, in the same order.',
      complexity: { multiplier: 1 },
      resolve: ({ results }) => results,
    }),
  }),
})

builder.mutationField('cancelJobs', (t) =>
  t.field({
    type: CancelJobsPayload,
    description: 'Cancels up to 1,000 jobs.',
    args: { input: t.arg({ type: CancelJobsInput, required: true, description: 'The jobs.' }) },
    complexity: ({ input }) => bulkCost(input.jobIds),
    async resolve(_root, { input: { jobIds, reason } }, { domain, viewer }) {
      const inputs = jobIds.map((jobId) => ({ jobId, reason }))
      return { results: await catchOutage(inputs, (all) => cancelJobs(domain, viewer, all)) }
    },
  }),
)

const DeleteJobSuccess = builder.objectRef<{ id: string }>('DeleteJobSuccess').implement({
  description: 'The job was deleted.',
  fields: deletedFields,
})

const DeleteJobResult = builder.errorUnion('DeleteJobResult', {
  description: 'Result of a deletion.',
  types: [DeleteJobSuccess, NotFound, Forbidden, InvalidState, VersionConflict, Unavailable],
  resolveType: () => DeleteJobSuccess,
})

const DeleteJobInput = builder.inputType('DeleteJobInput', {
  description: 'The job to delete.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the job has this version.',
    }),
  }),
})

builder.mutationField('deleteJob', (t) =>
  t.field({
    type: DeleteJobResult,
    description: 'Deletes a final job with its runs, events and logs.',
    args: { input: t.arg({ type: DeleteJobInput, required: true, description: 'The job.' }) },
    resolve: (_root, { input }, { domain, viewer }) => deleteJob(domain, viewer, input),
  }),
)
