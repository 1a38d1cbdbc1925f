import { builder, known } from '../builder.ts'
import type { ServerFacts } from '../context.ts'
import { limits } from '../limits.ts'

/** What a client should know of the server before it asks for more. Who has not logged in gets what that takes. */
const forEver = 0

const ServerInfo = builder.objectRef<ServerFacts>('ServerInfo').implement({
  description: 'The server.',
  fields: (t) => ({
    name: t.string({ description: 'Berth.', resolve: () => 'Berth' }),
    version: t.exposeString('version', { description: 'Its version.' }),
    singleUser: t.exposeBoolean('singleUser', { description: 'Whether there is one user, who need not log in.' }),
    oidcIssuer: t.exposeString('oidcIssuer', {
      nullable: true,
      description: 'The OpenID provider by which people log in; null: there is none.',
    }),
    oidcClientId: t.exposeString('oidcClientId', {
      nullable: true,
      description: 'What this server is called there, for browsers; null: not said.',
    }),
    maxPageSize: t.int({
      authScopes: known,
      description: 'Nodes of a page at most.',
      resolve: () => limits.pageSizeMax,
    }),
    maxQueryCost: t.int({
      authScopes: known,
      description: 'What one request may cost; see extensions.cost.',
      resolve: () => limits.costMax,
    }),
    maxSubscriptionsPerConnection: t.int({
      authScopes: known,
      description: 'Operations that one WebSocket carries at a time.',
      resolve: () => limits.subscriptionsPerConnectionMax,
    }),
    eventRetentionDays: t.int({
      authScopes: known,
      description: 'Days that events of final jobs are kept; 0: for ever.',
      resolve: ({ eventRetentionDays }) => eventRetentionDays ?? forEver,
    }),
    logRetentionDays: t.int({
      authScopes: known,
      description: 'Days that output of final jobs is kept; 0: for ever.',
      resolve: ({ logRetentionDays }) => logRetentionDays ?? forEver,
    }),
  }),
})

builder.queryField('serverInfo', (t) =>
  t.field({
    type: ServerInfo,
    skipTypeScopes: true,
    description: 'The server.',
    resolve: (_root, _args, { facts }) => facts,
  }),
)
