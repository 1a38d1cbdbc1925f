import { createHash } from 'node:crypto'
import { createClient } from 'graphql-ws'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { WebSocket } from 'ws'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { createAuthenticator, createSingleUserAuthenticator } from '../../../src/graphql/callers/authenticate.ts'
import { send } from '../../support/client.ts'
import { bearer, mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const secret = 'the-bootstrap-secret-of-this-test'
let admin: Person

const server = await openTestServer({ logIn: { oidc: null } })
beforeAll(async () => {
  await applyBootstrapToken(server.domain, secret)
  admin = personWith(server.url, secret)
})

const wanted = 'secret token { id prefix scopes name lastUsedAt revokedAt expiresAt }'
const createToken = (by: Person, input: object) => mutate(by, 'createToken', { input: { name: 't', ...input }, wanted })

async function userWith(name: string, level: string): Promise<string> {
  const { user } = await mutate(admin, 'createUser', { input: { name, level }, wanted: 'user { id }' })
  return user.id
}

async function personOf(userId: string, input: object = {}): Promise<Person & { id: string }> {
  const { secret: made, token } = await createToken(admin, { userId, ...input })
  return { ...personWith(server.url, made), id: token.id }
}

const revoke = (by: Person, id: string) =>
  by.data('mutation ($id: ID!) { revokeToken(input: { tokenId: $id }) { __typename ... on Problem { code } } }', { id })

describe('an API token', () => {
  it('is shown only at its creation, and stored as a hash', async () => {
    const { secret: made, token } = await createToken(admin, { name: 'laptop' })
    expect(made).toMatch(/^berth_[0-9a-z]{10}[\w-]{43}$/)
    expect(made.startsWith(token.prefix)).toBe(true)
    expect(token).toMatchObject({ name: 'laptop', lastUsedAt: null })
    expect(token.scopes).toEqual(['READ', 'SUBMIT', 'OPERATE', 'ADMIN', 'EXEC'])
    const [row] = await server.domain.db.sql.query<{ text: string; hash: Buffer }>(
      'SELECT t::text AS text, hash FROM api_token t WHERE id = $1',
      [token.id],
    )
    expect(row?.text).not.toContain(made.slice(token.prefix.length))
    expect(row?.hash).toEqual(createHash('sha256').update(made).digest())
    const [entry] = await server.domain.db.sql.query<{ text: string }>(
      `SELECT e::text AS text FROM audit_entry e WHERE object_id = $1`,
      [token.id],
    )
    expect(entry?.text).toContain('laptop')
    expect(entry?.text).not.toContain(made.slice(token.prefix.length))
  })

  it.each([
    ['another secret with its prefix', (made: string) => `${made.slice(0, -1)}${made.endsWith('A') ? 'B' : 'A'}`],
    ['its prefix alone', (made: string) => made.slice(0, 16)],
    ['an unknown token', () => 'berth_nothing'],
  ])('does not authenticate a caller who sends %s', async (_, other) => {
    const { secret: made } = await createToken(admin, {})
    expect((await personWith(server.url, made).ask('{ viewer { user { name } } }')).status).toBe(200)
    expect(await personWith(server.url, other(made)).ask('{ serverInfo { name } }')).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    })
  })

  it('permits only what its scopes allow; a refusal names the missing scope', async () => {
    const reader = await personOf(await userWith('reader', 'ADMIN'), { scopes: ['READ'] })
    const { viewer } = await reader.data('{ viewer { permissions scopes } }')
    expect(viewer).toEqual({ permissions: ['JOB_VIEW_OWN', 'JOB_VIEW_ALL', 'AUDIT_READ'], scopes: ['READ'] })
    const job = { spec: { command: ['true'] } }
    expect(await mutate(reader, 'submitJob', { input: job })).toMatchObject({ requiredScope: 'SUBMIT' })
    expect(await mutate(reader, 'createTeam', { input: { name: 'x' } })).toMatchObject({
      requiredScope: 'ADMIN',
    })
    const submitter = await personOf(await userWith('submitter', 'ADMIN'), { scopes: ['SUBMIT'] })
    const made = await mutate(submitter, 'submitJob', { input: job, wanted: 'job { id }' })
    expect(made.__typename).toBe('SubmitJobSuccess')
    const others = await mutate(admin, 'submitJob', { input: job, wanted: 'job { id }' })
    const cancel = (jobId: string) => mutate(submitter, 'cancelJob', { input: { jobId } })
    expect(await cancel(made.job.id)).toMatchObject({ __typename: 'CancelJobSuccess' })
    expect(await cancel(others.job.id)).toMatchObject({ requiredScope: 'OPERATE' })
  })

  it('cannot create a token with a scope that it does not have', async () => {
    const id = await userWith('narrow', 'ADMIN')
    const narrow = await personOf(id, { scopes: ['ADMIN'] })
    expect(await createToken(narrow, { scopes: ['SUBMIT'] })).toMatchObject({ requiredScope: 'SUBMIT' })
    expect((await createToken(narrow, {})).token.scopes).toEqual(['READ', 'ADMIN'])
  })

  it('is refused without a name, a scope or an expiry in the future', async () => {
    for (const [input, path] of [
      [{ name: '' }, ['name']],
      [{ scopes: [] }, ['scopes']],
      [{ expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt']],
    ] as const)
      expect(await createToken(admin, input)).toMatchObject({ code: 'INVALID_INPUT', violations: [{ path }] })
  })

  it('of another user can be created, listed or revoked only with the permission token.any', async () => {
    const [uno, due] = [await userWith('uno', 'RESEARCHER'), await userWith('due', 'RESEARCHER')]
    const [one, two] = [await personOf(uno), await personOf(due)]
    expect(await createToken(one, { userId: due })).toMatchObject({ requiredPermission: 'TOKEN_ANY' })
    expect((await revoke(one, two.id))['revokeToken']).toMatchObject({ code: 'NOT_FOUND' })
    const list = 'query ($userId: ID) { tokens(userId: $userId) { nodes { user { name } } } }'
    expect((await one.data(list))['tokens'].nodes).toEqual([{ user: { name: 'uno' } }])
    expect(await one.ask(list, { userId: due })).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] })
    expect((await admin.data(list, { userId: due }))['tokens'].nodes).toEqual([{ user: { name: 'due' } }])
    expect((await createToken(one, {})).__typename).toBe('CreateTokenSuccess')
    const viewer = await personOf(await userWith('tre', 'VIEWER'))
    expect(await createToken(viewer, {})).toMatchObject({ requiredPermission: 'TOKEN_OWN' })
  })

  it('of a user with more permissions cannot be created or revoked', async () => {
    const allow = ['TOKEN_ANY', 'USER_WRITE']
    const { user } = await mutate(admin, 'createUser', {
      input: { name: 'clerk', level: 'RESEARCHER', allow },
      wanted: 'user { id }',
    })
    const clerk = await personOf(user.id)
    const [boss, muted] = [await userWith('boss', 'ADMIN'), await userWith('muted', 'LEAD')]
    const [ofBoss, ofMuted] = [await personOf(boss), await personOf(muted)]
    // The LEAD has the same permissions as the clerk, and a higher level.
    const deny = ['JOB_VIEW_ALL', 'JOB_APPROVE', 'JOB_PRIORITY', 'AUDIT_READ']
    await mutate(admin, 'updateUser', { input: { userId: muted, deny } })
    for (const [id, level, userId] of [
      [ofBoss.id, 'ADMIN', boss],
      [ofMuted.id, 'LEAD', muted],
    ] as const) {
      expect((await revoke(clerk, id))['revokeToken']).toMatchObject({ code: 'FORBIDDEN' })
      expect(await createToken(clerk, { userId })).toMatchObject({ requiredLevel: level })
    }
    expect((await ofBoss.ask('{ viewer { user { name } } }')).status).toBe(200)
    const peer = await personOf(await userWith('peer', 'RESEARCHER'))
    expect((await revoke(clerk, peer.id))['revokeToken'].__typename).toBe('RevokeTokenSuccess')
  })

  it('cannot be created for a disabled user', async () => {
    const userId = await userWith('left', 'RESEARCHER')
    await mutate(admin, 'updateUser', { input: { userId: userId, disabled: true } })
    expect(await createToken(admin, { userId })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path: ['userId'] }],
    })
  })

  it('records the minute of its last use, with one write per minute', async () => {
    const person = await personOf(await userWith('busy', 'RESEARCHER'))
    const statements = server.countStatements()
    for (let i = 0; i < 5; i++) await person.data('{ viewer { user { name } } }')
    expect(statements.filter((text) => text.includes('UPDATE api_token')).length).toBeLessThanOrEqual(2)
    const query = 'query ($id: ID!) { node(id: $id) { ... on ApiToken { lastUsedAt } } }'
    expect((await person.data(query, { id: person.id }))['node'].lastUsedAt).toMatch(/:00\.000Z$/)
  })

  it('is unchanged by a second revocation', async () => {
    const person = await personOf(await userWith('gone', 'RESEARCHER'))
    const query = 'query ($id: ID!) { node(id: $id) { ... on ApiToken { revokedAt } } }'
    expect((await revoke(admin, person.id))['revokeToken'].__typename).toBe('RevokeTokenSuccess')
    const { node } = await admin.data(query, { id: person.id })
    expect((await revoke(admin, person.id))['revokeToken'].__typename).toBe('RevokeTokenSuccess')
    expect(await admin.data(query, { id: person.id })).toEqual({ node })
    expect((await person.ask('{ serverInfo { name } }')).status).toBe(401)
  })
})

