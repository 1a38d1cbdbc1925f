import { type Viewer, visibleTo } from '../../../domain/access.ts'
import { isPendingSql, type KnownApproval } from '../../../domain/control/approvals.ts'
import { approveJob, approveJobs, type Decided, rejectJob, rejectJobs } from '../../../domain/control/approve.ts'
import { makeDecidableSql, mayDecide } from '../../../domain/control/approvers.ts'
import { ApprovalNotAllowed, InvalidState, NotFound, VersionConflict } from '../../../domain/errors.ts'
import { capBulk, capList } from '../../admission/argument-bounds.ts'
import { limits } from '../../caller-limits.ts'
import { createCount } from '../../rows/connection.ts'
import { type Bind, countMax } from '../../rows/keyset.ts'
import { approvalsListing } from '../../rows/listings.ts'
import { builder } from '../frame/builder.ts'
import { bulkCost } from '../frame/bulk-cost.ts'
import { countCost, declareConnection } from '../frame/connection-type.ts'
import { describeValues } from '../frame/enum-values.ts'
import { UserLevel } from '../frame/enums.ts'
import { expectedVersion, exposeColumns, objectField, objectFieldOrNull } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareJobsResult, declareResult, pairJobs } from '../frame/mutation-result.ts'
import { requireRow } from '../frame/problem.ts'
import { ApprovalRef, ApprovalRuleRef, JobRef } from '../frame/refs.ts'
import { catchOutage } from '../frame/unavailable.ts'
import { ViewerRef } from '../people/viewer.ts'

