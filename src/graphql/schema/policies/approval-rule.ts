import { userLevels } from '../../../domain/access.ts'
import {
  createApprovalRule,
  deleteApprovalRule,
  updateApprovalRule,
} from '../../../domain/control/approval-rule-changes.ts'
import type { ApprovalCondition } from '../../../domain/control/approval-rules.ts'
import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { previewApprovalRule, type RulePreview, rulePreviewJobsMax } from '../../../domain/submission/rule-preview.ts'
import type { ApprovalRule } from '../../../platform/generated/client.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { questionCost } from '../../caller-limits.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import { approvalRulesListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { ExecutorKind, UserLevel } from '../frame/enums.ts'
import { declareDeletion, declareResult } from '../frame/mutation-result.ts'
import { requireRow } from '../frame/problem.ts'
import { ApprovalRuleRef, JobRef } from '../frame/refs.ts'

const fieldWords = {
  costAbove: 'Matches when the submission costs more than this amount.',
  hardware: 'Glob on the requested GPU and CPU models; case-insensitive.',
  executor: 'Matches jobs that run on this executor.',
  levelNotIn: 'Matches when the level of the user is not in this list.',
  jobsPerDayAbove:
    'Matches when the user submitted more than this number of jobs in the last 24 hours, including this one.',
  firstJob: 'true: matches the first job of a user. false: matches all later ones.',
  name: 'Glob on the job name, or a regular expression if written as ^…$.',
} as const

const Condition = builder.objectRef<ApprovalCondition>('ApprovalCondition').implement({
  description: 'A condition on submissions; exactly one field is set.',
  fields: (t) => ({
    costAbove: t.exposeFloat('costAbove', { nullable: true, description: fieldWords.costAbove }),
    hardware: t.exposeString('hardware', { nullable: true, description: fieldWords.hardware }),
    executor: t.expose('executor', { type: ExecutorKind, nullable: true, description: fieldWords.executor }),
    levelNotIn: t.field({
      type: [UserLevel],
      nullable: true,
      description: fieldWords.levelNotIn,
      resolve: ({ levelNotIn }) => levelNotIn && [...levelNotIn],
    }),
    jobsPerDayAbove: t.exposeInt('jobsPerDayAbove', { nullable: true, description: fieldWords.jobsPerDayAbove }),
    firstJob: t.exposeBoolean('firstJob', { nullable: true, description: fieldWords.firstJob }),
    name: t.exposeString('name', { nullable: true, description: fieldWords.name }),
  }),
})

builder.node(ApprovalRuleRef, {
  description: 'A rule that makes submissions require approval. The first matching rule applies.',
  id: { resolve: (rule) => rule.id, description: 'Global id, for `node`: rule_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.approvalRule.load(id))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name, unique.' }),
    priority: t.exposeInt('priority', { description: 'Rules with a higher priority are evaluated first.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the rule is evaluated.' }),
    condition: t.field({
      type: Condition,
      description: 'The submissions that the rule applies to.',
      resolve: ({ condition }) => condition as ApprovalCondition,
    }),
    exemptLevels: t.expose('exemptLevels', {
      type: [UserLevel],
      description: 'User levels that the rule does not apply to.',
    }),
    requiredLevel: t.expose('requiredLevel', { type: UserLevel, description: 'Lowest user level that may decide.' }),
    expiresAfterSeconds: t.exposeInt('expiresAfterSeconds', {
      description: 'Seconds until an undecided request expires.',
    }),
    version: t.expose('version', {
      type: 'UInt53',
      description:
        'Rises with each change; pass it as `expectedVersion`, so that you do not overwrite a change of another user.',
    }),
  }),
})

const ApprovalRuleConnection = declareConnection<ApprovalRule>('ApprovalRule', ApprovalRuleRef)

builder.queryField('approvalRules', (t) =>
  t.field({
    type: ApprovalRuleConnection,
    description: 'All approval rules, in order of evaluation.',
    args: t.arg.connectionArgs(),
    complexity: pageCost,
    async resolve(_root, args, { listSql, load }) {
      const list = await readList(listSql, { listing: approvalRulesListing, where: () => 'TRUE', filter: null, args })
      return toConnection(list, (ids) => load.approvalRule.loadMany(ids))
    },
  }),
)

const ConditionInput = builder.inputType('ApprovalConditionInput', {
  description: 'A condition on submissions; set exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    costAbove: t.float({ description: fieldWords.costAbove }),
    hardware: t.string({ description: fieldWords.hardware }),
    executor: t.field({ type: ExecutorKind, description: fieldWords.executor }),
    levelNotIn: t.field({ type: [UserLevel], ...capList(userLevels.length, fieldWords.levelNotIn.replace(/\.$/, '')) }),
    jobsPerDayAbove: t.int({ description: fieldWords.jobsPerDayAbove }),
    firstJob: t.boolean({ description: fieldWords.firstJob }),
    name: t.string({ description: fieldWords.name }),
  }),
})

const CreateApprovalRuleInput = builder.inputType('CreateApprovalRuleInput', {
  description: 'A new approval rule.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Display name, unique.' }),
    condition: t.field({
      type: ConditionInput,
      required: true,
      description: 'The submissions that the rule applies to.',
    }),
    priority: t.int({ defaultValue: 0, description: 'Rules with a higher priority are evaluated first.' }),
    enabled: t.boolean({ defaultValue: true, description: 'Whether the rule is evaluated.' }),
    exemptLevels: t.field({
      type: [UserLevel],
      ...capList(userLevels.length, 'User levels that the rule does not apply to'),
    }),
    requiredLevel: t.field({
      type: UserLevel,
      defaultValue: 'LEAD',
      description: 'Lowest user level that may decide.',
    }),
    expiresAfterSeconds: t.int({ defaultValue: 86_400, description: 'Seconds until an undecided request expires.' }),
  }),
})

