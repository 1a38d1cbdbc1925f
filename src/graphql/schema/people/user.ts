import { createViewer, demandOwn, isPermission, permissionsMax, seesPeople } from '../../../domain/access.ts'
import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { teamsOfUserMax } from '../../../domain/people/teams.ts'
import { createUser, disableUser, updateUser } from '../../../domain/people/users.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import type { Bind } from '../../rows/keyset.ts'
import { usersListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { Permission, UserLevel } from '../frame/enums.ts'
import { declareResult } from '../frame/mutation-result.ts'
import { NameOrIdInput } from '../frame/name-or-id.ts'
import { requireRow } from '../frame/problem.ts'
import { TeamRef, UserRef } from '../frame/refs.ts'
import { PeopleOrderType, UserFilter, usersWhere } from './people-filter.ts'

const UserIdentity = builder.objectRef<{ oidcIssuer: string; oidcSubject: string }>('UserIdentity').implement({
  description: 'Identity of a user at an OpenID provider.',
  fields: (t) => ({
    issuer: t.exposeString('oidcIssuer', { description: 'Issuer: `iss` in the tokens of the provider.' }),
    subject: t.exposeString('oidcSubject', { description: 'Subject: `sub` in the tokens of the provider.' }),
  }),
})

/** All contents of the user are summed. */
const storedBytesCost = 10

/** Private fields are visible to the user and to callers who may write users or tokens. */
builder.node(UserRef, {
  description: 'A user. In single-user mode there is only `local`.',
  id: { resolve: (user) => user.id, description: 'Global id, for `node`: user_…' },
  loadMany: (ids, { load, viewer }) =>
    Promise.all(ids.map((id) => (id === viewer.userId || seesPeople(viewer) ? load.user.load(id) : null))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Login name, unique.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'Display name; null: same as `name`.' }),
    email: t.exposeString('email', { nullable: true, description: 'Email address; null: unknown.' }),
    level: t.expose('level', { type: UserLevel, description: 'Level; determines base priority and permissions.' }),
    disabled: t.exposeBoolean('disabled', {
      description:
        'Whether the user is disabled. A disabled user cannot log in; running jobs continue, and waiting jobs are held.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was created.' }),
    version: t.expose('version', {
      type: 'UInt53',
      description:
        'Rises with each change; pass it as `expectedVersion`, so that you do not overwrite a change of another user.',
    }),
    teams: t.field({
      type: [TeamRef],
      description: 'Teams of the user that you may see, at most 50.',
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
      description: 'Team for submissions that name no team. Visible to the user and with user.write.',
      resolve({ id, defaultTeamId }, _args, { load, viewer }) {
        demandOwn(viewer, id, 'user.write')
        return defaultTeamId === null ? null : load.team.load(defaultTeamId)
      },
    }),
    allow: t.field({
      type: [Permission],
      description: 'Permissions in addition to those of the level. Visible to the user and with user.write.',
      resolve({ id, allow }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return allow.filter(isPermission)
      },
    }),
    deny: t.field({
      type: [Permission],
      description: 'Denied permissions; deny overrides allow. Visible to the user and with user.write.',
      resolve({ id, deny }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return deny.filter(isPermission)
      },
    }),
    permissions: t.field({
      type: [Permission],
      description:
        'Permissions of the level and of `allow`, without those of `deny`. A token may have fewer permissions. Visible to the user and with user.write.',
      resolve({ id, name, level, allow, deny }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return [...createViewer({ id, name, level, allow, deny }).granted]
      },
    }),
    unixUser: t.string({
      nullable: true,
      description:
        'Unix account that the jobs of the user run as; null: the account of the server. Visible to the user and with user.write.',
      resolve({ id, unixUser }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return unixUser
      },
    }),
    storedFileBytes: t.field({
      type: 'UInt53',
      nullable: true,
      description:
        'Bytes of the contents that are stored for the user, of snapshots and of artifacts together, each content once; null: of another user, without permission to see all jobs or to write users.',
      complexity: storedBytesCost,
      resolve: async ({ id }, _args, { load, viewer }) =>
        id === viewer.userId || seesPeople(viewer) ? ((await load.storedBytes.load(id))?.bytes ?? 0) : null,
    }),
    identity: t.field({
      type: UserIdentity,
      nullable: true,
      description:
        'Identity at the OpenID provider; null: login by tokens only. Visible to the user and with user.write.',
      resolve({ id, oidcIssuer, oidcSubject }, _args, { viewer }) {
        demandOwn(viewer, id, 'user.write')
        return oidcIssuer === null || oidcSubject === null ? null : { oidcIssuer, oidcSubject }
      },
    }),
  }),
})

export const UserConnection = declareConnection('User', UserRef)

