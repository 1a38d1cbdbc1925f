import { demandOwn, tokenScopes } from '../../domain/access.ts'
import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { createToken, revokeToken } from '../../domain/people/tokens.ts'
import { Unavailable } from '../../platform/tx.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { type Bind, readPages, requestPage } from '../keyset.ts'
import { tokensListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { ApiTokenRef, UserRef } from '../refs.ts'
import { TokenScope } from './enums.ts'
import { seen } from './problem.ts'

/** Secrets that stand for people. */
builder.node(ApiTokenRef, {
  description: 'A secret that stands for a person. The secret itself is shown once, when it is made.',
  id: { resolve: (token) => token.id, description: 'token_…' },
  async loadMany(ids, { load, viewer }) {
    const tokens = await Promise.all(ids.map((id) => load.token.load(id)))
    return tokens.map((token) =>
      token && (token.userId === viewer.userId || viewer.granted.has('token.any')) ? token : null,
    )
  },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name given by its maker.' }),
    prefix: t.exposeString('prefix', { description: 'First characters of the secret, to tell it from others.' }),
    user: t.field({
      type: UserRef,
      description: 'Whom it stands for.',
      resolve: ({ userId }, _args, { load }) => seen(load.user.load(userId)),
    }),
    scopes: t.field({
      type: [TokenScope],
      description: 'What it may be used for, as far as its user may.',
      resolve: ({ scopes }) => scopes,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null: never.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute; null: not yet.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null: it was not.',
    }),
  }),
})

export const ApiTokenConnection = connectionType('ApiToken', ApiTokenRef)

builder.queryField('tokens', (t) =>
  t.field({
    type: ApiTokenConnection,
    description: 'Tokens of a person, the newest first. Those of others with token.any.',
    args: {
      ...t.arg.connectionArgs(),
      userId: t.arg.id({ description: 'Of whom; default: all that you may see.' }),
    },
    complexity: pageCost,
    async resolve(_root, { userId, ...args }, { domain: { db }, viewer, load }) {
      if (userId != null) demandOwn(viewer, userId, 'token.any')
      const ofUser = userId ?? (viewer.granted.has('token.any') ? null : viewer.userId)
      const where = (bind: Bind) => (ofUser === null ? 'TRUE' : `t.user_id = ${bind(ofUser)}`)
      const page = requestPage(tokensListing, ofUser, args)
      const query = { listing: tokensListing, page, parents: [''], filterOf: () => ofUser, where }
      return toConnection((await readPages(db.sql, query)).get(''), (ids) => load.token.loadMany(ids))
    },
  }),
)

// ── writing ──

const CreateTokenInput = builder.inputType('CreateTokenInput', {
  description: 'A new token.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What it is for, 1 … 255 characters.' }),
    userId: t.id({ description: 'Whom it stands for; default: you. Others with token.any.' }),
    scopes: t.field({
      type: [TokenScope],
      ...atMost(tokenScopes.length, 'What it may be used for (default: all that you may)'),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description:
        'When it ends by itself, not later than what you are logged in with; default: when that ends, or never if it does not.',
    }),
  }),
})

const CreateTokenSuccess = builder.objectRef<{ tokenId: string; secret: string }>('CreateTokenSuccess').implement({
  description: 'The token is made.',
  fields: (t) => ({
    token: t.field({
      type: ApiTokenRef,
      description: 'The token.',
      resolve: ({ tokenId }, _args, { load }) => seen(load.token.load(tokenId)),
    }),
    secret: t.exposeString('secret', { description: 'The secret. It is shown here and nowhere else.' }),
  }),
})

const CreateTokenResult = builder.errorUnion('CreateTokenResult', {
  description: 'What became of a new token.',
  types: [CreateTokenSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => CreateTokenSuccess,
})

builder.mutationField('createToken', (t) =>
  t.field({
    type: CreateTokenResult,
    description: 'Makes a token.',
    args: { input: t.arg({ type: CreateTokenInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { domain, viewer }) => createToken(domain, viewer, input),
  }),
)

const RevokeTokenSuccess = builder.objectRef<{ tokenId: string }>('RevokeTokenSuccess').implement({
  description: 'The token is dead; what was open with it ends within seconds.',
  fields: (t) => ({
    token: t.field({
      type: ApiTokenRef,
      description: 'The token.',
      resolve: ({ tokenId }, _args, { load }) => seen(load.token.load(tokenId)),
    }),
  }),
})

const RevokeTokenResult = builder.errorUnion('RevokeTokenResult', {
  description: 'What became of a revocation.',
  types: [RevokeTokenSuccess, NotFound, Forbidden, Unavailable],
  resolveType: () => RevokeTokenSuccess,
})

builder.mutationField('revokeToken', (t) =>
  t.field({
    type: RevokeTokenResult,
    description: 'Revokes a token; again changes nothing.',
    args: { id: t.arg.id({ required: true, description: 'The token.' }) },
    resolve: (_root, { id }, { domain, viewer }) => revokeToken(domain, viewer, id),
  }),
)
