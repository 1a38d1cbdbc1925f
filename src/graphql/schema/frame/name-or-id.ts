import { builder } from './builder.ts'

/** Where people type, they know names; applications know ids. */
export const NameOrIdInput = builder.inputType('NameOrIdInput', {
  description: 'A user or a team, by id or by name.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'Typed id, user_… or team_….' }),
    name: t.string({ description: 'Unique name.' }),
  }),
})

export type NameOrId = typeof NameOrIdInput.$inferInput
