import { builder } from './builder.ts'
import { TeamRef, UserRef } from './refs.ts'

/** A row of a count by a key. */
export interface Keyed {
  by: string
  key: string | null
}

/** Adds the fields `user` and `team`, for keys that are ids of users or teams. */
export const addKeyEdges = <Row extends Keyed>(ref: ReturnType<typeof builder.objectRef<Row>>) =>
  builder.objectFields(ref, (t) => ({
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user of the key; null: the keys are not users, or the user was deleted.',
      resolve: ({ by, key }, _args, { load }) => (by === 'USER' && key !== null ? load.user.load(key) : null),
    }),
    team: t.field({
      type: TeamRef,
      nullable: true,
      description: 'The team of the key; null: the keys are not teams, the jobs have none, or the team was deleted.',
      resolve: ({ by, key }, _args, { load }) => (by === 'TEAM' && key !== null ? load.team.load(key) : null),
    }),
  }))