const statuses = ['PENDING', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELLED'] as const

const ApprovalStatus = builder.enumType('ApprovalStatus', {
  description: 'State of an approval request.',
  values: describeValues({
    PENDING: 'Waits for a decision.',
    APPROVED: 'Approved: the job was queued.',
    REJECTED: 'Rejected: the job failed.',
    EXPIRED: 'Not decided in time: the job failed.',
    CANCELLED: 'The job was cancelled before a decision.',
  } satisfies Record<(typeof statuses)[number], string>),
})

builder.node(ApprovalRef, {
  description: 'A request to approve a job, and its outcome.',
  id: { resolve: (approval) => approval.id, description: 'Global id, for `node`: approval_…' },
  // An approval is as visible as its job.
  loadMany: (ids, { load }) =>
    Promise.all(
      ids.map(async (id) => {
        const approval = await load.approval.load(id)
        return approval && (await load.job.load(approval.jobId)) ? approval : null
      }),
    ),
  fields: (t) => ({
    ...exposeColumns(t, {
      reason: ['String', 'Why an approval is required.'],
      requestedAt: ['DateTime', 'When the approval was requested.'],
      expiresAt: ['DateTime', 'When the request expires. The job then fails.'],
      decidedAt: ['DateTime?', 'When the request was decided, expired, or the job was cancelled; null: still pending.'],
      comment: ['String?', 'Comment given with the decision.'],
    }),
    job: objectField(t, 'jobId', 'The job to approve.'),
    status: t.expose('status', { type: ApprovalStatus, description: 'Current state.' }),
    rule: t.field({
      type: ApprovalRuleRef,
      nullable: true,
      description:
        'The rule that requires the approval; null: the submitter or a quota requested it, or the rule was deleted or renamed.',
      resolve: ({ ruleName }, _args, { load }) => (ruleName === null ? null : load.approvalRuleByName.load(ruleName)),
    }),
    requiredLevel: t.expose('requiredLevel', { type: UserLevel, description: 'Lowest user level that may decide.' }),
    requestedBy: objectField(t, 'requestedById', 'The submitter of the job.', 'user'),
    decidedBy: objectFieldOrNull(
      t,
      'decidedById',
      'The user who decided, or who cancelled the job; null: still pending, or expired.',
      'user',
    ),
    decidable: t.boolean({
      description: 'Whether you may decide now. A job of a disabled user can only be rejected.',
      resolve: (approval, _args, { viewer, domain }) => mayDecide(viewer, approval, domain.singleUser),
    }),
  }),
})

builder.objectField(JobRef, 'approval', (t) =>
  t.field({
    type: ApprovalRef,
    nullable: true,
    description: 'The approval request; null: the job needs no approval.',
    resolve: (job, _args, { load }) => load.approvalOfJob.load(job.id),
  }),
)

const ApprovalConnection = declareConnection<KnownApproval>('Approval', ApprovalRef)

const ApprovalFilter = builder.inputType('ApprovalFilter', {
  description: 'Filter for approvals. An approval must match all fields, and one entry of each list.',
  fields: (t) => ({
    statuses: t.field({ type: [ApprovalStatus], ...capList(statuses.length, 'Approvals in one of these states') }),
    decidable: t.boolean({ description: 'true: approvals that you may decide now. false: all others.' }),
    requestedBy: t.idList(capList(limits.filterIdsMax, 'Approvals of jobs that one of these users submitted')),
    rules: t.idList(capList(limits.filterIdsMax, 'Approvals that one of these rules requires')),
  }),
})

type Filter = typeof ApprovalFilter.$inferInput

interface Asking {
  bind: Bind
  viewer: Viewer
  singleUser: boolean
}

function filterSql({ statuses, decidable, requestedBy, rules }: Filter, { bind, viewer, singleUser }: Asking): string {
  const isOneOf = (values: readonly string[]) => `= ANY(${bind(values)}::text[])`
  const conditions = [
    statuses == null ? '' : statusSql(statuses, isOneOf),
    decidable == null ? '' : `${decidable ? '' : 'NOT '}(${makeDecidableSql(viewer, 'a', { bind, singleUser })})`,
    requestedBy == null ? '' : `a.requested_by ${isOneOf(requestedBy)}`,
    rules == null ? '' : `a.rule_name IN (SELECT name FROM approval_rule WHERE id ${isOneOf(rules)})`,
  ]
  return conditions.filter(Boolean).join(' AND ') || 'TRUE'
}

/** Compares the column itself, because the index of open requests does not apply to an expression over the status. */
const statusSql = (statuses: readonly string[], isOneOf: (values: readonly string[]) => string) =>
  statuses.join() === 'PENDING'
    ? isPendingSql('a')
    : `CASE WHEN a.status = 'PENDING' AND NOT (${isPendingSql('a')}) THEN 'EXPIRED' ELSE a.status::text END ${isOneOf(statuses)}`

declareList('approvals', ApprovalConnection, {
  description: 'Approvals of jobs that you may see, newest first.',
  args: (arg) => ({ filter: arg({ type: ApprovalFilter, description: 'Filter; default: all.' }) }),
  listing: approvalsListing,
  where: ({ filter }, { viewer, domain: { singleUser } }, bind) =>
    `${visibleTo(viewer, 'j', bind)} AND ${filterSql(filter ?? {}, { bind, viewer, singleUser })}`,
  loader: (load) => load.approval,
})

builder.objectField(ViewerRef, 'pendingDecisions', (t) =>
  t.int({
    description: `Number of approvals that you may decide now; at most ${countMax.toLocaleString('en')}.`,
    complexity: countCost,
    async resolve(viewer, _args, { listSql, domain: { singleUser } }) {
      const where = (bind: Bind) =>
        `${visibleTo(viewer, 'j', bind)} AND ${makeDecidableSql(viewer, 'a', { bind, singleUser })}`
      return (await createCount(listSql, { listing: approvalsListing, where })()).count
    },
  }),
)

function declareDecision(name: 'ApproveJob' | 'RejectJob', description: string) {
  const success = builder.objectRef<Decided>(`${name}Success`).implement({
    description,
    fields: (t) => ({
      job: objectField(t, 'jobId', 'The job as it is now.'),
      approval: t.field({
        type: ApprovalRef,
        description: 'The approval request with the decision.',
        resolve: ({ jobId }, _args, { load }) => requireRow(load.approvalOfJob.load(jobId)),
      }),
    }),
  })
  const result = declareResult(name, success, [NotFound, ApprovalNotAllowed, InvalidState, VersionConflict])
  return { result, bulk: declareJobsResult(`${name}s`, result) }
}

const approve = declareDecision('ApproveJob', 'The job is QUEUED and keeps its position by submission time.')
const reject = declareDecision('RejectJob', 'The job is FAILED.')

const ApproveJobInput = builder.inputType('ApproveJobInput', {
  description: 'An approval decision.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The BLOCKED job whose approval you decide.' }),
    comment: t.string({ description: 'Comment on the decision; at most 1,000 characters.' }),
    expectedVersion: t.field({ ...expectedVersion('job'), required: true }),
  }),
})

