import { userLevels } from '../../domain/access.ts'
import {
  createApprovalRule,
  deleteApprovalRule,
  updateApprovalRule,
} from '../../domain/control/approval-rule-changes.ts'
import type { ApprovalCondition } from '../../domain/control/approval-rules.ts'
import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import type { ApprovalRule } from '../../platform/generated/client.ts'
import { Unavailable } from '../../platform/tx.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { readPages, requestPage } from '../keyset.ts'
import { approvalRulesListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { ApprovalRuleRef } from '../refs.ts'
import { DeleteResult } from './delete-result.ts'
import { UserLevel } from './enums.ts'
import { seen } from './problem.ts'

/** When a submission needs a person's yes. */
const fieldWords = {
  costAbove: 'The submission costs more than this.',
  hardware: 'Glob over the GPU and CPU models that it asks for, whatever their case.',
  executor: 'It runs on this executor.',
  levelNotIn: 'The level of its user is none of these.',
  jobsPerDayAbove: 'It is one more than this many of its user in 24 hours.',
  firstJob: 'Whether it is the first job of its user.',
  name: 'Its name matches this glob, or this regular expression if it is written as ^…$.',
} as const

const Condition = builder.objectRef<ApprovalCondition>('ApprovalCondition').implement({
  description: 'A condition on a submission; exactly one field is set.',
  fields: (t) => ({
    costAbove: t.exposeFloat('costAbove', { nullable: true, description: fieldWords.costAbove }),
    hardware: t.exposeString('hardware', { nullable: true, description: fieldWords.hardware }),
    executor: t.exposeString('executor', { nullable: true, description: fieldWords.executor }),
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
  description: "When a submission needs a person's yes. The first rule that matches decides.",
  id: { resolve: (rule) => rule.id, description: 'rule_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.approvalRule.load(id))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name to show, unique.' }),
    priority: t.exposeInt('priority', { description: 'Rules are tried from the highest down.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is tried at all.' }),
    condition: t.field({
      type: Condition,
      description: 'What it matches.',
      // The domain wrote it.
      resolve: ({ condition }) => condition as ApprovalCondition,
    }),
    exemptLevels: t.expose('exemptLevels', { type: [UserLevel], description: 'Levels that it does not apply to.' }),
    requiredLevel: t.expose('requiredLevel', { type: UserLevel, description: 'The least level that may decide.' }),
    expiresAfterSeconds: t.exposeInt('expiresAfterSeconds', { description: 'How long a request waits.' }),
  }),
})

const ApprovalRuleConnection = connectionType<ApprovalRule>('ApprovalRule', ApprovalRuleRef)

builder.queryField('approvalRules', (t) =>
  t.field({
    type: ApprovalRuleConnection,
    description: 'All approval rules, in the order in which they are tried.',
    args: t.arg.connectionArgs(),
    complexity: pageCost,
    async resolve(_root, args, { domain: { db }, load }) {
      const listing = approvalRulesListing
      const page = requestPage(listing, null, args)
      const query = { listing, where: () => 'TRUE', parents: [''], filterOf: () => null, page }
      return toConnection((await readPages(db.sql, query)).get(''), (ids) => load.approvalRule.loadMany(ids))
    },
  }),
)

const ConditionInput = builder.inputType('ApprovalConditionInput', {
  description: 'A condition on a submission.',
  isOneOf: true,
  fields: (t) => ({
    costAbove: t.float({ description: fieldWords.costAbove }),
    hardware: t.string({ description: fieldWords.hardware }),
    executor: t.string({ description: fieldWords.executor }),
    levelNotIn: t.field({ type: [UserLevel], ...atMost(userLevels.length, fieldWords.levelNotIn.replace(/\.$/, '')) }),
    jobsPerDayAbove: t.int({ description: fieldWords.jobsPerDayAbove }),
    firstJob: t.boolean({ description: fieldWords.firstJob }),
    name: t.string({ description: fieldWords.name }),
  }),
})

