import type { MapNode } from './node-changes.ts'

/** Why new runs may not start on a node. */
export type Condition = 'cordoned' | 'draining' | 'lost' | 'silent' | 'backs off' | 'held' | 'reserved'

/** Ids of nodes that are held, reserved, or silent. */
export interface Claims {
  held: ReadonlySet<string>
  reserved: ReadonlySet<string>
  /** Nodes whose container engine does not answer. */
  silent: ReadonlySet<string>
}

const words = { CORDONED: 'cordoned', DRAINING: 'draining', LOST: 'lost' } as const

/** Returns the most important condition of a node; null: the node is ready. */
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

/** true: no run can start on a node with this condition. */
export const isClosed = (condition: Condition | null): boolean =>
  condition !== null && condition !== 'held' && condition !== 'reserved'
