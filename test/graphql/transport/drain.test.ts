import { afterEach, beforeEach, expect, it } from 'vitest'
import { ask, send } from '../../support/client.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Stops a server while requests in flight wait for a table that the test has locked. */
const drainMsMax = 300
const body = JSON.stringify({ query: '{ jobs(first: 1) { nodes { id } } }' })
const json = { 'content-type': 'application/json' }
let server: TestServer
let holder: { unlock(): Promise<void> }

beforeEach(async () => {
  server = await startServer({ drainMsMax })
  const client = await server.domain.db.pool.connect()
  await client.query('BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE')
  let unlocked: Promise<void> | undefined
  holder = {
    unlock() {
      unlocked ??= client.query('ROLLBACK').then(() => client.release())
      return unlocked
    },
  }
})
afterEach(async () => {
  await holder.unlock()
  await server[Symbol.asyncDispose]()
})

const waiting = (count: number) =>
  until(
    async () => {
      const { rows } = await server.domain.db.pool.query(
        "SELECT FROM pg_locks WHERE relation = 'job'::regclass AND NOT granted",
      )
      return rows.length >= count
    },
    { what: `${count} statements wait` },
  )

it('a request in flight may finish during the drain', async () => {
  const answer = ask(server.url, '{ jobs(first: 1) { nodes { id } } }')
  await waiting(1)
  const stopped = server.stop()
  await holder.unlock()
  expect(await answer).toMatchObject({ status: 200, data: { jobs: { nodes: [] } } })
  await stopped
})

it.each([
  ['read by the server itself', json],
  ['left to the transport of yoga', { ...json, accept: 'application/json, */*' }],
])('a request that does not finish in time gets UNAVAILABLE: one %s', async (_, headers) => {
  const answer = send(server.url, { headers, body })
  await waiting(1)
  await server.stop()
  const { status, headers: told, text } = await answer
  expect(status).toBe(503)
  expect(told).toMatchObject({ connection: 'close', 'retry-after': '2' })
  expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
  expect(text).toContain('may or may not have been carried out')
})

it('new requests are refused on open and new connections', async () => {
  const answer = send(server.url, { headers: json, body })
  await waiting(1)
  const stopped = server.stop()
  const refused = await send(server.url, { headers: json, body })
  expect(refused.status).toBe(503)
  expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '2' })
  expect(JSON.parse(refused.text)).toMatchObject({
    errors: [{ message: 'The server is stopping; try again', extensions: { code: 'UNAVAILABLE' } }],
  })
  const upgrade = { ...json, connection: 'upgrade', upgrade: 'websocket' }
  expect((await send(server.url, { method: 'GET', headers: upgrade })).status).toBe(503)
  await stopped
  expect((await answer).status).toBe(503)
})
