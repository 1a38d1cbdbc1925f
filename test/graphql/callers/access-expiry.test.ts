import { request as httpRequest } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { startOpenIdProvider } from '../../support/openid-provider.ts'
import { bearer, mutate, type Person, personWith } from '../../support/people.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Streams and sockets end with the access of their user, and have a limit per user. */

const secret = 'the-bootstrap-secret-of-this-test'
let server: TestServer
let admin: Person
let jobId: string

const provider = await startOpenIdProvider()
beforeAll(async () => {
  const rules = { audience: 'berth', userClaim: 'email', levelClaim: 'role', levels: { boss: 'ADMIN' } } as const
  server = await startServer({ logIn: { oidc: { ...rules, issuer: provider.issuer, teamsClaim: null } } })
  await applyBootstrapToken(server.domain, secret)
  admin = personWith(server.url, secret)
  jobId = await server.submit()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await provider.close()
})

let names = 0
async function someone(level = 'LEAD'): Promise<Person & { userId: string; tokenId: string }> {
  const name = `someone${++names}`
  const { user } = await mutate(admin, 'createUser', { input: { name, level }, wanted: 'user { id }' })
  const input = { name: 't', userId: user.id }
  const made = await mutate(admin, 'createToken', { input, wanted: 'secret token { id }' })
  return { ...personWith(server.url, made.secret), userId: user.id, tokenId: made.token.id }
}

const tail = 'subscription ($jobId: ID!) { tail(jobId: $jobId) { __typename } }'
const updates = (after: string | null = null) =>
  `subscription { jobUpdates(after: ${JSON.stringify(after)}) { ... on JobTransitions { job { id user { name } } } } }`

