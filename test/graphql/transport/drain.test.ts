import { expect, it } from 'vitest'
import { ask, send } from '../../support/client.ts'
import { startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Stops a server while requests in flight wait for a table that the test has locked. */
const soonMs = 300
/** Long enough for further requests on a busy machine. */
const longMs = 2_000
const body = JSON.stringify({ query: '{ jobs(first: 1) { nodes { id } } }' })
const json = { 'content-type': 'application/json' }

async function startLocked(drainMsMax: number) {
  await using opened = new AsyncDisposableStack()
  const server = opened.use(await startServer({ drainMsMax }))
  const client = await server.domain.db.pool.connect()
  await client.query('BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE')
  let unlocked: Promise<void> | undefined
  const unlock = () => {
    unlocked ??= client.query('ROLLBACK').then(() => client.release())
    return unlocked
  }
  opened.defer(unlock)
  const waits = async () => {
    const { rows } = await server.domain.db.pool.query(
      "SELECT FROM pg_locks WHERE relation = 'job'::regclass AND NOT granted",
    )
    return rows.length > 0
  }
  const kept = opened.move()
  return {
    url: server.url,
    stop: () => server.stop(),
    unlock,
    requestWaits: () => until(waits, { what: 'a statement waits' }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

it('a running request may finish while the server stops', async () => {
  await using server = await startLocked(longMs)
  const answer = ask(server.url, '{ jobs(first: 1) { nodes { id } } }')
  await server.requestWaits()
  const stopped = server.stop()
  await server.unlock()
  expect(await answer).toMatchObject({ status: 200, data: { jobs: { nodes: [] } } })
  await stopped
})

it.each([
  ['on the fast path', json],
  ['passed on to GraphQL Yoga', { ...json, accept: 'application/json, */*' }],
])('a request that does not finish before the server stops gets UNAVAILABLE: one %s', async (_, headers) => {
  await using server = await startLocked(soonMs)
  const answer = send(server.url, { headers, body })
  await server.requestWaits()
  await server.stop()
  const { status, headers: told, text } = await answer
  expect(status).toBe(503)
  expect(told).toMatchObject({ connection: 'close', 'retry-after': '2' })
  expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
  expect(text).toContain('may or may not have been carried out')
})

it('new requests are refused while the server stops, on open and on new connections', async () => {
  await using server = await startLocked(longMs)
  const answer = send(server.url, { headers: json, body })
  await server.requestWaits()
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
