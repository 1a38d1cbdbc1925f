import { visibleTo } from '../../domain/access.ts'
import { isOpenSql } from '../../domain/control/approvals.ts'
import { approveJob, approveJobs, type Decided, rejectJob, rejectJobs } from '../../domain/control/decisions.ts'
import {
  ApprovalNotAllowed,
  Forbidden,
  InvalidInput,
  InvalidState,
  NotFound,
  type Refusal,
  VersionConflict,
} from '../../domain/errors.ts'
import type { Approval } from '../../platform/generated/client.ts'
import { Unavailable } from '../../platform/tx.ts'
import { bulkOf } from '../bounds.ts'
import { builder } from '../builder.ts'
import { bulkCost } from '../bulk.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { type Bind, readPages, requestPage } from '../keyset.ts'
import { limits } from '../limits.ts'
import { approvalsListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { ApprovalRef, JobRef, UserRef } from '../refs.ts'
import { UserLevel } from './enums.ts'
import { seen } from './problem.ts'

/** A person's yes before queueing: what waits for one, and the decisions. */
const ApprovalStatus = builder.enumType('ApprovalStatus', {
  description: 'Where an approval stands. PENDING is the only one that changes.',
  values: ['PENDING', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELLED'] as const,
})

builder.node(ApprovalRef, {
  description: "A request for a person's yes, and what became of it.",
  id: { resolve: (approval) => approval.id, description: 'approval_…' },
  // An approval is as visible as its job.
  loadMany: (ids, { load }) =>
    Promise.all(
      ids.map(async (id) => {
        const approval = await load.approval.load(id)
        return approval && (await load.job.load(approval.jobId)) ? approval : null
      }),
    ),
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job that waits for it, or waited.',
      resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
    }),
    status: t.expose('status', { type: ApprovalStatus, description: 'Where it stands.' }),
    reason: t.exposeString('reason', { description: 'Why it is needed.' }),
    ruleName: t.exposeString('ruleName', {
      nullable: true,
      description: 'The rule that asks for it; null: the submitter or a quota does.',
    }),
    requiredLevel: t.expose('requiredLevel', { type: UserLevel, description: 'The least level that may decide.' }),
    requestedBy: t.field({
      type: UserRef,
      description: 'Who submitted the job.',
      resolve: ({ requestedById }, _args, { load }) => seen(load.user.load(requestedById)),
    }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'When it was asked for.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends by itself, and the job fails.' }),
    decidedBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who decided, or cancelled the job; null: nobody yet, or it expired.',
      resolve: ({ decidedById }, _args, { load }) => (decidedById === null ? null : load.user.load(decidedById)),
    }),
    decidedAt: t.expose('decidedAt', { type: 'DateTime', nullable: true, description: 'When it was over.' }),
    comment: t.exposeString('comment', { nullable: true, description: 'What was said with the decision.' }),
  }),
})

builder.objectField(JobRef, 'approval', (t) =>
  t.field({
    type: ApprovalRef,
    nullable: true,
    description: "The request for a person's yes; null: none was needed.",
    resolve: (job, _args, { load }) => load.approvalOfJob.load(job.id),
  }),
)

const ApprovalConnection = connectionType<Approval>('Approval', ApprovalRef)

builder.queryField('approvals', (t) =>
  t.field({
    type: ApprovalConnection,
    description: 'Approvals of jobs that you may see, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      pendingOnly: t.arg.boolean({ defaultValue: true, description: 'Only those that wait for a decision.' }),
    },
    complexity: pageCost,
    async resolve(_root, { pendingOnly, ...args }, { domain: { db }, viewer, load }) {
      const filter = { pendingOnly: pendingOnly !== false }
      const where = (bind: Bind) =>
        `${visibleTo(viewer, 'j', bind)} AND ${filter.pendingOnly ? isOpenSql('a') : 'TRUE'}`
      const page = requestPage(approvalsListing, filter, args)
      const query = { listing: approvalsListing, where, parents: [''], filterOf: () => filter, page }
      const pages = await readPages(db.sql, query)
      return toConnection(pages.get(''), (ids) => load.approval.loadMany(ids))
    },
  }),
)

