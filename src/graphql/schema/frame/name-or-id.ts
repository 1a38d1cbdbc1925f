import { builder } from './builder.ts'

/** Accepts names, which people type, and ids, which applications have. */
export const NameOrIdInput = builder.inputType('NameOrIdInput', {
  description: 'A user or a team, by id or by name.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'Typed id, user_… or team_….' }),
    name: t.string({ description: 'Unique name.' }),
  }),
})

export type NameOrId = typeof NameOrIdInput.$inferInput
