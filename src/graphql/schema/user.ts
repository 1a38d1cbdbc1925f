import { demandOwn, permissionsMax, seesPeople } from '../../domain/access.ts'
import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { teamsOfUserMax } from '../../domain/people/teams.ts'
import { createUser, deleteUser, updateUser } from '../../domain/people/users.ts'
import { Unavailable } from '../../platform/tx.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { type Bind, readPages, requestPage } from '../keyset.ts'
import { usersListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { TeamRef, UserRef } from '../refs.ts'
import { DeleteResult } from './delete-result.ts'
import { UserLevel } from './enums.ts'
import { seen } from './problem.ts'
import { ApiTokenConnection } from './token.ts'

const UserIdentity = builder.objectRef<{ oidcIssuer: string; oidcSubject: string }>('UserIdentity').implement({
  description: 'Who a person is at an OpenID provider.',
  fields: (t) => ({
    issuer: t.exposeString('oidcIssuer', { description: 'The provider, as `iss` of its tokens names it.' }),
    subject: t.exposeString('oidcSubject', { description: 'The person, as `sub` of its tokens names them.' }),
  }),
})

/** People. What concerns one alone is for them, and for whoever may write users or tokens. */
builder.node(UserRef, {
  description: 'A person. In single-user mode there is one: `local`.',
  id: { resolve: (user) => user.id, description: 'user_…' },
  loadMany: (ids, { load, viewer }) =>
    Promise.all(ids.map((id) => (id === viewer.userId || seesPeople(viewer) ? load.user.load(id) : null))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Log-in name, unique.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'Name to show, where it differs.' }),
    email: t.exposeString('email', { nullable: true, description: 'Mail address, if known.' }),
    level: t.expose('level', { type: UserLevel, description: 'Decides base priority and permissions.' }),
    disabled: t.exposeBoolean('disabled', { description: 'Whether the person cannot log in; jobs go on.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person became known.' }),
    teams: t.field({
      type: [TeamRef],
      description: 'Teams of the person that you may see, at most 50.',
      async resolve({ id }, _args, { load, viewer }) {
        const teams = (await load.teamsOfUser.load(id)).map(({ team }) => team)
        if (id === viewer.userId || seesPeople(viewer)) return teams
        const mine = new Set((await load.teamsOfUser.load(viewer.userId)).map(({ teamId }) => teamId))
        return teams.filter((team) => mine.has(team.id))
      },
    }),
    defaultTeam: t.field({
      type: TeamRef,
      nullable: true,
      description: 'The team of submissions that name none. For the person, or with user.write.',
      resolve({ id, defaultTeamId }, _args, { load, viewer }) {
        demandOwn(viewer, id, 'user.write')
        return defaultTeamId === null ? null : load.team.load(defaultTeamId)
      },
    }),
    allow: t.stringList({
      description: 'Permissions beyond those of the level. For the person, or with user.write.',
      resolve({ id, allow }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return allow
      },
    }),
    deny: t.stringList({
      description: 'Permissions taken away; this wins. For the person, or with user.write.',
      resolve({ id, deny }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return deny
      },
    }),
    unixUser: t.string({
      nullable: true,
      description:
        "Account of the machine that their jobs run as; null: the server's own. For the person, or with user.write.",
      resolve({ id, unixUser }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return unixUser
      },
    }),
    identity: t.field({
      type: UserIdentity,
      nullable: true,
      description:
        'By whom they log in at the OpenID provider; null: by tokens alone. For the person, or with user.write.',
      resolve({ id, oidcIssuer, oidcSubject }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return oidcIssuer === null || oidcSubject === null ? null : { oidcIssuer, oidcSubject }
      },
    }),
    tokens: t.field({
      type: ApiTokenConnection,
      description: 'Their tokens, the newest first. For the person, or with token.any.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      async resolve({ id }, args, { load, viewer }) {
        demandOwn(viewer, id, 'token.any')
        return toConnection(await load.tokensOfUser.load(id, args), (ids) => load.token.loadMany(ids))
      },
    }),
  }),
})

export const UserConnection = connectionType('User', UserRef)

builder.queryField('users', (t) =>
  t.field({
    type: UserConnection,
    description: 'People that you may see, disabled ones too, in the order in which they became known.',
    args: t.arg.connectionArgs(),
    complexity: pageCost,
    async resolve(_root, args, { domain: { db }, viewer, load }) {
      const where = (bind: Bind) => (seesPeople(viewer) ? 'TRUE' : `u.id = ${bind(viewer.userId)}`)
      const page = requestPage(usersListing, null, args)
      const query = { listing: usersListing, page, parents: [''], filterOf: () => null, where }
      return toConnection((await readPages(db.sql, query)).get(''), (ids) => load.user.loadMany(ids))
    },
  }),
)