/** A live `tail`: resolves with the close code of its socket, or when the SSE connection is cut. */
const tail = 'subscription ($jobId: ID!) { tail(jobId: $jobId) { __typename } }'

function tailOverSocket(token: string, jobId: string) {
  let socket: WebSocket | undefined
  const closed = Promise.withResolvers<number>()
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: bearer(token),
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => undefined,
    on: {
      opened: (opened) => {
        socket = opened as WebSocket
      },
      closed: (event) => closed.resolve((event as { code: number }).code),
    },
  })
  const subscribed = client.iterate({ query: tail, variables: { jobId } }).next()
  subscribed.catch(() => undefined)
  return { closed: closed.promise, isOpen: () => socket?.readyState === WebSocket.OPEN }
}

async function tailOverSse(token: string, jobId: string) {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(token) }
  const body = JSON.stringify({ query: tail, variables: { jobId } })
  const response = await fetch(`${server.url}/graphql`, { method: 'POST', headers, body })
  const cut = response.text().then(
    () => 'completed',
    () => 'cut',
  )
  return { status: response.status, cut }
}

const soon = (what: string, ended: Promise<unknown>) => {
  let done: { value: unknown } | undefined
  void ended.then((value) => {
    done = { value }
  })
  return until(() => done, { what }).then(({ value }) => value)
}

