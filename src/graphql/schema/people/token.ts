import { demandOwn, tokenScopes } from '../../../domain/access.ts'
import { NotFound } from '../../../domain/errors.ts'
import { createToken, revokeToken } from '../../../domain/people/tokens.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import type { Bind } from '../../rows/keyset.ts'
import { tokensListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { TokenScope } from '../frame/enums.ts'
import { exposeColumns, objectField } from '../frame/fields.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { ApiTokenRef } from '../frame/refs.ts'

builder.node(ApiTokenRef, {
  description: 'An API token of a user. The secret is shown once, when the token is created.',
  id: { resolve: (token) => token.id, description: 'Global id, for `node`: token_…' },
  async loadMany(ids, { load, viewer }) {
    const tokens = await Promise.all(ids.map((id) => load.token.load(id)))
    return tokens.map((token) =>
      token && (token.userId === viewer.userId || viewer.granted.has('token.any')) ? token : null,
    )
  },
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Name given by its creator.'],
      prefix: ['String', 'First characters of the secret, to identify the token.'],
      createdAt: ['DateTime', 'When the token was created.'],
      expiresAt: ['DateTime?', 'When the token expires; null: never.'],
      lastUsedAt: ['DateTime?', 'When the token was last used, to the minute; null: never used.'],
      revokedAt: ['DateTime?', 'When the token was revoked; null: not revoked.'],
    }),
    user: objectField(t, 'userId', 'The user that requests with this token act as.'),
    scopes: t.field({
      type: [TokenScope],
      description: 'Scopes of the token; a token never permits more than its user may do.',
      resolve: ({ scopes }) => scopes,
    }),
  }),
})

export const ApiTokenConnection = declareConnection('ApiToken', ApiTokenRef)

builder.queryField('tokens', (t) =>
  t.field({
    type: ApiTokenConnection,
    description: 'Tokens of a user, newest first. Tokens of other users need the permission token.any.',
    args: {
      ...t.arg.connectionArgs(),
      userId: t.arg.id({ description: 'The user; default: all users that you may see.' }),
    },
    complexity: pageCost,
    async resolve(_root, { userId, ...args }, { listSql, viewer, load }) {
      if (userId != null) demandOwn(viewer, userId, 'token.any')
      const ofUser = userId ?? (viewer.granted.has('token.any') ? null : viewer.userId)
      const where = (bind: Bind) => (ofUser === null ? 'TRUE' : `t.user_id = ${bind(ofUser)}`)
      const list = await readList(listSql, { listing: tokensListing, where, filter: ofUser, args })
      return toConnection(list, (ids) => load.token.loadMany(ids))
    },
  }),
)

declareMutation('createToken', {
  description: 'Creates a token and returns its secret, which is not shown again.',
  input: {
    argumentDescription: 'The token.',
    description: 'A new token.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Name that says what the token is for, 1 … 255 characters.' }),
      userId: t.id({ description: 'The user of the token; default: you. Other users need the permission token.any.' }),
      scopes: t.field({
        type: [TokenScope],
        ...capList(tokenScopes.length, 'Scopes of the token (default: the scopes of your own credentials)'),
      }),
      expiresAt: t.field({
        type: 'DateTime',
        description:
          'When the token expires; not later than your own credentials. Default: the expiry of your credentials.',
      }),
    }),
  },
  success: {
    description: 'The token was created.',
    fields: (t: SuccessFields<{ tokenId: string; secret: string }>) => ({
      ...exposeColumns(t, { secret: ['String', 'The secret. It is shown only once, here.'] }),
      token: objectField(t, 'tokenId', 'The token without its secret.'),
    }),
  },
  problems: [NotFound],
  resolve: (input, { domain, viewer }) => createToken(domain, viewer, input),
})

declareMutation('revokeToken', {
  description: 'Revokes a token. Revoking it again changes nothing.',
  input: {
    argumentDescription: 'The token.',
    description: 'The token to revoke.',
    fields: (t) => ({ tokenId: t.id({ required: true, description: 'The token to revoke.' }) }),
  },
  success: {
    description: 'The token is revoked. Streams that were opened with it end within seconds.',
    fields: (t: SuccessFields<{ tokenId: string }>) => ({
      token: objectField(t, 'tokenId', 'The token, which is refused from now on.'),
    }),
  },
  problems: [NotFound],
  refusesInput: false,
  resolve: ({ tokenId }, { domain, viewer }) => revokeToken(domain, viewer, tokenId),
})