/** Both decisions have the same form. */
function decisionType(name: 'ApproveJob' | 'RejectJob', description: string) {
  const success = builder.objectRef<Decided>(`${name}Success`).implement({
    description,
    fields: (t) => ({
      job: t.field({
        type: JobRef,
        description: 'The job as it is now.',
        resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
      }),
      approval: t.field({
        type: ApprovalRef,
        description: 'The request with its decision.',
        resolve: ({ jobId }, _args, { load }) => seen(load.approvalOfJob.load(jobId)),
      }),
    }),
  })
  const result = builder.errorUnion(`${name}Result`, {
    description: 'What became of a decision.',
    types: [success, NotFound, Forbidden, ApprovalNotAllowed, InvalidState, VersionConflict, InvalidInput, Unavailable],
    resolveType: () => success,
  })
  const payload = builder.objectRef<{ results: (Decided | Refusal)[] }>(`${name}sPayload`).implement({
    description: 'What became of many decisions.',
    fields: (t) => ({
      results: t.field({
        type: [result],
        description: 'One result for each, in order.',
        complexity: { multiplier: 1 },
        resolve: ({ results }) => results,
      }),
    }),
  })
  return { result, payload }
}

const approve = decisionType('ApproveJob', 'The job is in the queue now, at its submission place.')
const reject = decisionType('RejectJob', 'The job has failed.')

const ApproveJobInput = builder.inputType('ApproveJobInput', {
  description: 'A yes.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    comment: t.string({ description: 'For others to read; at most 1,000 characters.' }),
    expectedVersion: t.field({ type: 'UInt53', required: true, description: 'The version of the job you looked at.' }),
  }),
})

const RejectJobInput = builder.inputType('RejectJobInput', {
  description: 'A no.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    reason: t.string({ required: true, description: 'Why, for the submitter to read; at most 1,000 characters.' }),
    expectedVersion: t.field({ type: 'UInt53', required: true, description: 'The version of the job you looked at.' }),
  }),
})

const ApproveJobsInput = builder.inputType('ApproveJobsInput', {
  description: 'Many a yes.',
  fields: (t) => ({
    decisions: t.field({ type: [ApproveJobInput], required: true, ...bulkOf(limits.decisionsMax, 'The decisions') }),
  }),
})

const RejectJobsInput = builder.inputType('RejectJobsInput', {
  description: 'Many a no.',
  fields: (t) => ({
    decisions: t.field({ type: [RejectJobInput], required: true, ...bulkOf(limits.decisionsMax, 'The decisions') }),
  }),
})

builder.mutationFields((t) => ({
  approveJob: t.field({
    type: approve.result,
    description: 'Lets a BLOCKED job into the queue. Of concurrent decisions exactly one wins.',
    args: { input: t.arg({ type: ApproveJobInput, required: true, description: 'The decision.' }) },
    resolve: (_root, { input }, { domain, viewer }) => approveJob(domain, viewer, input),
  }),
  rejectJob: t.field({
    type: reject.result,
    description: 'Fails a BLOCKED job. Of concurrent decisions exactly one wins.',
    args: { input: t.arg({ type: RejectJobInput, required: true, description: 'The decision.' }) },
    resolve: (_root, { input }, { domain, viewer }) => rejectJob(domain, viewer, input),
  }),
  approveJobs: t.field({
    type: approve.payload,
    description: 'Up to 100 decisions; each is taken or refused by itself.',
    args: { input: t.arg({ type: ApproveJobsInput, required: true, description: 'The decisions.' }) },
    complexity: ({ input }) => bulkCost(input.decisions),
    async resolve(_root, { input: { decisions } }, { domain, viewer }) {
      return { results: await approveJobs(domain, viewer, decisions) }
    },
  }),
  rejectJobs: t.field({
    type: reject.payload,
    description: 'Up to 100 decisions; each is taken or refused by itself.',
    args: { input: t.arg({ type: RejectJobsInput, required: true, description: 'The decisions.' }) },
    complexity: ({ input }) => bulkCost(input.decisions),
    async resolve(_root, { input: { decisions } }, { domain, viewer }) {
      return { results: await rejectJobs(domain, viewer, decisions) }
    },
  }),
}))
