import type { DocumentNode } from 'graphql'
import { limits } from './limits.ts'

/**
 * The parsed documents that the open subscriptions of each user keep. Subscriptions with the same text share one, which
 * counts once.
 */
export interface HeldDocuments {
  /** Answers what lets go of it, once or more often; null: its user has no room for it. */
  take(user: string, document: DocumentNode): (() => void) | null
}

export function createHeldDocuments(tokensMax: number): HeldDocuments {
  const users = new Map<string, Map<DocumentNode, Set<object>>>()
  return {
    take(user, document) {
      const held = users.get(user) ?? new Map<DocumentNode, Set<object>>()
      if (!held.has(document) && tokensOf([...held.keys(), document]) > tokensMax) return null
      const holder = {}
      const holders = held.get(document) ?? new Set()
      users.set(user, held.set(document, holders.add(holder)))
      return () => {
        if (!holders.delete(holder) || holders.size > 0) return
        held.delete(document)
        if (held.size === 0) users.delete(user)
      }
    },
  }
}

const tokensOf = (documents: readonly DocumentNode[]) =>
  documents.reduce((sum, { tokenCount = limits.tokensMax }) => sum + tokenCount, 0)
