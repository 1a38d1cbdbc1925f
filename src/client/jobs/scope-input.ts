import type { ScopeInput, ScopeKind } from '../generated/graphql.ts'

/** Makes the input for the scope of a quota or limit, such as a user or a team. */
export function toScopeInput(kind: Exclude<ScopeKind, 'GLOBAL' | 'POOL'>, name: string): ScopeInput {
  return { [kind.toLowerCase()]: kind === 'USER' || kind === 'TEAM' ? { name } : name } as unknown as ScopeInput
}
