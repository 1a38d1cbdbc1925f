import { createViewer, demandOwn, isPermission, permissionsMax, seesPeople } from '../../../domain/access.ts'
import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { teamsOfUserMax } from '../../../domain/people/teams.ts'
import { createUser, disableUser, updateUser } from '../../../domain/people/users.ts'
import type { User } from '../../../platform/generated/client.ts'
import { capList } from '../../admission/argument-bounds.ts'
import type { RequestContext } from '../../rows/context.ts'
import { usersListing } from '../../rows/listings.ts'
import type { Loaders } from '../../rows/loaders.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { Permission, UserLevel } from '../frame/enums.ts'
import { expectedVersion, exposeColumns, objectField, versionField } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareMutation, type InputFields } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { NameOrIdInput } from '../frame/name-or-id.ts'
import { TeamRef, UserRef } from '../frame/refs.ts'
import { buildUsersCondition, PeopleOrderType, UserFilter } from './people-filter.ts'

const UserIdentity = builder.objectRef<{ oidcIssuer: string; oidcSubject: string }>('UserIdentity').implement({
  description: 'Identity of a user at an OpenID provider.',
  fields: (t) => ({
    issuer: t.exposeString('oidcIssuer', { description: 'Issuer: `iss` in the tokens of the provider.' }),
    subject: t.exposeString('oidcSubject', { description: 'Subject: `sub` in the tokens of the provider.' }),
  }),
})

const words = {
  level: 'Level; determines base priority and permissions.',
  disabled:
    'Whether the user is disabled. A disabled user cannot log in; running jobs continue, and waiting jobs are held.',
} as const

/** Cost of summing the sizes of all stored contents of a user. */
const storedBytesCost = 10

/** Resolves a field that only the user and holders of user.write may read. */
const readPrivate =
  <Value>(read: (user: User, load: Loaders) => Value) =>
  (user: User, _args: object, { load, viewer }: RequestContext): Value => {
    demandOwn(viewer, user.id, 'user.write')
    return read(user, load)
  }

builder.node(UserRef, {
  description: 'A user. In single-user mode there is only `local`.',
  id: { resolve: (user) => user.id, description: 'Global id, for `node`: user_…' },
  loadMany: (ids, { load, viewer }) =>
    Promise.all(ids.map((id) => (id === viewer.userId || seesPeople(viewer) ? load.user.load(id) : null))),
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Login name, unique.'],
      displayName: ['String?', 'Display name; null: same as `name`.'],
      email: ['String?', 'Email address; null: unknown.'],
      disabled: ['Boolean', words.disabled],
      createdAt: ['DateTime', 'When the user was created.'],
    }),
    level: t.expose('level', { type: UserLevel, description: words.level }),
    version: t.expose('version', versionField),
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
      resolve: readPrivate(({ defaultTeamId }, load) =>
        defaultTeamId === null ? null : load.team.load(defaultTeamId),
      ),
    }),
    allow: t.field({
      type: [Permission],
      description: 'Permissions in addition to those of the level. Visible to the user and with user.write.',
      resolve: readPrivate(({ allow }) => allow.filter(isPermission)),
    }),
    deny: t.field({
      type: [Permission],
      description: 'Denied permissions; deny overrides allow. Visible to the user and with user.write.',
      resolve: readPrivate(({ deny }) => deny.filter(isPermission)),
    }),
    permissions: t.field({
      type: [Permission],
      description:
        'Permissions of the level and of `allow`, without those of `deny`. A token may have fewer permissions. Visible to the user and with user.write.',
      resolve: readPrivate((user) => [...createViewer(user).granted]),
    }),
    unixUser: t.string({
      nullable: true,
      description:
        'Unix account that the jobs of the user run as; null: the account of the server. Visible to the user and with user.write.',
      resolve: readPrivate(({ unixUser }) => unixUser),
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
      resolve: readPrivate(({ oidcIssuer, oidcSubject }) =>
        oidcIssuer === null || oidcSubject === null ? null : { oidcIssuer, oidcSubject },
      ),
    }),
  }),
})

