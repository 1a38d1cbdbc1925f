import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { ask } from '../support/client.ts'
import { startServer } from '../support/server.ts'

/** Documents are remembered, refused ones with their errors. What came along with them is not. */
const documents = {
  'no document': (n: number) => `query ($v: String) { a${n} `,
  'no valid document': (n: number) => `query ($v: String) { a${n} }`,
}
const requests = 40
const mebibyte = 1024 ** 2

it.each(Object.entries(documents))('of %s the variables are let go', async (_what, documentOf) => {
  await using server = await startServer()
  const v = 'x'.repeat(2 * mebibyte)
  const sendSome = async (from: number, to: number) => {
    for (let n = from; n < to; n++) expect(await ask(server.url, documentOf(n), { v })).toHaveProperty('errors')
  }
  await sendSome(0, 10)
  const before = heldBytes()
  await sendSome(10, 10 + requests)
  expect(heldBytes() - before).toBeLessThan(2 * requests * mebibyte)
})

function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
