import { limits } from '../../caller-limits.ts'
import type { ServerFacts, ServerLink } from '../../rows/context.ts'
import { builder, known } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns } from '../frame/fields.ts'

const serverId = 'server'

const LinkTarget = builder.enumType('LinkTarget', {
  description: 'Where a page shows a link of the installation.',
  values: describeValues({
    MENU: 'The menu of the page.',
    JOB: 'The page of a job; {id} in the URL stands for its id.',
    NODE: 'The details of a node; {name} in the URL stands for its name.',
  }),
})

const ServerLinkRef = builder.objectRef<ServerLink>('ServerLink').implement({
  description: 'A link that the configuration adds to pages, for example to a dashboard.',
  fields: (t) => ({
    ...exposeColumns(t, {
      title: ['String', 'Text of the link.'],
      url: ['String', 'URL by http or https, with the placeholder of its target.'],
    }),
    on: t.expose('on', { type: LinkTarget, description: 'Where pages show the link.' }),
  }),
})

/** Callers without a token get only the fields for login. */
export const ServerInfoRef = builder.objectRef<ServerFacts>('ServerInfo')

builder.node(ServerInfoRef, {
  description: 'Facts about the server.',
  id: { resolve: () => serverId, description: 'Global id, for `node`, always the same.' },
  loadMany: async (ids, { facts }) => ids.map((id) => (id === serverId ? facts : null)),
  fields: (t) => ({
    ...exposeColumns(t, {
      title: ['String', 'Name of the installation, from the configuration; default Berth.'],
      accent: [
        'String?',
        'Accent colour of the installation as #RRGGBB, so that two are not confused; null: not configured.',
      ],
      singleUser: ['Boolean', 'Whether the server runs in single-user mode, without login.'],
    }),
    name: t.string({ description: 'Name of the product: Berth.', resolve: () => 'Berth' }),
    publicUrl: t.exposeString('publicUrl', {
      authScopes: known,
      nullable: true,
      description: 'Address for jobs and people; null: not configured.',
    }),
    links: t.expose('links', {
      type: [ServerLinkRef],
      authScopes: known,
      description: 'Links that the configuration adds to pages. At most 20.',
    }),
    release: t.exposeString('version', { description: 'Version of Berth, by semantic versioning.' }),
    at: t.field({
      type: 'DateTime',
      description: 'Current time of the clock that all timestamps use.',
      resolve: (_facts, _args, { domain }) => new Date(domain.time.nowMs()),
    }),
    oidcIssuer: t.string({
      nullable: true,
      description: 'Issuer URL of the OpenID provider for login; null: not configured.',
      resolve: ({ oidc }) => oidc?.issuer,
    }),
    oidcClientId: t.string({
      nullable: true,
      description:
        'Client id for log-ins at the OpenID provider, by the console and the command line; null: not configured.',
      resolve: ({ oidc }) => oidc?.clientId,
    }),
    oidcScopes: t.stringList({
      description: 'Scopes that log-ins request from the OpenID provider; empty: not configured.',
      resolve: ({ oidc }) => [...(oidc?.scopes ?? [])],
    }),
    maxPageSize: t.int({
      authScopes: known,
      description: 'Maximum number of items per page.',
      resolve: () => limits.pageSizeMax,
    }),
    maxQueryCost: t.int({
      authScopes: known,
      description: 'Maximum cost of a request; see `extensions.cost` of a response.',
      resolve: () => limits.costMax,
    }),
    maxSubscriptionsPerConnection: t.int({
      authScopes: known,
      description: 'Maximum number of concurrent operations on one WebSocket.',
      resolve: () => limits.operationsPerSocketMax,
    }),
    eventRetentionDays: t.exposeInt('eventRetentionDays', {
      authScopes: known,
      nullable: true,
      description: 'Days that events of final jobs are kept; null: forever.',
    }),
    logRetentionDays: t.exposeInt('logRetentionDays', {
      authScopes: known,
      nullable: true,
      description: 'Days that output of final jobs is kept; null: forever.',
    }),
  }),
})

builder.objectField(ServerInfoRef, 'jobsHost', (t) =>
  t.exposeString('jobsHost', {
    authScopes: known,
    nullable: true,
    description:
      'A port of a running job is at the name `<id without job_>-<port>.<jobsHost>`, opened with a ticket of `openForward`; null: not configured.',
  }),
)

builder.queryField('serverInfo', (t) =>
  t.field({
    type: ServerInfoRef,
    skipTypeScopes: true,
    description: 'Facts about the server.',
    resolve: (_root, _args, { facts }) => facts,
  }),
)
