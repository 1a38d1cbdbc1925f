import type { DocumentNode } from 'graphql'
import { createCap, type Portion } from '../cap-per-key.ts'
import { tokensOf } from '../request-limits.ts'

/**
 * The parsed documents that the open subscriptions of each user keep. Subscriptions with the same text share one, which
 * counts once.
 */
export interface HeldDocuments {
  /** Answers what lets go of it, once or more often; null: its user has no room for it. */
  take(user: string, document: DocumentNode): (() => void) | null
}

interface Held {
  portion: Portion
  holders: Set<object>
}

export function createHeldDocuments(tokensMax: number): HeldDocuments {
  const cap = createCap(tokensMax)
  /** By user, of each document. */
  const held = new WeakMap<DocumentNode, Map<string, Held>>()
  return {
    take(user, document) {
      const byUser = held.get(document) ?? new Map<string, Held>()
      const own = byUser.get(user) ?? { portion: cap.open(user), holders: new Set() }
      if (own.holders.size === 0 && !own.portion.add(tokensOf(document))) return null
      const holder = {}
      own.holders.add(holder)
      held.set(document, byUser.set(user, own))
      return () => {
        if (!own.holders.delete(holder) || own.holders.size > 0) return
        own.portion.giveBack()
        byUser.delete(user)
      }
    },
  }
}
