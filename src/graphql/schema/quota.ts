import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { quotaActions, quotaScopes, quotaTypes } from '../../domain/limits/quota-rules.ts'
import { createQuota, deleteQuota, type Quota, quotasVisibleTo, updateQuota } from '../../domain/limits/quotas.ts'
import { type QuotaUsage, quotaUsageOf } from '../../domain/submission/quota-usage.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { type Bind, readPages, requestPage } from '../keyset.ts'
import { quotasListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { QuotaRef } from '../refs.ts'
import { DeleteResult } from './delete-result.ts'
import { seen } from './problem.ts'
import { ViewerRef } from './viewer.ts'

/** Limits on submissions. */
const QuotaType = builder.enumType('QuotaType', {
  description:
    'What is counted: jobs that are not final, submissions or their cost in the last 60 min, 24 h or 30 d, GPUs.',
  values: quotaTypes,
})

const QuotaAction = builder.enumType('QuotaAction', {
  description: 'What crossing it does: refuse, warn, or ask for an approval.',
  values: quotaActions,
})

const QuotaScope = builder.enumType('QuotaScope', {
  description:
    'Whom it limits. USER wins over LEVEL, and LEVEL over GLOBAL, each by the usage of one person; TEAM and ACCOUNT are ceilings over the usage of all together.',
  values: quotaScopes,
})

builder.node(QuotaRef, {
  description: 'A limit on submissions.',
  id: { resolve: (quota) => quota.id, description: 'quota_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.quota.load(id))),
  fields: (t) => ({
    type: t.expose('type', { type: QuotaType, description: 'What is counted.' }),
    action: t.expose('action', { type: QuotaAction, description: 'What crossing it does.' }),
    scope: t.expose('scope', { type: QuotaScope, description: 'Whom it limits.' }),
    key: t.exposeString('key', {
      nullable: true,
      description: 'Name of the level, user, team or account; null: GLOBAL.',
    }),
    limit: t.exposeFloat('limit', { description: 'The most that is allowed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

const QuotaConnection = connectionType<Quota>('Quota', QuotaRef)

builder.queryField('quotas', (t) =>
  t.field({
    type: QuotaConnection,
    description: 'Quotas, oldest first: those that may concern you, and with job.view.all all of them.',
    args: t.arg.connectionArgs(),
    complexity: pageCost,
    async resolve(_root, args, { domain, viewer, load }) {
      const listing = quotasListing
      const where = (bind: Bind) => quotasVisibleTo(viewer, 'q', bind)
      const page = requestPage(listing, null, args)
      const pages = await readPages(domain.db.sql, { listing, where, parents: [''], filterOf: () => null, page })
      return toConnection(pages.get(''), (ids) => load.quota.loadMany(ids))
    },
  }),
)

const QuotaUsageRef = builder.objectRef<QuotaUsage>('QuotaUsage').implement({
  description: 'A quota as it meets one person now.',
  fields: (t) => ({
    type: t.expose('type', { type: QuotaType, description: 'What is counted.' }),
    action: t.expose('action', { type: QuotaAction, description: 'What crossing it does.' }),
    scope: t.exposeString('scope', { description: 'Whose usage is counted: user:ann, team:ml, account:ml.vision.' }),
    limit: t.exposeFloat('limit', { description: 'The most that is allowed.' }),
    used: t.exposeFloat('used', { description: 'How much is used.' }),
    warning: t.exposeBoolean('warning', { description: 'Whether 80 % are used.' }),
    ceiling: t.exposeString('ceiling', {
      nullable: true,
      description: 'The team or account whose ceiling it is, as in `scope`; null: none, it is your own quota.',
    }),
  }),
})

builder.objectFields(ViewerRef, (t) => ({
  quotas: t.field({
    type: [QuotaUsageRef],
    description: 'The strictest quota of each type and action that your submissions meet.',
    resolve: (viewer, _args, { domain }) => quotaUsageOf(domain, viewer),
  }),
}))

const written = (name: string, description: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description,
    fields: (t) => ({
      quota: t.field({
        type: QuotaRef,
        description: 'The quota.',
        resolve: ({ id }, _args, { load }) => seen(load.quota.load(id)),
      }),
    }),
  })

const CreateQuotaSuccess = written('CreateQuotaSuccess', 'The quota holds from now on.')

const CreateQuotaResult = builder.errorUnion('CreateQuotaResult', {
  description: 'What became of a new quota.',
  types: [CreateQuotaSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => CreateQuotaSuccess,
})

const CreateQuotaInput = builder.inputType('CreateQuotaInput', {
  description: 'A new quota; there is one of each type, action, scope and key.',
  fields: (t) => ({
    type: t.field({ type: QuotaType, required: true, description: 'What is counted.' }),
    action: t.field({ type: QuotaAction, required: true, description: 'What crossing it does.' }),
    scope: t.field({ type: QuotaScope, required: true, description: 'Whom it limits.' }),
    key: t.string({ description: 'Name of the level, user, team or account; not for GLOBAL.' }),
    limit: t.float({ required: true, description: 'The most that is allowed; 0: nothing.' }),
  }),
})

builder.mutationField('createQuota', (t) =>
  t.field({
    type: CreateQuotaResult,
    description: 'Makes a quota.',
    args: { input: t.arg({ type: CreateQuotaInput, required: true, description: 'The quota.' }) },
    resolve: async (_root, { input }, { domain, viewer }) => ({ id: await createQuota(domain, viewer, input) }),
  }),
)

const UpdateQuotaSuccess = written('UpdateQuotaSuccess', 'The quota was changed.')

const UpdateQuotaResult = builder.errorUnion('UpdateQuotaResult', {
  description: 'What became of a change of a quota.',
  types: [UpdateQuotaSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => UpdateQuotaSuccess,
})

const UpdateQuotaInput = builder.inputType('UpdateQuotaInput', {
  description: 'A change of a quota; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'quota_…' }),
    action: t.field({ type: QuotaAction, description: 'What crossing it does.' }),
    limit: t.float({ description: 'The most that is allowed.' }),
  }),
})

builder.mutationField('updateQuota', (t) =>
  t.field({
    type: UpdateQuotaResult,
    description: 'Changes a quota.',
    args: { input: t.arg({ type: UpdateQuotaInput, required: true, description: 'The change.' }) },
    resolve: async (_root, { input }, { domain, viewer }) => ({ id: await updateQuota(domain, viewer, input) }),
  }),
)

const DeleteQuotaInput = builder.inputType('DeleteQuotaInput', {
  description: 'Which quota is to go.',
  fields: (t) => ({ id: t.id({ required: true, description: 'quota_…' }) }),
})

builder.mutationField('deleteQuota', (t) =>
  t.field({
    type: DeleteResult,
    description: 'Removes a quota.',
    args: { input: t.arg({ type: DeleteQuotaInput, required: true, description: 'Which quota.' }) },
    resolve: (_root, { input }, { domain, viewer }) => deleteQuota(domain, viewer, input),
  }),
)
