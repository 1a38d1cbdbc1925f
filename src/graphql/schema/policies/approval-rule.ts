import { userLevels } from '../../../domain/access.ts'
import {
  createApprovalRule,
  deleteApprovalRule,
  updateApprovalRule,
} from '../../../domain/control/approval-rule-changes.ts'
import { type ApprovalCondition, expiresAfterSecondsDefault } from '../../../domain/control/approval-rules.ts'
import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { previewApprovalRule, type RulePreview, rulePreviewJobsMax } from '../../../domain/submission/rule-preview.ts'
import type { ApprovalRule } from '../../../platform/generated/client.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { questionCost } from '../../caller-limits.ts'
import { approvalRulesListing } from '../../rows/listings.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { ExecutorKind, UserLevel } from '../frame/enums.ts'
import { expectedVersion, exposeColumns, objectField, versionField } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareDeleteMutation, declareMutation } from '../frame/mutation.ts'
import { declareResult, type SuccessFields } from '../frame/mutation-result.ts'
import { ApprovalRuleRef, JobRef } from '../frame/refs.ts'

const conditionWords = {
  costAbove: 'Matches when the submission costs more than this amount.',
  hardware: 'Glob on the requested GPU and CPU models; case-insensitive.',
  executor: 'Matches jobs that run on this executor.',
  levelNotIn: 'Matches when the level of the user is not in this list.',
  jobsPerDayAbove:
    'Matches when the user submitted more than this number of jobs in the last 24 hours, including this one.',
  firstJob: 'true: matches the first job of a user. false: matches all later ones.',
  name: 'Glob on the job name, or a regular expression if written as ^…$.',
} as const

const ruleWords = {
  name: 'Display name, unique.',
  condition: 'The submissions that the rule applies to.',
  priority: 'Rules with a higher priority are evaluated first.',
  enabled: 'Whether the rule is evaluated.',
  exemptLevels: 'User levels that the rule does not apply to',
  requiredLevel: 'Lowest user level that may decide.',
  expiresAfterSeconds: 'Seconds until an undecided request expires.',
} as const

const Condition = builder.objectRef<ApprovalCondition>('ApprovalCondition').implement({
  description: 'A condition on submissions; exactly one field is set.',
  fields: (t) => ({
    ...exposeColumns(t, {
      costAbove: ['Float?', conditionWords.costAbove],
      hardware: ['String?', conditionWords.hardware],
      jobsPerDayAbove: ['Int?', conditionWords.jobsPerDayAbove],
      firstJob: ['Boolean?', conditionWords.firstJob],
      name: ['String?', conditionWords.name],
    }),
    executor: t.expose('executor', { type: ExecutorKind, nullable: true, description: conditionWords.executor }),
    levelNotIn: t.field({
      type: [UserLevel],
      nullable: true,
      description: conditionWords.levelNotIn,
      resolve: ({ levelNotIn }) => levelNotIn && [...levelNotIn],
    }),
  }),
})

builder.node(ApprovalRuleRef, {
  description: 'A rule that makes submissions require approval. The first matching rule applies.',
  id: { resolve: (rule) => rule.id, description: 'Global id, for `node`: rule_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.approvalRule.load(id))),
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', ruleWords.name],
      priority: ['Int', ruleWords.priority],
      enabled: ['Boolean', ruleWords.enabled],
      expiresAfterSeconds: ['Int', ruleWords.expiresAfterSeconds],
    }),
    condition: t.field({
      type: Condition,
      description: ruleWords.condition,
      resolve: ({ condition }) => condition as ApprovalCondition,
    }),
    exemptLevels: t.expose('exemptLevels', { type: [UserLevel], description: `${ruleWords.exemptLevels}.` }),
    requiredLevel: t.expose('requiredLevel', { type: UserLevel, description: ruleWords.requiredLevel }),
    version: t.expose('version', versionField),
  }),
})

const ApprovalRuleConnection = declareConnection<ApprovalRule>('ApprovalRule', ApprovalRuleRef)

declareList('approvalRules', ApprovalRuleConnection, {
  description: 'All approval rules, in order of evaluation.',
  listing: approvalRulesListing,
  loader: (load) => load.approvalRule,
})

const ConditionInput = builder.inputType('ApprovalConditionInput', {
  description: 'A condition on submissions; set exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    costAbove: t.float({ description: conditionWords.costAbove }),
    hardware: t.string({ description: conditionWords.hardware }),
    executor: t.field({ type: ExecutorKind, description: conditionWords.executor }),
    levelNotIn: t.field({
      type: [UserLevel],
      ...capList(userLevels.length, conditionWords.levelNotIn.replace(/\.$/, '')),
    }),
    jobsPerDayAbove: t.int({ description: conditionWords.jobsPerDayAbove }),
    firstJob: t.boolean({ description: conditionWords.firstJob }),
    name: t.string({ description: conditionWords.name }),
  }),
})

const storedRule = (t: SuccessFields) => ({
  rule: objectField(t, 'id', 'The rule as stored, with its id.', 'approvalRule'),
})

declareMutation('createApprovalRule', {
  description: 'Creates an approval rule, which applies to later submissions.',
  input: {
    argumentDescription: 'The rule.',
    description: 'A new approval rule.',
    fields: (t) => ({
      name: t.string({ required: true, description: ruleWords.name }),
      condition: t.field({ type: ConditionInput, required: true, description: ruleWords.condition }),
      priority: t.int({ defaultValue: 0, description: ruleWords.priority }),
      enabled: t.boolean({ defaultValue: true, description: ruleWords.enabled }),
      exemptLevels: t.field({ type: [UserLevel], ...capList(userLevels.length, ruleWords.exemptLevels) }),
      requiredLevel: t.field({ type: UserLevel, defaultValue: 'LEAD', description: ruleWords.requiredLevel }),
      expiresAfterSeconds: t.int({
        defaultValue: expiresAfterSecondsDefault,
        description: ruleWords.expiresAfterSeconds,
      }),
    }),
  },
  success: { description: 'The rule applies to submissions from now on.', fields: storedRule },
  resolve: (input, { domain, viewer }) => createApprovalRule(domain, viewer, input),
})

declareMutation('updateApprovalRule', {
  description: 'Changes an approval rule. Pending requests stay unchanged.',
  input: {
    argumentDescription: 'The change.',
    description: 'Changes to an approval rule; omitted fields stay.',
    fields: (t) => ({
      approvalRuleId: t.id({ required: true, description: 'The rule to change.' }),
      name: t.string({ description: ruleWords.name }),
      condition: t.field({ type: ConditionInput, description: ruleWords.condition }),
      priority: t.int({ description: ruleWords.priority }),
      enabled: t.boolean({ description: ruleWords.enabled }),
      exemptLevels: t.field({ type: [UserLevel], ...capList(userLevels.length, ruleWords.exemptLevels) }),
      requiredLevel: t.field({ type: UserLevel, description: ruleWords.requiredLevel }),
      expiresAfterSeconds: t.int({ description: ruleWords.expiresAfterSeconds }),
      expectedVersion: t.field(expectedVersion('rule')),
    }),
  },
  success: { description: 'The changed rule applies to submissions from now on.', fields: storedRule },
  problems: [NotFound, VersionConflict],
  resolve: ({ approvalRuleId: id, ...change }, { domain, viewer }) =>
    updateApprovalRule(domain, viewer, { id, ...change }),
})

declareDeleteMutation('deleteApprovalRule', {
  noun: 'rule',
  description: 'Deletes an approval rule. Pending requests stay.',
  idField: 'approvalRuleId',
  remove: deleteApprovalRule,
})

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
