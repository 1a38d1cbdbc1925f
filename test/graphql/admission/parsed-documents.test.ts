import { expect, it } from 'vitest'
import { createDocumentCaches, parseDocument } from '../../../src/graphql/admission/parsed-documents.ts'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { ask } from '../../support/client.ts'
import { measureHeldBytes } from '../../support/memory.ts'
import { startServer } from '../../support/server.ts'

const requests = 8
const mebibyte = 1024 ** 2
const long = 'x'.repeat(3.5 * mebibyte)

/** The caches keep documents and their errors, and release the rest of the request. */
const refused = {
  'the variables of a text with a syntax error': (n: number) => [`query ($v: String) { a${n} `, { v: long }],
  'the variables of a document that is not valid': (n: number) => [`query ($v: String) { a${n} }`, { v: long }],
  'a document that is too long': (n: number) => [`query { a${n} } #${long}`, {}],
} satisfies Record<string, (n: number) => [string, object]>

it.each(Object.entries(refused))('after a refusal, the document caches release %s', async (_what, requestOf) => {
  await using server = await startServer()
  const sendSome = async (from: number, to: number) => {
    for (let n = from; n < to; n++) expect(await ask(server.url, ...requestOf(n))).toHaveProperty('errors')
  }
  await sendSome(0, 3)
  const before = measureHeldBytes()
  await sendSome(3, 3 + requests)
  expect(measureHeldBytes() - before).toBeLessThan(2 * requests * mebibyte)
})

it.each([
  ['long', 800, (n: number) => `query { __typename } #${n}${'x'.repeat(60_000)}`],
  ['of many tokens', 150, (n: number) => `query { a${n} } ${'fragment f on Query { a b c d e f g h } '.repeat(130)}`],
])('the cache of parsed documents that are %s drops the oldest ones at its memory limit', (_what, count, textOf) => {
  const { documentCache } = createDocumentCaches()
  const before = measureHeldBytes()
  for (let n = 0; n < count; n++) documentCache.set(textOf(n), parseDocument(textOf(n)))
  expect(documentCache.get(textOf(count - 1))).toBeDefined()
  expect(documentCache.get(textOf(0))).toBeUndefined()
  expect(measureHeldBytes() - before).toBeLessThan(1.2 * limits.documentCacheBytesMax)
})