describe('a live stream', () => {
  const readers = () => server.logTail.openFollowers()

  async function watching(name: string, input: object = {}) {
    const userId = await userWith(name, 'RESEARCHER')
    const person = await personOf(userId, input)
    const made = await mutate(await personOf(userId), 'submitJob', {
      input: { spec: { command: ['true'] } },
      wanted: 'job { id }',
    })
    const before = readers()
    const socket = tailOverSocket(person.token, made.job.id)
    const sse = await tailOverSse(person.token, made.job.id)
    await until(() => readers() === before + 2, { what: 'both tails are open' })
    return { person, userId, socket, sse }
  }

  const revokedElsewhere = (id: string) =>
    server.domain.db.sql.query('UPDATE api_token SET revoked_at = berth_now() WHERE id = $1', [id])

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['when its token is revoked', (id) => revoke(admin, id)],
    ['when another process revoked its token silently', (id) => revokedElsewhere(id)],
  ])('ends %s: a WebSocket with code 4401, an SSE stream by its end', async (name, end) => {
    const { person, socket, sse } = await watching(name.replace(/\W/g, '.'))
    await end(person.id)
    expect(await soon('the socket is closed', socket.closed)).toBe(4401)
    expect(await soon('the stream is cut', sse.cut)).toBe('cut')
    expect((await tailOverSse(person.token, 'job_x')).status).toBe(401)
  })

  it('ends with 4401 when its user is disabled, and with 4403 when the user gets other permissions', async () => {
    const gone = await watching('disabled')
    await mutate(admin, 'updateUser', { input: { userId: gone.userId, disabled: true } })
    expect(await soon('the socket is closed', gone.socket.closed)).toBe(4401)
    const changed = await watching('promoted')
    await mutate(admin, 'updateUser', { input: { userId: changed.userId, level: 'LEAD' } })
    expect(await soon('the socket is closed', changed.socket.closed)).toBe(4403)
    const denied = await watching('denied')
    await mutate(admin, 'updateUser', { input: { userId: denied.userId, deny: ['JOB_SUBMIT'] } })
    expect(await soon('the socket is closed', denied.socket.closed)).toBe(4403)
    const other = await watching('other')
    await mutate(admin, 'updateUser', { input: { userId: other.userId, deny: ['JOB_SUBMIT'], allow: ['JOB_APPROVE'] } })
    expect(await soon('the socket is closed', other.socket.closed)).toBe(4403)
  })

  it('ends with 4403 when its token expires', async () => {
    const inMs = 4_000
    const expiresAt = new Date(server.domain.time.nowMs() + inMs).toISOString()
    const { socket, sse, person } = await watching('mayfly', { expiresAt })
    expect(await soon('the socket is closed', socket.closed)).toBe(4403)
    expect(await soon('the stream is cut', sse.cut)).toBe('cut')
    // Sockets end by the server's estimate of the database time, requests by the database clock.
    const refusal = async () => (await person.ask('{ serverInfo { name } }')).errors?.[0]?.message
    expect(await until(refusal, { what: 'the token is refused' })).toMatch(/expired/)
    expect(await soon('it is not let in', tailOverSocket(person.token, 'job_x').closed)).toBe(4403)
  })

  it('is closed with 4408 if the client has sent no token after three seconds', async () => {
    expect(await soon('it is not let in', tailOverSocket('', 'job_x').closed)).toBe(4401)
    const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    expect(await soon('it waited long enough', closed)).toBe(4408)
  })
})

