import { builder } from '../builder.ts'
import type { ServerFacts } from '../context.ts'
import { limits } from '../limits.ts'

/** What a client should know of the server before it asks for more. */
const forEver = 0

const ServerInfo = builder.objectRef<ServerFacts>('ServerInfo').implement({
  description: 'The server.',
  fields: (t) => ({
    name: t.string({ description: 'Berth.', resolve: () => 'Berth' }),
    version: t.exposeString('version', { description: 'Its version.' }),
    singleUser: t.exposeBoolean('singleUser', { description: 'Whether there is one user, who need not log in.' }),
    maxPageSize: t.int({ description: 'Nodes of a page at most.', resolve: () => limits.pageSizeMax }),
    maxQueryCost: t.int({
      description: 'What one request may cost; see extensions.cost.',
      resolve: () => limits.costMax,
    }),
    maxSubscriptionsPerConnection: t.int({
      description: 'Operations that one WebSocket carries at a time.',
      resolve: () => limits.subscriptionsPerConnectionMax,
    }),
    eventRetentionDays: t.int({
      description: 'Days that events of final jobs are kept; 0: for ever.',
      resolve: ({ eventRetentionDays }) => eventRetentionDays ?? forEver,
    }),
    logRetentionDays: t.int({
      description: 'Days that output of final jobs is kept; 0: for ever.',
      resolve: ({ logRetentionDays }) => logRetentionDays ?? forEver,
    }),
  }),
})

builder.queryField('serverInfo', (t) =>
  t.field({ type: ServerInfo, description: 'The server.', resolve: (_root, _args, { facts }) => facts }),
)