export const UserConnection = declareConnection('User', UserRef)

declareList('users', UserConnection, {
  description: 'Users that you may see, including disabled ones.',
  args: (arg) => ({
    filter: arg({ type: UserFilter, description: 'Filter; default: all.' }),
    orderBy: arg({ type: PeopleOrderType, description: 'Sort order; default: oldest first.' }),
  }),
  listing: ({ orderBy }) => usersListing(orderBy ?? 'CREATED_AT'),
  where: ({ filter }, { viewer }, bind) =>
    `${seesPeople(viewer) ? 'TRUE' : `u.id = ${bind(viewer.userId)}`} AND ${buildUsersCondition(filter ?? {}, bind)}`,
  loader: (load) => load.user,
})

const UserIdentityInput = builder.inputType('UserIdentityInput', {
  description: 'Identity of a user at an OpenID provider.',
  fields: (t) => ({
    issuer: t.string({ required: true, description: 'Issuer: auth.oidc.issuer in the configuration.' }),
    subject: t.string({ required: true, description: 'Subject: `sub` in the tokens of the provider.' }),
  }),
})

/** Fields of the inputs of createUser and updateUser. */
const personFields = (t: InputFields) => ({
  displayName: t.string({ description: 'Name that pages show; default: the log-in name.' }),
  email: t.string({ description: 'Email address.' }),
  teams: t.field({ type: [NameOrIdInput], ...capList(teamsOfUserMax, 'All teams of the user') }),
  defaultTeam: t.field({
    type: NameOrIdInput,
    description: 'Team for submissions that name no team; must be one of `teams`.',
  }),
  allow: t.field({
    type: [Permission],
    ...capList(permissionsMax, 'Permissions in addition to those of the level'),
  }),
  deny: t.field({ type: [Permission], ...capList(permissionsMax, 'Permissions to deny; deny overrides allow') }),
  unixUser: t.string({ description: 'Unix account that the jobs of the user run as.' }),
})

const storedUser = (t: SuccessFields) => ({
  user: objectField(t, 'id', 'The user as stored.', 'user'),
})

declareMutation('createUser', {
  description: 'Creates a user, who can log in with a token or by OpenID.',
  input: {
    argumentDescription: 'The user.',
    description: 'A new user.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Login name, unique; cannot be changed later.' }),
      level: t.field({ type: UserLevel, required: true, description: words.level }),
      ...personFields(t),
    }),
  },
  success: { description: 'The user was created.', fields: storedUser },
  resolve: (input, { domain, viewer }) => createUser(domain, viewer, input),
})

declareMutation('updateUser', {
  description: 'Changes a user.',
  input: {
    argumentDescription: 'The user and the changes.',
    description: 'Changes to a user; omitted fields stay.',
    fields: (t) => ({
      userId: t.id({ required: true, description: 'The user to change.' }),
      level: t.field({ type: UserLevel, description: words.level }),
      ...personFields(t),
      disabled: t.boolean({ description: words.disabled }),
      identity: t.field({
        type: UserIdentityInput,
        description: 'Identity of the user at the OpenID provider; null: removes it.',
      }),
      expectedVersion: t.field(expectedVersion('user')),
    }),
  },
  success: { description: 'The user was changed.', fields: storedUser },
  problems: [NotFound, VersionConflict],
  resolve: ({ userId: id, ...change }, { domain, viewer }) => updateUser(domain, viewer, { id, ...change }),
})

declareMutation('disableUser', {
  description:
    'Disables a user and revokes the tokens of the user. Running jobs continue, waiting jobs are held, and the audit log keeps the name.',
  input: {
    argumentDescription: 'The user.',
    description: 'The user to disable.',
    fields: (t) => ({
      userId: t.id({ required: true, description: 'The user who can no longer log in.' }),
      expectedVersion: t.field(expectedVersion('user')),
    }),
  },
  success: { description: 'The user is disabled.', fields: storedUser },
  problems: [NotFound, VersionConflict],
  resolve: ({ userId: id, ...more }, { domain, viewer }) => disableUser(domain, viewer, { id, ...more }),
})
