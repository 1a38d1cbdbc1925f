import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { quotaActions, quotaScopes } from '../../../domain/limits/quota-rules.ts'
import { mapQuotaTypes, quotaTypes } from '../../../domain/limits/quota-types.ts'
import {
  createQuota,
  deleteQuota,
  type Quota,
  quotasVisibleTo,
  updateQuota,
} from '../../../domain/limits/stored-quotas.ts'
import { type QuotaUsage, readQuotaUsage } from '../../../domain/submission/own-quotas.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { limits, numbersCost } from '../../caller-limits.ts'
import type { Bind } from '../../rows/keyset.ts'
import { quotasListing } from '../../rows/listings.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { describeValues } from '../frame/enum-values.ts'
import { expectedVersion, exposeColumns, objectField, versionField } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareDeleteMutation, declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { QuotaRef } from '../frame/refs.ts'
import { parseScope, readScope, Scope, ScopeInput, ScopeKind } from '../frame/scope.ts'
import { ViewerRef } from '../people/viewer.ts'

export const QuotaTypeRef = builder.enumType('QuotaType', {
  description: 'Quantity that a quota limits.',
  values: describeValues(mapQuotaTypes(({ description }) => description)),
})

export const QuotaActionRef = builder.enumType('QuotaAction', {
  description: 'Action when a submission exceeds a quota.',
  values: describeValues({
    BLOCK: 'The submission is refused.',
    WARN: 'The submission is accepted with a warning.',
    REQUIRE_APPROVAL: 'The submission is accepted and needs an approval.',
  } satisfies Record<(typeof quotaActions)[number], string>),
})

builder.node(QuotaRef, {
  description: 'A limit on submissions.',
  id: { resolve: (quota) => quota.id, description: 'Global id, for `node`: quota_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.quota.load(id))),
  fields: (t) => ({
    ...exposeColumns(t, {
      limit: ['Float', 'Highest allowed value.'],
      createdAt: ['DateTime', 'When the quota was created.'],
    }),
    type: t.expose('type', { type: QuotaTypeRef, description: 'Quantity that the quota limits.' }),
    action: t.expose('action', { type: QuotaActionRef, description: 'Action when a submission exceeds the limit.' }),
    scope: t.field({
      type: Scope,
      description: 'Whose usage the quota limits.',
      resolve: ({ scope, key }) => ({ kind: scope, name: key }),
    }),
    version: t.expose('version', versionField),
  }),
})

const QuotaConnection = declareConnection<Quota>('Quota', QuotaRef)

const QuotaFilter = builder.inputType('QuotaFilter', {
  description: 'Filter for quotas. A quota must match all fields, and one entry of each list.',
  fields: (t) => ({
    types: t.field({ type: [QuotaTypeRef], ...capList(quotaTypes.length, 'Quotas of one of these types') }),
    actions: t.field({ type: [QuotaActionRef], ...capList(quotaActions.length, 'Quotas with one of these actions') }),
    scopes: t.field({ type: [ScopeKind], ...capList(quotaScopes.length, 'Quotas with a scope of one of these kinds') }),
    names: t.stringList(capList(limits.filterIdsMax, 'Quotas whose scope has one of these names')),
  }),
})

function filterSql({ types, actions, scopes, names }: typeof QuotaFilter.$inferInput, bind: Bind): string {
  const conditions = [
    types == null ? '' : `q.type = ANY(${bind(types)}::text[]::quota_type[])`,
    actions == null ? '' : `q.action = ANY(${bind(actions)}::text[]::quota_action[])`,
    scopes == null ? '' : `q.scope::text = ANY(${bind(scopes)}::text[])`,
    names == null ? '' : `q.key = ANY(${bind(names)}::text[])`,
  ]
  return conditions.filter(Boolean).join(' AND ') || 'TRUE'
}

declareList('quotas', QuotaConnection, {
  description: 'Quotas that may apply to you, oldest first; with job.view.all: all quotas.',
  args: (arg) => ({ filter: arg({ type: QuotaFilter, description: 'Filter; default: all.' }) }),
  listing: quotasListing,
  where: ({ filter }, { viewer }, bind) => `${quotasVisibleTo(viewer, 'q', bind)} AND ${filterSql(filter ?? {}, bind)}`,
  loader: (load) => load.quota,
})

const QuotaUsageRef = builder.objectRef<QuotaUsage>('QuotaUsage').implement({
  description: 'A quota with the current usage of one user.',
  fields: (t) => ({
    ...exposeColumns(t, {
      limit: ['Float', 'Highest allowed value.'],
      used: ['Float', 'Current usage.'],
      warning: ['Boolean', 'Whether 80 % of the limit is used.'],
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

builder.objectFields(ViewerRef, (t) => ({
  quotas: t.field({
    type: [QuotaUsageRef],
    description: 'The lowest quota per type and action that can apply to your submissions in any of your teams.',
    complexity: { field: numbersCost },
    resolve: (viewer, _args, { domain }) => readQuotaUsage(domain, viewer),
  }),
}))

const storedQuota = (t: SuccessFields) => ({
  quota: objectField(t, 'id', 'The quota as stored.', 'quota'),
})

const everyone = { scope: 'GLOBAL', name: null } as const

declareMutation('createQuota', {
  description: 'Creates a quota, which counts earlier submissions of its window as well.',
  input: {
    argumentDescription: 'The quota.',
    description: 'A new quota. The combination of type, action and scope is unique.',
    fields: (t) => ({
      type: t.field({ type: QuotaTypeRef, required: true, description: 'Quantity that the quota limits.' }),
      action: t.field({
        type: QuotaActionRef,
        required: true,
        description: 'Action when a submission exceeds the limit.',
      }),
      scope: t.field({
        type: ScopeInput,
        description:
          'Whose usage the quota limits; omitted: that of each user. USER overrides LEVEL, and LEVEL overrides GLOBAL; TEAM and ACCOUNT apply in addition.',
      }),
      limit: t.float({ required: true, description: 'Highest allowed value; 0: nothing is allowed.' }),
    }),
  },
  success: { description: 'The quota applies from now on.', fields: storedQuota },
  problems: [NotFound],
  async resolve({ scope: given, ...rule }, { domain, viewer, load }) {
    const { scope, name: key } = given ? await readScope(given, load) : everyone
    return { id: await createQuota(domain, viewer, { ...rule, scope, key }) }
  },
})

declareMutation('updateQuota', {
  description: 'Changes a quota.',
  input: {
    argumentDescription: 'The change.',
    description: 'Changes to a quota; omitted fields stay.',
    fields: (t) => ({
      quotaId: t.id({ required: true, description: 'The quota to change.' }),
      action: t.field({ type: QuotaActionRef, description: 'Action when a submission exceeds the limit.' }),
      limit: t.float({ description: 'Highest allowed value.' }),
      expectedVersion: t.field(expectedVersion('quota')),
    }),
  },
  success: { description: 'The quota was changed.', fields: storedQuota },
  problems: [NotFound, VersionConflict],
  resolve: async ({ quotaId: id, ...change }, { domain, viewer }) => ({
    id: await updateQuota(domain, viewer, { id, ...change }),
  }),
})

declareDeleteMutation('deleteQuota', {
  noun: 'quota',
  description: 'Deletes a quota; it no longer applies to submissions.',
  idField: 'quotaId',
  remove: deleteQuota,
})
