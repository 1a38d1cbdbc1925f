import type { MapNode } from './node-changes.ts'

/** Why a node is not simply ready; null: it is. */
export type Condition = 'cordoned' | 'draining' | 'lost' | 'silent' | 'backs off' | 'held' | 'reserved'

/** Ids of nodes. */
export interface Claims {
  held: ReadonlySet<string>
  reserved: ReadonlySet<string>
  /** Machines whose engine does not answer. */
  silent: ReadonlySet<string>
}

const words = { CORDONED: 'cordoned', DRAINING: 'draining', LOST: 'lost' } as const

/** The condition that matters most. */
export function findCondition(
  { id, state, backsOffUntil }: MapNode,
  { held, reserved, silent }: Claims,
): Condition | null {
  if (state !== 'READY') return words[state]
  if (silent.has(id)) return 'silent'
  if (backsOffUntil !== null) return 'backs off'
  if (held.has(id)) return 'held'
  return reserved.has(id) ? 'reserved' : null
}

/** New runs cannot start on the node at all. */
export const isClosed = (condition: Condition | null): boolean =>
  condition !== null && condition !== 'held' && condition !== 'reserved'