/** Opens a live `tail` over HTTP with an Accept header (null: none). `cut`: the connection ends without `complete`. */
function tailBy(accept: string | null, token: string): Promise<{ status: number; end: Promise<string> }> {
  const body = JSON.stringify({ query: tail, variables: { jobId } })
  const headers = { 'content-type': 'application/json', ...bearer(token), ...(accept !== null && { accept }) }
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${server.url}/graphql`, { method: 'POST', headers }, (response) => {
      const end = new Promise<string>((done) => {
        response.once('aborted', () => done('cut'))
        response.once('error', () => done('cut'))
        response.once('end', () => done('completed'))
      })
      response.resume()
      resolve({ status: response.statusCode ?? 0, end })
    })
    request.on('error', reject)
    request.end(body)
  })
}

const within = async <T>(what: string, promise: Promise<T>): Promise<T> => {
  let settled: { value: T } | undefined
  void promise.then((value) => {
    settled = { value }
  })
  return (await until(() => settled, { what })).value
}

const accepts = ['text/event-stream', '*/*', 'text/*', 'application/json, */*;q=0.1', null] as const

describe('an HTTP stream with any Accept header', () => {
  it('ends when its token is revoked, its user is demoted, or its JWT expires', async () => {
    const before = server.logTail.openFollowers()
    const [revoked, demoted] = [await someone(), await someone('ADMIN')]
    const email = `jwt${++names}@example.org`
    const jwt = await provider.token({ email, role: 'boss' }, { expiresInSeconds: 3 })
    const socket = openSocket(jwt)
    const asked = [revoked.token, demoted.token, jwt].flatMap((token) => accepts.map((accept) => ({ accept, token })))
    const streams = await Promise.all(asked.map(({ accept, token }) => tailBy(accept, token)))
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
    await until(() => server.logTail.openFollowers() === before + asked.length, { what: 'all are open' })
    await admin.data('mutation ($id: ID!) { revokeToken(input: { tokenId: $id }) { __typename } }', {
      id: revoked.tokenId,
    })
    await mutate(admin, 'updateUser', { input: { userId: demoted.userId, level: 'VIEWER' } })
    const ends = await within('all are cut', Promise.all(streams.map(({ end }) => end)))
    expect(new Set(ends)).toEqual(new Set(['cut']))
    expect(await within('the socket of the JWT is closed', socket.closed)).toBe(4403)
    await until(() => server.logTail.openFollowers() === before, { what: 'all are closed' })
  })
})

function openSocket(token: string, query = updates()) {
  const closed = Promise.withResolvers<number>()
  const connected = Promise.withResolvers<void>()
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: bearer(token),
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => undefined,
    on: {
      connected: () => connected.resolve(),
      closed: (event) => closed.resolve((event as { code: number }).code),
    },
  })
  return {
    closed: closed.promise,
    connected: connected.promise,
    subscribe: (other = query) =>
      new Promise<unknown>((resolve) => {
        const first = client.iterate({ query: other }).next()
        first.then(
          ({ value }) => resolve(value?.errors),
          (errors: unknown) => resolve(errors),
        )
      }),
    dispose: () => client.dispose(),
  }
}

describe('the stream limit of a user', () => {
  const limited = (errors: unknown) =>
    Array.isArray(errors) && errors.some(({ extensions }) => extensions.code === 'SUBSCRIPTION_LIMIT')

  it('counts the lexical tokens of the documents of all subscriptions', async () => {
    const greedy = await someone()
    const parts = Math.floor(limits.tokensMax / 6) - 2
    const large = (n: number) =>
      `subscription S${n} { jobUpdates { ${'... on StreamHeartbeat { cursor } '.repeat(parts)} } }`
    const count = Math.floor(limits.subscriptionTokensPerUserMax / (parts * 6))
    const sockets = Array.from({ length: 3 }, () => openSocket(greedy.token))
    await Promise.all(sockets.map(({ connected }) => connected))
    const before = server.feed.openReaders()
    for (let n = 0; n < count; n++) void sockets[n % 2]?.subscribe(large(n))
    await until(() => server.feed.openReaders() === before + count, { what: 'all of them are open' })
    const more = await within('one more is refused', Promise.resolve(sockets[2]?.subscribe(large(count))))
    expect(limited(more)).toBe(true)
    void sockets[2]?.subscribe(large(0))
    await until(() => server.feed.openReaders() === before + count + 1, { what: 'a document counts once' })
    await sockets[0]?.dispose()
    await until(() => server.feed.openReaders() === before + count + 1 - Math.ceil(count / 2), {
      what: 'some are gone',
    })
    void sockets[2]?.subscribe(large(count))
    await until(() => server.feed.openReaders() === before + count + 2 - Math.ceil(count / 2), {
      what: 'one more fits',
    })
    await Promise.all(sockets.map((socket) => socket.dispose()))
    await until(() => server.feed.openReaders() === before, { what: 'all are gone' })
  })

  it('counts the subscriptions of one user over all transports', async () => {
    const [greedy, other] = [await someone(), await someone()]
    const perSocket = limits.operationsPerSocketMax
    const count = limits.subscriptionsPerUserMax / perSocket
    const { jobs } = await greedy.data('{ jobs(first: 1) { asOf } }')
    const sockets = Array.from({ length: count }, () => openSocket(greedy.token, updates(jobs.asOf)))
    await Promise.all(sockets.map(({ connected }) => connected))
    const before = server.feed.openReaders()
    const heard = sockets.flatMap((socket) => Array.from({ length: perSocket }, () => socket.subscribe()))
    const full = before + limits.subscriptionsPerUserMax
    await until(() => server.feed.openReaders() === full, { what: 'all of them are open' })

    const oneMore = openSocket(greedy.token)
    expect(limited(await within('it is refused', oneMore.subscribe()))).toBe(true)
    const answer = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(greedy.token) },
      body: JSON.stringify({ query: updates() }),
    })
    expect(answer.status).toBe(429)
    expect(await answer.text()).toContain('SUBSCRIPTION_LIMIT')
    const others = openSocket(other.token)
    void others.subscribe()
    await until(() => server.feed.openReaders() === full + 1, { what: 'another person subscribes' })

    // All streams read rows for one event, which must not delay requests of other users.
    let waiting = 0
    const { pool } = server.domain.db
    const look = () => {
      waiting = Math.max(waiting, pool.waitingCount)
    }
    pool.on('acquire', look)
    await server.submit()
    await within('all receive it', Promise.all(heard))
    pool.off('acquire', look)
    expect(waiting).toBeLessThan(10)

    await sockets[0]?.dispose()
    await until(() => server.feed.openReaders() === full + 1 - perSocket, { what: 'a socket is gone' })
    void oneMore.subscribe()
    await until(() => server.feed.openReaders() === full + 2 - perSocket, { what: 'one more fits' })
    for (const socket of [...sockets, oneMore, others]) await socket.dispose()
    await until(() => server.feed.openReaders() === before, { what: 'all are gone' })
  })

  it('counts WebSockets, and closes the first one above the limit with code 1013', async () => {
    const greedy = await someone()
    const sockets = Array.from({ length: limits.socketsPerUserMax }, () => openSocket(greedy.token))
    await Promise.all(sockets.map(({ connected }) => connected))
    expect(await within('it is closed', openSocket(greedy.token).closed)).toBe(1013)
    await sockets.pop()?.dispose()
    const again = async () => {
      const socket = openSocket(greedy.token)
      const came = await Promise.race([socket.connected.then(() => true), socket.closed.then(() => false)])
      await socket.dispose()
      return came
    }
    await until(again, { what: 'one more fits' })
    for (const socket of sockets) await socket.dispose()
  })
})

describe('the connection of a refused WebSocket upgrade', () => {
  const peers = 30
  const handshake = (path: string, origin: string) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: ${origin}\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n'

  /** Opens a connection that sends the text, never reads, and never closes its half. */
  function frozenPeer(text: string): Socket {
    const socket = connectTcp({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(text)
    return socket
  }

  it('is closed even if the client neither reads from it nor closes it', async () => {
    const texts = [
      handshake('/graphql', 'https://evil.example'),
      handshake('/elsewhere', 'http://127.0.0.1'),
      handshake('/graphql', 'http://127.0.0.1').replace('Sec-WebSocket-Version: 13\r\n', ''),
      // The upgrade is accepted, and the socket then closed with 4408 or for a malformed message.
      handshake('/graphql', 'http://127.0.0.1'),
    ]
    const sockets = texts.flatMap((text) => Array.from({ length: peers }, () => frozenPeer(text)))
    // A byte gets a reset only after the server has closed the connection.
    const reset = () => {
      for (const socket of sockets) if (socket.writable) socket.write('.')
      return sockets.every(({ destroyed }) => destroyed)
    }
    await until(reset, { what: 'all are gone' })
  })
})

it('a WebSocket is closed with 4401 if PostgreSQL cannot store a character of its token', async () => {
  expect(await within('it is closed', openSocket('a\0b').closed)).toBe(4401)
})

describe('WebSockets that never authenticate', () => {
  const silentSocket = () => {
    const socket = connectTcp({ port: Number(new URL(server.url).port), host: '127.0.0.1' })
    socket.on('error', () => undefined)
    socket.resume()
    socket.write(
      'GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
    )
    return socket
  }

  it('are closed above a limit, so that others from the same address can log in', async () => {
    const person = await someone()
    const silent = Array.from({ length: limits.unauthenticatedSocketsPerAddressMax + 20 }, silentSocket)
    await Promise.all(
      silent.map((socket) => new Promise((resolve) => socket.once('data', resolve).once('close', resolve))),
    )
    const logIns = Array.from({ length: 20 }, () => openSocket(person.token))
    await within('all log in', Promise.all(logIns.map(({ connected }) => connected)))
    for (const socket of logIns) await socket.dispose()
    for (const socket of silent) socket.destroy()
  })
})
