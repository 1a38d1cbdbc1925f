import { cancelJob, cancelJobs } from '../../domain/control/cancel.ts'
import { deleteJob } from '../../domain/control/remove.ts'
import {
  Forbidden,
  IdempotencyConflict,
  InvalidInput,
  InvalidState,
  NotFound,
  QuotaExceeded,
  Rejected,
  ReservationExpired,
  VersionConflict,
} from '../../domain/errors.ts'
import { submit } from '../../domain/submission/start-now.ts'
import type { Submitted } from '../../domain/submission/submit.ts'
import { Unavailable } from '../../platform/tx.ts'
import { bulkOf } from '../bounds.ts'
import { builder } from '../builder.ts'
import { bulkCost } from '../bulk.ts'
import { limits } from '../limits.ts'
import { JobRef } from '../refs.ts'
import { DryRunRef } from './dry-run.ts'
import { JobSpecInput } from './job-spec-input.ts'
import { seen } from './problem.ts'

/** Each mutation is one verb of the domain; its refusals become members of the result union. */
const SubmitJobSuccess = builder.objectRef<Submitted>('SubmitJobSuccess').implement({
  description: 'The job was taken.',
  fields: (t) => ({
    job: t.expose('job', { type: JobRef, description: 'The job.' }),
    idempotentHit: t.exposeBoolean('idempotentHit', {
      description: 'Whether an earlier submission is answered again.',
    }),
    warnings: t.exposeStringList('warnings', {
      description: 'What was changed of your words, and what to look out for.',
    }),
  }),
})

export const SubmitJobResult = builder.errorUnion('SubmitJobResult', {
  description: 'What became of a submission.',
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
    spec: t.field({ type: JobSpecInput, required: true, description: 'What is to be run.' }),
    idempotencyKey: t.string({
      description: 'Your name for this submission, 1 … 255 characters: the same key again answers the same job.',
    }),
    slotReservationId: t.id({
      description: 'A slot that you reserved: it is consumed, and the submission counts once.',
    }),
    requiresApproval: t.boolean({ description: 'Whether a person must say yes, whatever the rules say.' }),
    idempotencyTtlSeconds: t.int({ description: 'How long the key is kept, 60 … 2,592,000 s; default a day.' }),
    dryRun: t.boolean({
      description: 'Only say what would become of it; the answer is DryRun, and nothing is written.',
    }),
    noWait: t.boolean({ description: 'Start it now or refuse it: then nothing is stored, its key neither.' }),
  }),
})

builder.mutationField('submitJob', (t) =>
  t.field({
    type: SubmitJobResult,
    description: 'Submits a job.',
    args: { input: t.arg({ type: SubmitJobInput, required: true, description: 'The submission.' }) },
    async resolve(_root, { input }, { domain, viewer }) {
      const [outcome] = await submit(domain, viewer, [input])
      if (!outcome) throw new Error('A submission was left out')
      return outcome
    },
  }),
)

const SubmitJobsPayload = builder.objectRef<{ results: Awaited<ReturnType<typeof submit>> }>('SubmitJobsPayload')

SubmitJobsPayload.implement({
  description: 'What became of many submissions.',
  fields: (t) => ({
    results: t.field({
      type: [SubmitJobResult],
      description: 'One result for each, in order.',
      complexity: { multiplier: 1 },
      resolve: ({ results }) => results,
    }),
  }),
})

builder.mutationField('submitJobs', (t) =>
  t.field({
    type: SubmitJobsPayload,
    description: 'Submits up to 1,000 jobs; each is taken or refused by itself.',
    args: { inputs: t.arg({ type: [SubmitJobInput], required: true, ...bulkOf(limits.bulkMax, 'The submissions') }) },
    complexity: ({ inputs }) => bulkCost(inputs),
    async resolve(_root, { inputs }, { domain, viewer }) {
      return { results: await submit(domain, viewer, inputs) }
    },
  }),
)

const CancelJobSuccess = builder.objectRef<{ jobId: string; changed: boolean }>('CancelJobSuccess').implement({
  description: 'The job ends, or had ended already.',
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job.',
      resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
    }),
    changed: t.exposeBoolean('changed', { description: 'false: it was final or CANCELLING already.' }),
  }),
})

const CancelJobResult = builder.errorUnion('CancelJobResult', {
  description: 'What became of a cancellation.',
  types: [CancelJobSuccess, NotFound, Forbidden, VersionConflict, InvalidInput, Unavailable],
  resolveType: () => CancelJobSuccess,
})

const CancelJobInput = builder.inputType('CancelJobInput', {
  description: 'Which job is to end.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    reason: t.string({ description: 'Why, for others to read; at most 1,000 characters.' }),
    expectedVersion: t.field({ type: 'UInt53', description: 'Only if the job is still at this version.' }),
  }),
})

builder.mutationField('cancelJob', (t) =>
  t.field({
    type: CancelJobResult,
    description: 'Ends a job. What waits ends at once; what runs is stopped.',
    args: { input: t.arg({ type: CancelJobInput, required: true, description: 'Which job.' }) },
    resolve: (_root, { input }, { domain, viewer }) => cancelJob(domain, viewer, input),
  }),
)

const CancelJobsInput = builder.inputType('CancelJobsInput', {
  description: 'Which jobs are to end.',
  fields: (t) => ({
    jobIds: t.idList({ required: true, ...bulkOf(limits.bulkMax, 'The jobs') }),
    reason: t.string({ description: 'Why, for others to read; at most 1,000 characters.' }),
  }),
})

const CancelJobsPayload = builder.objectRef<{ results: Awaited<ReturnType<typeof cancelJobs>> }>('CancelJobsPayload')

CancelJobsPayload.implement({
  description: 'What became of many cancellations.',
  fields: (t) => ({
    results: t.field({
      type: [CancelJobResult],
      description: 'One result for each, in order.',
      complexity: { multiplier: 1 },
      resolve: ({ results }) => results,
    }),
  }),
})

builder.mutationField('cancelJobs', (t) =>
  t.field({
    type: CancelJobsPayload,
    description: 'Ends up to 1,000 jobs.',
    args: { input: t.arg({ type: CancelJobsInput, required: true, description: 'Which jobs.' }) },
    complexity: ({ input }) => bulkCost(input.jobIds),
    async resolve(_root, { input: { jobIds, reason } }, { domain, viewer }) {
      const results = await cancelJobs(
        domain,
        viewer,
        jobIds.map((jobId) => ({ jobId, reason })),
      )
      return { results }
    },
  }),
)

const DeleteJobSuccess = builder.objectRef<{ id: string }>('DeleteJobSuccess').implement({
  description: 'The job is gone.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Id that it had.' }) }),
})

const DeleteJobResult = builder.errorUnion('DeleteJobResult', {
  description: 'What became of a deletion.',
  types: [DeleteJobSuccess, NotFound, Forbidden, InvalidState, VersionConflict, Unavailable],
  resolveType: () => DeleteJobSuccess,
})

const DeleteJobInput = builder.inputType('DeleteJobInput', {
  description: 'Which job is to go.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    expectedVersion: t.field({ type: 'UInt53', description: 'Only if the job is still at this version.' }),
  }),
})

builder.mutationField('deleteJob', (t) =>
  t.field({
    type: DeleteJobResult,
    description: 'Removes a final job with its runs, events and logs.',
    args: { input: t.arg({ type: DeleteJobInput, required: true, description: 'Which job.' }) },
    resolve: (_root, { input }, { domain, viewer }) => deleteJob(domain, viewer, input),
  }),
)
