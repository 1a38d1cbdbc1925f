import { seesPeople } from '../../domain/access.ts'
import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { createTeam, deleteTeam, memberChangesMax, updateTeam } from '../../domain/people/teams.ts'
import { Unavailable } from '../../platform/tx.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { type Bind, readPages, requestPage } from '../keyset.ts'
import { teamsListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { TeamRef } from '../refs.ts'
import { DeleteResult } from './delete-result.ts'
import { seen } from './problem.ts'
import { UserConnection } from './user.ts'

/** People who share limits and an account. */
builder.node(TeamRef, {
  description: 'People who share limits and an account.',
  id: { resolve: (team) => team.id, description: 'team_…' },
  async loadMany(ids, { load, viewer }) {
    const mine = (await load.teamsOfUser.load(viewer.userId)).map(({ teamId }) => teamId)
    return Promise.all(ids.map((id) => (seesPeople(viewer) || mine.includes(id) ? load.team.load(id) : null)))
  },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique.' }),
    account: t.exposeString('account', { description: 'The account that its jobs are charged to.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    members: t.field({
      type: UserConnection,
      description: 'Who is in it; nobody, if you may not see.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async ({ id }, args, { load }) =>
        toConnection(await load.membersOfTeam.load(id, args), (ids) => load.user.loadMany(ids)),
    }),
  }),
})

const TeamConnection = connectionType('Team', TeamRef)

builder.queryField('teams', (t) =>
  t.field({
    type: TeamConnection,
    description: 'Teams that you may see, in the order in which they were made.',
    args: t.arg.connectionArgs(),
    complexity: pageCost,
    async resolve(_root, args, { domain: { db }, viewer, load }) {
      const where = (bind: Bind) =>
        seesPeople(viewer)
          ? 'TRUE'
          : `EXISTS (SELECT FROM team_member m WHERE m.team_id = t.id AND m.user_id = ${bind(viewer.userId)})`
      const page = requestPage(teamsListing, null, args)
      const query = { listing: teamsListing, page, parents: [''], filterOf: () => null, where }
      return toConnection((await readPages(db.sql, query)).get(''), (ids) => load.team.loadMany(ids))
    },
  }),
)

// ── writing ──

const CreateTeamInput = builder.inputType('CreateTeamInput', {
  description: 'A new team.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique; its account has the same name. Not `users`.' }),
  }),
})

const UpdateTeamInput = builder.inputType('UpdateTeamInput', {
  description: 'What is to change of a team; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The team.' }),
    name: t.string({ description: 'New name, and with it a new account for what comes.' }),
    addMembers: t.idList(atMost(memberChangesMax, 'Users that come in')),
    removeMembers: t.idList(atMost(memberChangesMax, 'Users that go')),
  }),
})

const DeleteTeamInput = builder.inputType('DeleteTeamInput', {
  description: 'Which team is to go.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The team.' }) }),
})

interface Written {
  id: string
}

const CreateTeamSuccess = builder.objectRef<Written>('CreateTeamSuccess').implement({
  description: 'The team is there.',
  fields: (t) => ({
    team: t.field({
      type: TeamRef,
      description: 'The team.',
      resolve: ({ id }, _args, { load }) => seen(load.team.load(id)),
    }),
  }),
})

const UpdateTeamSuccess = builder.objectRef<Written>('UpdateTeamSuccess').implement({
  description: 'The change is made.',
  fields: (t) => ({
    team: t.field({
      type: TeamRef,
      description: 'The team.',
      resolve: ({ id }, _args, { load }) => seen(load.team.load(id)),
    }),
  }),
})

const CreateTeamResult = builder.errorUnion('CreateTeamResult', {
  description: 'What became of a new team.',
  types: [CreateTeamSuccess, InvalidInput, Forbidden, Unavailable],
  resolveType: () => CreateTeamSuccess,
})

const UpdateTeamResult = builder.errorUnion('UpdateTeamResult', {
  description: 'What became of a change.',
  types: [UpdateTeamSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => UpdateTeamSuccess,
})

builder.mutationField('createTeam', (t) =>
  t.field({
    type: CreateTeamResult,
    description: 'Makes a team.',
    args: { input: t.arg({ type: CreateTeamInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { domain, viewer }) => createTeam(domain, viewer, input),
  }),
)

builder.mutationField('updateTeam', (t) =>
  t.field({
    type: UpdateTeamResult,
    description: 'Changes a team, or who is in it.',
    args: { input: t.arg({ type: UpdateTeamInput, required: true, description: 'Which, and what.' }) },
    resolve: (_root, { input }, { domain, viewer }) => updateTeam(domain, viewer, input),
  }),
)

builder.mutationField('deleteTeam', (t) =>
  t.field({
    type: DeleteResult,
    description: 'Removes a team. Its jobs stay, and stay charged to its account.',
    args: { input: t.arg({ type: DeleteTeamInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { domain, viewer }) => deleteTeam(domain, viewer, input),
  }),
)
