import type { DocumentNode } from 'graphql'
import { countTokens } from '../admission/parsed-documents.ts'
import { KeyedLimit, type Share } from '../keyed-limit.ts'

interface Holding {
  share: Share
  holders: Set<object>
}

/**
 * Limits the parsed documents that the open subscriptions of each user keep in memory. A document that several
 * subscriptions share counts once.
 */
export class SubscriptionDocuments {
  readonly #limit: KeyedLimit
  readonly #holdings = new WeakMap<DocumentNode, Map<string, Holding>>()

  constructor(tokensPerUserMax: number) {
    this.#limit = new KeyedLimit(tokensPerUserMax)
  }

  /** Adds a document. Returns the function that removes it (safe to call twice); null: the user's limit is reached. */
  tryAcquire(user: string, document: DocumentNode): (() => void) | null {
    const byUser = this.#holdings.get(document) ?? new Map<string, Holding>()
    const holding = byUser.get(user) ?? { share: this.#limit.open(user), holders: new Set() }
    if (holding.holders.size === 0 && !holding.share.add(countTokens(document))) return null
    const holder = {}
    holding.holders.add(holder)
    this.#holdings.set(document, byUser.set(user, holding))
    return () => {
      if (!holding.holders.delete(holder) || holding.holders.size > 0) return
      holding.share.release()
      byUser.delete(user)
    }
  }
}
