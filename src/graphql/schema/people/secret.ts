import { NotFound } from '../../../domain/errors.ts'
import { deleteSecret, secretsVisibleTo, setSecret } from '../../../domain/secrets/secrets.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import type { Bind } from '../../rows/keyset.ts'
import { secretsListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { requireRow } from '../frame/problem.ts'
import { SecretRef, TeamRef, UserRef } from '../frame/refs.ts'

builder.node(SecretRef, {
  description: 'A secret of a user or a team, for the environment of jobs. No field returns its value.',
  id: { resolve: ({ id }) => id, description: 'Global id, for `node`: secret_…' },
  async loadMany(ids, { load, viewer }) {
    const teams = (await load.teamsOfUser.load(viewer.userId)).map(({ teamId }) => teamId)
    const secrets = await Promise.all(ids.map((id) => load.secret.load(id)))
    return secrets.map((secret) => {
      if (!secret) return null
      const { userId, teamId } = secret
      const isSeen =
        userId === viewer.userId || (teamId !== null && (viewer.level === 'ADMIN' || teams.includes(teamId)))
      return isSeen ? secret : null
    })
  },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the environment variable; unique for its owner.' }),
    ownedBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who owns the secret; null: a team owns it.',
      resolve: ({ userId }, _args, { load }) => (userId === null ? null : load.user.load(userId)),
    }),
    team: t.field({
      type: TeamRef,
      nullable: true,
      description: 'The team whose members may use the secret; null: a user owns it.',
      resolve: ({ teamId }, _args, { load }) => (teamId === null ? null : load.team.load(teamId)),
    }),
    setBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who set the present value; null: the user was removed.',
      resolve: ({ setById }, _args, { load }) => (setById === null ? null : load.user.load(setById)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the secret was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the present value was set.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a run last got the value; null: never.',
    }),
  }),
})

const SecretConnection = declareConnection('Secret', SecretRef)

builder.queryField('secrets', (t) =>
  t.field({
    type: SecretConnection,
    description:
      'Your secrets and those of your teams, by name, without their values. An ADMIN sees those of all teams.',
    args: {
      ...t.arg.connectionArgs(),
      teamId: t.arg.id({ description: 'Only secrets of this team.' }),
    },
    complexity: pageCost,
    async resolve(_root, { teamId, ...args }, { listSql, viewer, load }) {
      const ofTeam = (bind: Bind) => (teamId == null ? 'TRUE' : `s.team_id = ${bind(teamId)}`)
      const where = (bind: Bind) => `${secretsVisibleTo(viewer, 's', bind)} AND ${ofTeam(bind)}`
      const list = await readList(listSql, { listing: secretsListing, where, filter: teamId, args })
      return toConnection(list, (ids) => load.secret.loadMany(ids))
    },
  }),
)

declareMutation('setSecret', {
  description:
    'Creates a secret, or replaces its value; runs that start later get the new value. An owner has at most 100 secrets.',
  input: {
    argument: 'The secret.',
    description: 'A secret and its value.',
    fields: (t) => ({
      name: t.string({
        required: true,
        description:
          'Name of the environment variable: letters, digits and _, at most 128. Names that Berth sets are refused, such as BERTH_… and PATH.',
      }),
      value: t.string({
        required: true,
        description: 'The value: 1 byte to 64 KiB, at most 128 lines. No query returns it.',
      }),
      teamId: t.id({ description: 'The team that owns the secret; omitted: you.' }),
    }),
  },
  success: {
    description: 'The value was stored.',
    fields: (t: SuccessFields) => ({
      secret: t.field({
        type: SecretRef,
        description: 'The secret without its value.',
        resolve: ({ id }, _args, { load }) => requireRow(load.secret.load(id)),
      }),
    }),
  },
  problems: [NotFound],
  resolve: (input, { domain, viewer }) => setSecret(domain, viewer, input),
})

declareMutation('deleteSecret', {
  description: 'Deletes a secret. Running jobs keep the value; waiting jobs that name it fail at their start.',
  input: {
    argument: 'The secret.',
    description: 'The secret to delete.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Its name.' }),
      teamId: t.id({ description: 'The team that owns the secret; omitted: you.' }),
    }),
  },
  success: {
    description: 'The secret does not exist any more.',
    fields: (t: SuccessFields<{ id: string | null }>) => ({
      deletedId: t.exposeID('id', { nullable: true, description: 'Id of the deleted secret; null: there was none.' }),
    }),
  },
  problems: [NotFound],
  resolve: (input, { domain, viewer }) => deleteSecret(domain, viewer, input),
})
