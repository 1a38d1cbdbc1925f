import { seesPeople } from '../../../domain/access.ts'
import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { createTeam, deleteTeam, memberChangesMax, updateTeam } from '../../../domain/people/teams.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { toConnection } from '../../rows/connection.ts'
import { teamsListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { expectedVersion, exposeColumns, objectField, versionField } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareDeleteMutation, declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { TeamRef } from '../frame/refs.ts'
import { buildTeamsCondition, PeopleOrderType, TeamFilter } from './people-filter.ts'
import { UserConnection } from './user.ts'

builder.node(TeamRef, {
  description: 'A group of users who share limits and an account.',
  id: { resolve: (team) => team.id, description: 'Global id, for `node`: team_…' },
  async loadMany(ids, { load, viewer }) {
    const mine = (await load.teamsOfUser.load(viewer.userId)).map(({ teamId }) => teamId)
    return Promise.all(ids.map((id) => (seesPeople(viewer) || mine.includes(id) ? load.team.load(id) : null)))
  },
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Name, unique.'],
      account: ['String', 'Account charged for the jobs of the team.'],
      createdAt: ['DateTime', 'When the team was created.'],
    }),
    version: t.expose('version', versionField),
    members: t.field({
      type: UserConnection,
      description: 'Members of the team; empty if you may not see them.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async ({ id }, args, { load }) =>
        toConnection(await load.membersOfTeam.load(id, args), (ids) => load.user.loadMany(ids)),
    }),
  }),
})

const TeamConnection = declareConnection('Team', TeamRef)

declareList('teams', TeamConnection, {
  description: 'Teams that you may see.',
  args: (arg) => ({
    filter: arg({ type: TeamFilter, description: 'Filter; default: all.' }),
    orderBy: arg({ type: PeopleOrderType, description: 'Sort order; default: oldest first.' }),
  }),
  listing: ({ orderBy }) => teamsListing(orderBy ?? 'CREATED_AT'),
  where({ filter }, { viewer }, bind) {
    const visible = seesPeople(viewer)
      ? 'TRUE'
      : `EXISTS (SELECT FROM team_member m WHERE m.team_id = t.id AND m.user_id = ${bind(viewer.userId)})`
    return `${visible} AND ${buildTeamsCondition(filter ?? {}, bind)}`
  },
  loader: (load) => load.team,
})

const storedTeam = (t: SuccessFields) => ({
  team: objectField(t, 'id', 'The team as stored.', 'team'),
})

declareMutation('createTeam', {
  description: 'Creates a team without members.',
  input: {
    argumentDescription: 'The team.',
    description: 'A new team.',
    fields: (t) => ({
      name: t.string({
        required: true,
        description: 'Unique name; the account of the team has the same name. `users` is reserved.',
      }),
    }),
  },
  success: { description: 'The team was created.', fields: storedTeam },
  resolve: (input, { domain, viewer }) => createTeam(domain, viewer, input),
})

declareMutation('updateTeam', {
  description: 'Changes the name or the members of a team.',
  input: {
    argumentDescription: 'The team and the changes.',
    description: 'Changes to a team; omitted fields stay.',
    fields: (t) => ({
      teamId: t.id({ required: true, description: 'The team to change.' }),
      name: t.string({ description: 'New name. Later submissions are charged to the account of the new name.' }),
      addMembers: t.idList(capList(memberChangesMax, 'Ids of users to add')),
      removeMembers: t.idList(capList(memberChangesMax, 'Ids of users to remove')),
      expectedVersion: t.field(expectedVersion('team')),
    }),
  },
  success: { description: 'The team was changed.', fields: storedTeam },
  problems: [NotFound, VersionConflict],
  resolve: ({ teamId: id, ...change }, { domain, viewer }) => updateTeam(domain, viewer, { id, ...change }),
})

declareDeleteMutation('deleteTeam', {
  noun: 'team',
  description: 'Deletes a team. Its jobs stay and remain charged to its account.',
  idField: 'teamId',
  remove: deleteTeam,
})