// ── writing ──

const names = {
  displayName: 'Name to show.',
  email: 'Mail address.',
  teams: atMost(teamsOfUserMax, 'Names of all of their teams'),
  defaultTeam: 'The one of them for submissions that name none.',
  allow: atMost(permissionsMax, 'Permissions beyond those of the level'),
  deny: atMost(permissionsMax, 'Permissions to take away, which wins'),
  unixUser: 'Account of the machine that their jobs run as.',
} as const

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'A new person.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Log-in name, unique, for ever.' }),
    level: t.field({ type: UserLevel, required: true, description: 'Decides base priority and permissions.' }),
    displayName: t.string({ description: names.displayName }),
    email: t.string({ description: names.email }),
    teams: t.stringList(names.teams),
    defaultTeam: t.string({ description: names.defaultTeam }),
    allow: t.stringList(names.allow),
    deny: t.stringList(names.deny),
    unixUser: t.string({ description: names.unixUser }),
  }),
})

const UserIdentityInput = builder.inputType('UserIdentityInput', {
  description: 'Who a person is at an OpenID provider.',
  fields: (t) => ({
    issuer: t.string({ required: true, description: 'The provider: auth.oidc.issuer of the configuration.' }),
    subject: t.string({ required: true, description: 'The person: `sub` of the tokens of the provider.' }),
  }),
})

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'What is to change of a person; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The person.' }),
    level: t.field({ type: UserLevel, description: 'Decides base priority and permissions.' }),
    displayName: t.string({ description: names.displayName }),
    email: t.string({ description: names.email }),
    teams: t.stringList(names.teams),
    defaultTeam: t.string({ description: names.defaultTeam }),
    allow: t.stringList(names.allow),
    deny: t.stringList(names.deny),
    unixUser: t.string({ description: names.unixUser }),
    disabled: t.boolean({ description: 'Whether the person cannot log in; their jobs go on.' }),
    identity: t.field({
      type: UserIdentityInput,
      description: 'Who logs in as this person by the OpenID provider; null: nobody any more.',
    }),
  }),
})

interface Written {
  id: string
}

const CreateUserSuccess = builder.objectRef<Written>('CreateUserSuccess').implement({
  description: 'The person is known.',
  fields: (t) => ({
    user: t.field({
      type: UserRef,
      description: 'The person.',
      resolve: ({ id }, _args, { load }) => seen(load.user.load(id)),
    }),
  }),
})

const UpdateUserSuccess = builder.objectRef<Written>('UpdateUserSuccess').implement({
  description: 'The change is made.',
  fields: (t) => ({
    user: t.field({
      type: UserRef,
      description: 'The person.',
      resolve: ({ id }, _args, { load }) => seen(load.user.load(id)),
    }),
  }),
})

const CreateUserResult = builder.errorUnion('CreateUserResult', {
  description: 'What became of a new person.',
  types: [CreateUserSuccess, InvalidInput, Forbidden, Unavailable],
  resolveType: () => CreateUserSuccess,
})

const UpdateUserResult = builder.errorUnion('UpdateUserResult', {
  description: 'What became of a change.',
  types: [UpdateUserSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => UpdateUserSuccess,
})

builder.mutationField('createUser', (t) =>
  t.field({
    type: CreateUserResult,
    description: 'Makes a person known.',
    args: { input: t.arg({ type: CreateUserInput, required: true, description: 'Who.' }) },
    resolve: (_root, { input }, { domain, viewer }) => createUser(domain, viewer, input),
  }),
)

builder.mutationField('updateUser', (t) =>
  t.field({
    type: UpdateUserResult,
    description: 'Changes a person.',
    args: { input: t.arg({ type: UpdateUserInput, required: true, description: 'Who, and what.' }) },
    resolve: (_root, { input }, { domain, viewer }) => updateUser(domain, viewer, input),
  }),
)

const DeleteUserInput = builder.inputType('DeleteUserInput', {
  description: 'Who is to go.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The person.' }) }),
})

builder.mutationField('deleteUser', (t) =>
  t.field({
    type: DeleteResult,
    description: 'Disables a person and revokes their tokens. Their jobs go on, and the audit log keeps their name.',
    args: { input: t.arg({ type: DeleteUserInput, required: true, description: 'Who.' }) },
    resolve: (_root, { input }, { domain, viewer }) => deleteUser(domain, viewer, input),
  }),
)