const RejectJobInput = builder.inputType('RejectJobInput', {
  description: 'A rejection.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The BLOCKED job whose approval you decide.' }),
    reason: t.string({ required: true, description: 'Reason, shown to the submitter; at most 1,000 characters.' }),
    expectedVersion: t.field({ ...expectedVersion('job'), required: true }),
  }),
})

const ApproveJobsInput = builder.inputType('ApproveJobsInput', {
  description: 'Approval decisions for several jobs.',
  fields: (t) => ({
    decisions: t.field({ type: [ApproveJobInput], required: true, ...capBulk(limits.decisionsMax, 'The decisions') }),
  }),
})

const RejectJobsInput = builder.inputType('RejectJobsInput', {
  description: 'Rejections of several jobs.',
  fields: (t) => ({
    decisions: t.field({ type: [RejectJobInput], required: true, ...capBulk(limits.decisionsMax, 'The decisions') }),
  }),
})

async function decideAll<Decision extends { jobId: string }, Outcome>(
  decisions: readonly Decision[],
  work: (decisions: readonly Decision[]) => Promise<Outcome[]>,
) {
  const outcomes = await catchOutage(decisions, work)
  return pairJobs(
    decisions.map(({ jobId }) => jobId),
    outcomes,
  )
}

builder.mutationFields((t) => ({
  approveJob: t.field({
    type: approve.result,
    description: 'Approves a BLOCKED job, which is then queued. Exactly one of several concurrent decisions succeeds.',
    args: { input: t.arg({ type: ApproveJobInput, required: true, description: 'The decision.' }) },
    resolve: (_root, { input }, { domain, viewer }) => approveJob(domain, viewer, input),
  }),
  rejectJob: t.field({
    type: reject.result,
    description: 'Rejects a BLOCKED job, which then fails. Exactly one of several concurrent decisions succeeds.',
    args: { input: t.arg({ type: RejectJobInput, required: true, description: 'The decision.' }) },
    resolve: (_root, { input }, { domain, viewer }) => rejectJob(domain, viewer, input),
  }),
  approveJobs: t.field({
    type: approve.bulk,
    description: 'Makes up to 100 decisions; each succeeds or fails independently.',
    args: { input: t.arg({ type: ApproveJobsInput, required: true, description: 'The decisions.' }) },
    complexity: ({ input }) => bulkCost(input.decisions),
    async resolve(_root, { input: { decisions } }, { domain, viewer }) {
      return { results: await decideAll(decisions, (all) => approveJobs(domain, viewer, all)) }
    },
  }),
  rejectJobs: t.field({
    type: reject.bulk,
    description: 'Makes up to 100 decisions; each succeeds or fails independently.',
    args: { input: t.arg({ type: RejectJobsInput, required: true, description: 'The decisions.' }) },
    complexity: ({ input }) => bulkCost(input.decisions),
    async resolve(_root, { input: { decisions } }, { domain, viewer }) {
      return { results: await decideAll(decisions, (all) => rejectJobs(domain, viewer, all)) }
    },
  }),
}))