builder.queryField('users', (t) =>
  t.field({
    type: UserConnection,
    description: 'Users that you may see, including disabled ones.',
    args: {
      ...t.arg.connectionArgs(),
      filter: t.arg({ type: UserFilter, description: 'Filter; default: all.' }),
      orderBy: t.arg({ type: PeopleOrderType, description: 'Sort order; default: oldest first.' }),
    },
    complexity: pageCost,
    async resolve(_root, { filter, orderBy, ...args }, { listSql, viewer, load }) {
      const where = (bind: Bind) =>
        `${seesPeople(viewer) ? 'TRUE' : `u.id = ${bind(viewer.userId)}`} AND ${usersWhere(filter ?? {}, bind)}`
      const list = await readList(listSql, { listing: usersListing(orderBy ?? 'CREATED_AT'), where, filter, args })
      return toConnection(list, (ids) => load.user.loadMany(ids))
    },
  }),
)

const names = {
  displayName: 'Name that pages show; default: the log-in name.',
  email: 'Email address.',
  teams: capList(teamsOfUserMax, 'All teams of the user'),
  defaultTeam: 'Team for submissions that name no team; must be one of `teams`.',
  allow: capList(permissionsMax, 'Permissions in addition to those of the level'),
  deny: capList(permissionsMax, 'Permissions to deny; deny overrides allow'),
  unixUser: 'Unix account that the jobs of the user run as.',
} as const

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'A new user.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Login name, unique; cannot be changed later.' }),
    level: t.field({
      type: UserLevel,
      required: true,
      description: 'Level; determines base priority and permissions.',
    }),
    displayName: t.string({ description: names.displayName }),
    email: t.string({ description: names.email }),
    teams: t.field({ type: [NameOrIdInput], ...names.teams }),
    defaultTeam: t.field({ type: NameOrIdInput, description: names.defaultTeam }),
    allow: t.field({ type: [Permission], ...names.allow }),
    deny: t.field({ type: [Permission], ...names.deny }),
    unixUser: t.string({ description: names.unixUser }),
  }),
})

const UserIdentityInput = builder.inputType('UserIdentityInput', {
  description: 'Identity of a user at an OpenID provider.',
  fields: (t) => ({
    issuer: t.string({ required: true, description: 'Issuer: auth.oidc.issuer in the configuration.' }),
    subject: t.string({ required: true, description: 'Subject: `sub` in the tokens of the provider.' }),
  }),
})

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'Changes to a user; omitted fields stay.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'The user to change.' }),
    level: t.field({ type: UserLevel, description: 'Level; determines base priority and permissions.' }),
    displayName: t.string({ description: names.displayName }),
    email: t.string({ description: names.email }),
    teams: t.field({ type: [NameOrIdInput], ...names.teams }),
    defaultTeam: t.field({ type: NameOrIdInput, description: names.defaultTeam }),
    allow: t.field({ type: [Permission], ...names.allow }),
    deny: t.field({ type: [Permission], ...names.deny }),
    unixUser: t.string({ description: names.unixUser }),
    disabled: t.boolean({
      description:
        'Whether the user is disabled. A disabled user cannot log in; running jobs continue, and waiting jobs are held.',
    }),
    identity: t.field({
      type: UserIdentityInput,
      description: 'Identity of the user at the OpenID provider; null: removes it.',
    }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the user has this version.',
    }),
  }),
})

const declareSuccess = (name: `${'Create' | 'Update' | 'Disable'}UserSuccess`, description: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description,
    fields: (t) => ({
      user: t.field({
        type: UserRef,
        description: 'The user as stored.',
        resolve: ({ id }, _args, { load }) => requireRow(load.user.load(id)),
      }),
    }),
  })

const CreateUserResult = declareResult('CreateUser', declareSuccess('CreateUserSuccess', 'The user was created.'))

const UpdateUserResult = declareResult('UpdateUser', declareSuccess('UpdateUserSuccess', 'The user was changed.'), [
  NotFound,
  VersionConflict,
])

const DisableUserResult = declareResult('DisableUser', declareSuccess('DisableUserSuccess', 'The user is disabled.'), [
  NotFound,
  VersionConflict,
])

builder.mutationField('createUser', (t) =>
  t.field({
    type: CreateUserResult,
    description: 'Creates a user, who can log in with a token or by OpenID.',
    args: { input: t.arg({ type: CreateUserInput, required: true, description: 'The user.' }) },
    resolve: (_root, { input }, { domain, viewer }) => createUser(domain, viewer, input),
  }),
)

builder.mutationField('updateUser', (t) =>
  t.field({
    type: UpdateUserResult,
    description: 'Changes a user.',
    args: { input: t.arg({ type: UpdateUserInput, required: true, description: 'The user and the changes.' }) },
    resolve: (_root, { input: { userId: id, ...change } }, { domain, viewer }) =>
      updateUser(domain, viewer, { id, ...change }),
  }),
)

const DisableUserInput = builder.inputType('DisableUserInput', {
  description: 'The user to disable.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'The user who can no longer log in.' }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the user has this version.',
    }),
  }),
})

builder.mutationField('disableUser', (t) =>
  t.field({
    type: DisableUserResult,
    description:
      'Disables a user and revokes the tokens of the user. Running jobs continue, waiting jobs are held, and the audit log keeps the name.',
    args: { input: t.arg({ type: DisableUserInput, required: true, description: 'The user.' }) },
    resolve: (_root, { input: { userId: id, ...more } }, { domain, viewer }) =>
      disableUser(domain, viewer, { id, ...more }),
  }),
)
