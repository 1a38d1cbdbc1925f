import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { send } from '../../support/client.ts'
import { startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

it('concurrent request bodies of a user share a limit in bytes, and a closed connection frees its part', async () => {
  const authenticate = (name = '', known: { users: ReadonlyMap<string, Viewer> }) => known.users.get(name) ?? null
  await using server = await startServer({ singleUser: false, authenticate })
  for (const name of ['ann', 'bob']) await server.user(name, 'RESEARCHER')
  const { hostname, port } = new URL(server.url)
  const body = Buffer.alloc(limits.bodyBytesMax, ' ')
  body.write('{"query":"{ serverInfo { name } }"}')
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const statusOf = async (authorization: string) =>
    (await send(server.url, { headers: { ...headers, authorization }, body: body.toString() })).status

  const stopped = Array.from({ length: limits.bodyBytesInFlightMax / body.length + 1 }, () => {
    const socket = connect(Number(port), hostname)
    const lines = Object.entries({ host: 'localhost', authorization: 'ann', ...headers }).map((each) => each.join(': '))
    socket.write(`POST /graphql HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    socket.write(body.subarray(1))
    return socket
  })
  const [answer] = await Promise.race(stopped.map((socket) => once(socket, 'data')))
  expect(String(answer)).toMatch(/^HTTP\/1.1 429 .*\r\nretry-after: 1\r\n/s)
  expect(String(answer)).toContain('Your requests in flight exceed 64 MiB; try again in 1 s')
  expect(await statusOf('bob')).toBe(200)

  for (const socket of stopped) socket.destroy()
  await until(async () => (await statusOf('ann')) === 200, { what: 'their bytes are released' })
})
