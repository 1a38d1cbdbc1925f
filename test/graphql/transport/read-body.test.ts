import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { KeyedLimit } from '../../../src/graphql/keyed-limit.ts'
import { readBody } from '../../../src/graphql/transport/read-body.ts'
import { measureHeldBytes } from '../../support/memory.ts'

const limits = { bytesMax: 4 * 1024 * 1024, valuesMax: 10, share: new KeyedLimit(64 * 1024 * 1024).open('sender') }

test('a body in tiny chunks takes only the memory of its bytes', async () => {
  const pieces = 200_000
  let before = 0
  let held = 0
  function* tiny() {
    before = measureHeldBytes()
    for (let i = 0; i < pieces; i++) yield Buffer.from(Uint8Array.of(i % 2 === 0 ? 0x61 : 0x62).buffer)
    held = measureHeldBytes() - before
  }
  const request = Object.assign(Readable.from(tiny(), { objectMode: true, highWaterMark: 1 }), { headers: {} })
  expect(await readBody(request as unknown as IncomingMessage, limits)).toEqual({ text: 'ab'.repeat(pieces / 2) })
  expect(held / 1024 / 1024).toBeLessThan(4)
})

test.each([
  [[], ''],
  [['{}'], '{}'],
  [['{', '"a":1}'], '{"a":1}'],
])('the chunks %j are joined', async (pieces, text) => {
  const request = Object.assign(Readable.from(pieces.map((piece) => Buffer.from(piece))), { headers: {} })
  expect(await readBody(request as unknown as IncomingMessage, limits)).toEqual({ text })
})

test('a body over the limit is refused, with and without Content-Length', async () => {
  const pieces = [Buffer.alloc(limits.bytesMax - 1), Buffer.alloc(1), Buffer.alloc(1)]
  const fits = Object.assign(Readable.from(pieces.slice(1)), { headers: {} }) as unknown as IncomingMessage
  expect(await readBody(fits, limits)).toEqual({ text: '\0\0' })
  const request = Object.assign(Readable.from(pieces), { headers: {} }) as unknown as IncomingMessage
  expect(await readBody(request, limits)).toBe('too large')
})

test('bytes that arrive after a refusal do not count toward the limit of their sender', async () => {
  const limit = new KeyedLimit(10)
  const [other, share] = [limit.open('sender'), limit.open('sender')]
  other.add(8)
  const request = Object.assign(new PassThrough(), { headers: {} })
  request.write('three')
  const body = await readBody(request as unknown as IncomingMessage, { bytesMax: 10, valuesMax: 10, share })
  expect(body).toBe('no room')
  for (const each of [other, share]) each.release()
  request.resume().end('rest')
  await once(request, 'end')
  expect(limit.open('sender').add(10)).toBe(true)
})
