import { NotFound } from '../../../domain/errors.ts'
import { deleteSecret, secretsVisibleTo, setSecret } from '../../../domain/secrets/secrets.ts'
import { secretsListing } from '../../rows/listings.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { exposeColumns, objectField, objectFieldOrNull } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { SecretRef } from '../frame/refs.ts'

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
    ...exposeColumns(t, {
      name: ['String', 'Name of the environment variable; unique for its owner.'],
      createdAt: ['DateTime', 'When the secret was created.'],
      updatedAt: ['DateTime', 'When the present value was set.'],
      lastUsedAt: ['DateTime?', 'When a run last got the value; null: never.'],
    }),
    ownedBy: objectFieldOrNull(t, 'userId', 'The user who owns the secret; null: a team owns it.'),
    team: objectFieldOrNull(t, 'teamId', 'The team whose members may use the secret; null: a user owns it.'),
    setBy: objectFieldOrNull(t, 'setById', 'Who set the present value; null: the user was removed.', 'user'),
  }),
})

const SecretConnection = declareConnection('Secret', SecretRef)

declareList('secrets', SecretConnection, {
  description: 'Your secrets and those of your teams, by name, without their values. An ADMIN sees those of all teams.',
  args: (arg) => ({ teamId: arg.id({ description: 'Only secrets of this team.' }) }),
  listing: secretsListing,
  where: ({ teamId }, { viewer }, bind) =>
    `${secretsVisibleTo(viewer, 's', bind)} AND ${teamId == null ? 'TRUE' : `s.team_id = ${bind(teamId)}`}`,
  cursorScope: ({ teamId }) => teamId,
  loader: (load) => load.secret,
})

declareMutation('setSecret', {
  description:
    'Creates a secret, or replaces its value; runs that start later get the new value. An owner has at most 100 secrets.',
  input: {
    argumentDescription: 'The secret.',
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
      secret: objectField(t, 'id', 'The secret without its value.', 'secret'),
    }),
  },
  problems: [NotFound],
  resolve: (input, { domain, viewer }) => setSecret(domain, viewer, input),
})

declareMutation('deleteSecret', {
  description: 'Deletes a secret. Running jobs keep the value; waiting jobs that name it fail at their start.',
  input: {
    argumentDescription: 'The secret.',
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