const UpdateApprovalRuleInput = builder.inputType('UpdateApprovalRuleInput', {
  description: 'Changes to an approval rule; omitted fields stay.',
  fields: (t) => ({
    approvalRuleId: t.id({ required: true, description: 'The rule to change.' }),
    name: t.string({ description: 'Display name, unique.' }),
    condition: t.field({ type: ConditionInput, description: 'The submissions that the rule applies to.' }),
    priority: t.int({ description: 'Rules with a higher priority are evaluated first.' }),
    enabled: t.boolean({ description: 'Whether the rule is evaluated.' }),
    exemptLevels: t.field({
      type: [UserLevel],
      ...capList(userLevels.length, 'User levels that the rule does not apply to'),
    }),
    requiredLevel: t.field({ type: UserLevel, description: 'Lowest user level that may decide.' }),
    expiresAfterSeconds: t.int({ description: 'Seconds until an undecided request expires.' }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the rule has this version.',
    }),
  }),
})

const DeleteApprovalRuleInput = builder.inputType('DeleteApprovalRuleInput', {
  description: 'The rule to delete.',
  fields: (t) => ({
    approvalRuleId: t.id({ required: true, description: 'The rule to delete.' }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the rule has this version.',
    }),
  }),
})

const declareSuccess = (name: 'CreateApprovalRuleSuccess' | 'UpdateApprovalRuleSuccess', description: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description,
    fields: (t) => ({
      rule: t.field({
        type: ApprovalRuleRef,
        description: 'The rule as stored, with its id.',
        resolve: ({ id }, _args, { load }) => requireRow(load.approvalRule.load(id)),
      }),
    }),
  })

const CreateSuccess = declareSuccess('CreateApprovalRuleSuccess', 'The rule applies to submissions from now on.')
const UpdateSuccess = declareSuccess(
  'UpdateApprovalRuleSuccess',
  'The changed rule applies to submissions from now on.',
)

const CreateResult = declareResult('CreateApprovalRule', CreateSuccess)

const UpdateResult = declareResult('UpdateApprovalRule', UpdateSuccess, [NotFound, VersionConflict])

builder.mutationFields((t) => ({
  createApprovalRule: t.field({
    type: CreateResult,
    description: 'Creates an approval rule, which applies to later submissions.',
    args: { input: t.arg({ type: CreateApprovalRuleInput, required: true, description: 'The rule.' }) },
    resolve: (_root, { input }, { domain, viewer }) => createApprovalRule(domain, viewer, input),
  }),
  updateApprovalRule: t.field({
    type: UpdateResult,
    description: 'Changes an approval rule. Pending requests stay unchanged.',
    args: { input: t.arg({ type: UpdateApprovalRuleInput, required: true, description: 'The change.' }) },
    resolve: (_root, { input: { approvalRuleId: id, ...change } }, { domain, viewer }) =>
      updateApprovalRule(domain, viewer, { id, ...change }),
  }),
  deleteApprovalRule: t.field({
    type: declareDeletion('DeleteApprovalRule', { description: 'The rule was deleted.' }),
    description: 'Deletes an approval rule. Pending requests stay.',
    args: { input: t.arg({ type: DeleteApprovalRuleInput, required: true, description: 'The rule.' }) },
    resolve: (_root, { input: { approvalRuleId: id, ...more } }, { domain, viewer }) =>
      deleteApprovalRule(domain, viewer, { id, ...more }),
  }),
}))

const ApprovalRulePreview = builder.objectRef<RulePreview>('ApprovalRulePreview').implement({
  description: 'The recent jobs that an approval rule would have matched.',
  fields: (t) => ({
    consideredCount: t.exposeInt('consideredCount', {
      description: `Jobs that were compared with the rule: the newest ${rulePreviewJobsMax} that you may see.`,
    }),
    matchedCount: t.int({
      description: 'Jobs among them that the rule would have matched.',
      resolve: ({ jobIds }) => jobIds.length,
    }),
    jobs: t.field({
      type: [JobRef],
      description: `The matched jobs, the newest first; at most ${rulePreviewJobsMax}.`,
      complexity: { multiplier: rulePreviewJobsMax },
      async resolve({ jobIds }, _args, { load }) {
        const jobs = await Promise.all(jobIds.map((id) => load.job.load(id)))
        return jobs.filter((job) => job !== null)
      },
    }),
  }),
})

const PreviewApprovalRuleInput = builder.inputType('PreviewApprovalRuleInput', {
  description: 'A rule that is not stored.',
  fields: (t) => ({
    condition: t.field({
      type: ConditionInput,
      required: true,
      description: 'The submissions that the rule would apply to.',
    }),
    exemptLevels: t.field({
      type: [UserLevel],
      ...capList(userLevels.length, 'User levels that the rule would not apply to'),
    }),
  }),
})

builder.queryField('previewApprovalRule', (t) =>
  t.field({
    type: declareResult('PreviewApprovalRule', ApprovalRulePreview),
    description:
      'Compares a rule with the newest 100 jobs, as if it were the only rule; costs and hardware are those of the pools now. Nothing is stored.',
    complexity: 1 + questionCost,
    args: { input: t.arg({ type: PreviewApprovalRuleInput, required: true, description: 'The rule to compare.' }) },
    resolve: (_root, { input }, { listSql, viewer }) => previewApprovalRule(listSql, viewer, input),
  }),
)