describe('the bootstrap token', () => {
  it('is created once, and revokes the previous bootstrap token', async () => {
    const count = async () =>
      (await server.domain.db.sql.query(`SELECT id FROM api_token WHERE name = 'bootstrap' AND revoked_at IS NULL`))
        .length
    await applyBootstrapToken(server.domain, secret)
    expect(await count()).toBe(1)
    await applyBootstrapToken(server.domain, 'another-secret-of-this-test')
    expect(await count()).toBe(1)
    expect((await admin.ask('{ serverInfo { name } }')).status).toBe(401)
    admin = personWith(server.url, 'another-secret-of-this-test')
    expect((await admin.data('{ viewer { user { name level } } }'))['viewer'].user).toEqual({
      name: 'admin',
      level: 'ADMIN',
    })
  })

  it('restores the disabled administrator if its secret is new, but not if it was used before', async () => {
    const fresh = 'a-third-secret-of-this-test'
    const disable = () =>
      server.domain.db.sql.query(`UPDATE "user" SET disabled = true, level = 'VIEWER' WHERE name = 'admin'`)
    await disable()
    await applyBootstrapToken(server.domain, fresh)
    admin = personWith(server.url, fresh)
    const who = '{ viewer { user { name level } } }'
    expect((await admin.data(who))['viewer'].user).toEqual({ name: 'admin', level: 'ADMIN' })
    await disable()
    await applyBootstrapToken(server.domain, fresh)
    expect((await admin.ask(who)).status).toBe(401)
    await server.domain.db.sql.query(`UPDATE "user" SET disabled = false, level = 'ADMIN' WHERE name = 'admin'`)
  })
})

