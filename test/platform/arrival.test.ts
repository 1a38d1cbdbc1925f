import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { keepsSettings } from '../../src/platform/arrival.ts'
import { createDatabase } from '../support/database.ts'

test('keepsSettings is true if PostgreSQL keeps the settings of a session', async () => {
  await using database = await createDatabase()
  expect(await keepsSettings({ url: database.url })).toBe(true)
})

test('keepsSettings is false behind a pooler that rejects start-up parameters', async () => {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0')
  const length = Buffer.alloc(4)
  length.writeInt32BE(fields.length + 4)
  const pooler = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields])))
  }).listen(0, '127.0.0.1')
  await once(pooler, 'listening')
  const { port } = pooler.address() as { port: number }
  try {
    expect(await keepsSettings({ url: `postgresql://berth@127.0.0.1:${port}/berth` })).toBe(false)
  } finally {
    pooler.close()
  }
})