const CreateApprovalRuleInput = builder.inputType('CreateApprovalRuleInput', {
  description: 'A new rule.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name to show, unique.' }),
    condition: t.field({ type: ConditionInput, required: true, description: 'What it matches.' }),
    priority: t.int({ defaultValue: 0, description: 'Rules are tried from the highest down.' }),
    enabled: t.boolean({ defaultValue: true, description: 'Whether it is tried at all.' }),
    exemptLevels: t.field({ type: [UserLevel], ...atMost(userLevels.length, 'Levels that it does not apply to') }),
    requiredLevel: t.field({
      type: UserLevel,
      defaultValue: 'LEAD',
      description: 'The least level that may decide.',
    }),
    expiresAfterSeconds: t.int({ defaultValue: 86_400, description: 'How long a request waits.' }),
  }),
})

const UpdateApprovalRuleInput = builder.inputType('UpdateApprovalRuleInput', {
  description: 'A change of a rule; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The rule.' }),
    name: t.string({ description: 'Name to show, unique.' }),
    condition: t.field({ type: ConditionInput, description: 'What it matches.' }),
    priority: t.int({ description: 'Rules are tried from the highest down.' }),
    enabled: t.boolean({ description: 'Whether it is tried at all.' }),
    exemptLevels: t.field({ type: [UserLevel], ...atMost(userLevels.length, 'Levels that it does not apply to') }),
    requiredLevel: t.field({ type: UserLevel, description: 'The least level that may decide.' }),
    expiresAfterSeconds: t.int({ description: 'How long a request waits.' }),
  }),
})

const DeleteApprovalRuleInput = builder.inputType('DeleteApprovalRuleInput', {
  description: 'Which rule is to go.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The rule.' }) }),
})

/** What a rule became. */
const successType = (name: 'CreateApprovalRuleSuccess' | 'UpdateApprovalRuleSuccess', description: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description,
    fields: (t) => ({
      rule: t.field({
        type: ApprovalRuleRef,
        description: 'The rule.',
        resolve: ({ id }, _args, { load }) => seen(load.approvalRule.load(id)),
      }),
    }),
  })

const CreateSuccess = successType('CreateApprovalRuleSuccess', 'The rule holds for submissions from now on.')
const UpdateSuccess = successType('UpdateApprovalRuleSuccess', 'The rule holds as it is now for submissions to come.')

const CreateResult = builder.errorUnion('CreateApprovalRuleResult', {
  description: 'What became of a new rule.',
  types: [CreateSuccess, InvalidInput, Forbidden, Unavailable],
  resolveType: () => CreateSuccess,
})

const UpdateResult = builder.errorUnion('UpdateApprovalRuleResult', {
  description: 'What became of a change.',
  types: [UpdateSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => UpdateSuccess,
})

builder.mutationFields((t) => ({
  createApprovalRule: t.field({
    type: CreateResult,
    description: 'Makes an approval rule.',
    args: { input: t.arg({ type: CreateApprovalRuleInput, required: true, description: 'The rule.' }) },
    resolve: (_root, { input }, { domain, viewer }) => createApprovalRule(domain, viewer, input),
  }),
  updateApprovalRule: t.field({
    type: UpdateResult,
    description: 'Changes an approval rule. Jobs that wait already keep their request.',
    args: { input: t.arg({ type: UpdateApprovalRuleInput, required: true, description: 'The change.' }) },
    resolve: (_root, { input }, { domain, viewer }) => updateApprovalRule(domain, viewer, input),
  }),
  deleteApprovalRule: t.field({
    type: DeleteResult,
    description: 'Removes an approval rule. Jobs that wait already keep their request.',
    args: { input: t.arg({ type: DeleteApprovalRuleInput, required: true, description: 'Which rule.' }) },
    resolve: (_root, { input }, { domain, viewer }) => deleteApprovalRule(domain, viewer, input),
  }),
}))