describe('a caller without a token', () => {
  const nobody = () => personWith(server.url, '')

  it('may read only the data that a log-in page needs', async () => {
    const query =
      '{ serverInfo { name release title accent singleUser oidcIssuer oidcClientId oidcScopes } __typename }'
    expect(await nobody().data(query)).toMatchObject({ serverInfo: { name: 'Berth', singleUser: false } })
    for (const other of [
      '{ serverInfo { maxPageSize } }',
      '{ serverInfo { publicUrl } }',
      '{ serverInfo { links { url } } }',
      '{ viewer { permissions } }',
      '{ jobs { nodes { id } } }',
      '{ node(id: "job_x") { id } }',
      '{ __schema { queryType { name } } }',
      '{ ...F } fragment F on Query { __type(name: "Job") { name } }',
      'mutation { deleteJob(input: { jobId: "job_x" }) { __typename } }',
    ])
      expect(await nobody().ask(other)).toMatchObject({
        status: 401,
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      })
  })

  it('is refused if the URL contains a token', async () => {
    const { token } = await personOf(await userWith('addressed', 'VIEWER'))
    const query = encodeURIComponent('{ viewer { permissions } }')
    for (const name of ['token', 'access_token', 'authorization'])
      expect(
        (
          await send(server.url, {
            method: 'GET',
            path: `/graphql?query=${query}&${name}=Bearer%20${token}&${name}=${token}`,
          })
        ).status,
      ).toBe(401)
    const socket = new WebSocket(
      `${server.url.replace('http', 'ws')}/graphql?access_token=${token}`,
      'graphql-transport-ws',
    )
    socket.onopen = () => socket.send('{ "type": "connection_init" }')
    expect(await new Promise((resolve) => (socket.onclose = ({ code }) => resolve(code)))).toBe(4401)
  })

  it('is refused if the Authorization header has another scheme or an empty token', async () => {
    for (const authorization of ['Basic YTpi', 'Bearer ', 'Bearer a b', 'bearer'])
      expect(
        (
          await send(server.url, {
            headers: { 'content-type': 'application/json', authorization },
            body: JSON.stringify({ query: '{ viewer { permissions } }' }),
          })
        ).status,
      ).toBe(401)
  })
})

test('after single-user mode has ended, all callers are refused, even the administrator', async () => {
  let hasEnded = false
  const authenticate = createSingleUserAuthenticator(server.domain, server.admin, () => hasEnded)
  const callers = [undefined, `Bearer ${secret}`].map((authorization) => ({ authorization, ip: null, requestId: null }))
  for (const caller of callers)
    expect(await authenticate(caller)).toMatchObject({ viewer: { userId: server.admin.userId } })
  hasEnded = true
  for (const caller of callers) await expect(authenticate(caller)).rejects.toThrow(/Single-user mode has ended/)
})

describe('concurrent token checks', () => {
  it('share a few SQL statements, and each gets the result for its own token', async () => {
    const authenticate = createAuthenticator(server.domain, null)
    const people = await Promise.all(
      ['a1', 'a2', 'a3'].map(async (name) => ({ name, token: (await personOf(await userWith(name, 'VIEWER'))).token })),
    )
    const statements = server.countStatements()
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => people[i % 3]).map(async (person) => {
        const identified = await authenticate({ authorization: `Bearer ${person?.token}`, ip: null, requestId: null })
        return typeof identified === 'object' && identified.viewer.userName === person?.name
      }),
    )
    expect(answers.every(Boolean)).toBe(true)
    expect(statements.filter((text) => text.includes('FROM api_token')).length).toBeLessThan(5)
  })
})
