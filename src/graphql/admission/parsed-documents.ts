import type { DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import { limits, tokensOf } from '../request-limits.ts'

/**
 * Parsed documents by their text, with what validation found in them; the latest, as many as have room. Texts that
 * cannot be parsed are not remembered: they are refused as quickly again, and may be megabytes.
 */
export const rememberedDocuments = () => ({
  documentCache: new LRUCache<string, DocumentNode>({
    maxSize: limits.rememberedDocumentsBytesMax,
    sizeCalculation: (document, text) =>
      bytesOfDocument + text.length * bytesOfCharacter + tokensOf(document) * bytesOfToken,
  }),
  errorCache: { get: () => undefined, set() {} },
})

/** What V8 takes, rounded up. */
const bytesOfDocument = 2_000
const bytesOfCharacter = 2
const bytesOfToken = 600
