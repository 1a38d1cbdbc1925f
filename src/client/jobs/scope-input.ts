import type { ScopeInput, ScopeKind } from '../generated/graphql.ts'

/** Names the user, team … whose jobs a quota or a limit counts. */
export function toScopeInput(kind: Exclude<ScopeKind, 'GLOBAL' | 'POOL'>, name: string): ScopeInput {
  return { [kind.toLowerCase()]: kind === 'USER' || kind === 'TEAM' ? { name } : name } as unknown as ScopeInput
}
