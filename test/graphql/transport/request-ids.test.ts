import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { chainAll } from '../../../src/domain/audit/audit-chain.ts'
import { createLog } from '../../../src/platform/log.ts'
import { send, transports } from '../../support/client.ts'
import { recordLines } from '../../support/recorded-lines.ts'
import { openTestServer } from '../../support/server.ts'

const { lines, destination } = recordLines()
const server = await openTestServer({ log: createLog('info', { destination }) })

const json = { 'content-type': 'application/json' }
const requestWith = (id: string, query = '{ serverInfo { name } }') =>
  send(server.url, { headers: { ...json, 'x-request-id': id }, body: JSON.stringify({ query }) })
const createTeam = (name: string) =>
  `mutation Create { createTeam(input: { name: "${name}" }) { ... on CreateTeamSuccess { team { id } } } }`
const uuid = /^[\da-f-]{36}$/

describe('the id of a request', () => {
  it('is the X-Request-ID that the caller sent', async () => {
    const { headers } = await requestWith('proxy-1.A_2')
    expect(headers['x-request-id']).toBe('proxy-1.A_2')
  })

  it.each(['', 'two words', 'line"', 'é', 'x'.repeat(129)])('is new if the caller sends %j', async (id) => {
    const { headers } = await requestWith(id)
    expect(headers['x-request-id']).toMatch(uuid)
  })

  it.each(['/healthz', '/readyz', '/metrics', '/nowhere', '/download/jobs/x/log', '/'])(
    'is in the response of %s',
    async (path) => {
      const { headers } = await send(server.url, { method: 'GET', path, headers: { 'x-request-id': 'seen' } })
      expect(headers['x-request-id']).toBe('seen')
    },
  )

  it.each(['http', 'sse'] as const)('is in each GraphQL error over %s', async (transport) => {
    const more = { headers: { 'x-request-id': 'failing' } }
    for (const query of ['{ nothing }', '{', '{ jobs(first: 1000) { nodes { id } } }']) {
      const { errors } = await transports[transport](server.url, query, {}, more)
      expect(errors?.map(({ extensions }) => extensions.requestId)).toContain('failing')
    }
  })

  it('is in the error of a request whose body is not read', async () => {
    const refused = await send(server.url, { headers: { 'x-request-id': 'put' }, method: 'PUT' })
    expect(JSON.parse(refused.text).errors[0].extensions.requestId).toBe('put')
  })

  it('has a number for each operation of a WebSocket', async () => {
    const more = { headers: { 'x-request-id': 'socket' } }
    const { errors } = await transports.socket(server.url, '{ nothing }', {}, more)
    expect(errors?.[0]?.extensions.requestId).toBe('socket.1')
  })

  it('is in the response to an upgrade, accepted or refused', async () => {
    const url = server.url.replace('http', 'ws')
    const headers = { 'x-request-id': 'upgrade' }
    const accepted = new WebSocket(`${url}/graphql`, 'graphql-transport-ws', { headers })
    const [{ headers: received }] = await once(accepted, 'upgrade')
    expect(received['x-request-id']).toBe('upgrade')
    accepted.terminate()
    const refused = new WebSocket(`${url}/elsewhere`, 'graphql-transport-ws', { headers })
    refused.on('error', () => undefined)
    const [, response] = await once(refused, 'unexpected-response')
    expect([response.statusCode, response.headers['x-request-id']]).toEqual([404, 'upgrade'])
  })

  it('is in the audit log', async () => {
    await requestWith('from-http', createTeam('over-http'))
    await transports.socket(server.url, createTeam('over-a-socket'), {}, { headers: { 'x-request-id': 'from-socket' } })
    await chainAll(server.domain)
    const { data } = await transports.http(server.url, '{ auditLog(first: 2) { nodes { requestId } } }')
    expect(data?.['auditLog'].nodes).toEqual([{ requestId: 'from-socket.1' }, { requestId: 'from-http' }])
    const verified = await transports.http(server.url, '{ verifyAudit { ok message } }')
    expect(verified.data?.['verifyAudit']).toEqual({ ok: true, message: null })
  })
})

describe('the log of requests', () => {
  const linesOf = (requestId: string) => lines.filter((line) => line['requestId'] === requestId)

  it('has a line for each mutation, without its variables', async () => {
    const query =
      'mutation New($name: String!) { one: createTeam(input: { name: $name }) { __typename } two: createTeam(input: { name: $name }) { __typename } deleteTeam(input: { teamId: "team_0" }) { __typename } }'
    const variables = { name: 'a marker of variables\n' }
    const body = JSON.stringify({ query, variables })
    await send(server.url, { headers: { ...json, 'x-request-id': 'mutating' }, body })
    expect(linesOf('mutating')).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        operation: 'New',
        fields: ['createTeam', 'deleteTeam'],
        user: 'local',
        userId: server.admin.userId,
        outcome: 'INVALID_INPUT, NOT_FOUND',
        ms: expect.any(Number),
        requestId: 'mutating',
        ip: '127.0.0.1',
        msg: 'a mutation',
      },
    ])
    expect(JSON.stringify(lines)).not.toContain('a marker of variables')
  })

  it('has the result of each mutation over a WebSocket', async () => {
    const more = { headers: { 'x-request-id': 'in-socket' } }
    await transports.socket(server.url, createTeam('logged'), {}, more)
    expect(linesOf('in-socket.1')).toMatchObject([{ operation: 'Create', outcome: 'OK', ip: '127.0.0.1' }])
  })

  it('has a line for a query only if it takes more than a second, as a warning', async () => {
    await requestWith('quick')
    expect(linesOf('quick')).toEqual([])
    await using _held = await holdUsers()
    await requestWith('slow', 'query Slow { users(first: 1) { nodes { name } } }')
    expect(linesOf('slow')).toMatchObject([
      { level: 40, operation: 'Slow', fields: ['users'], outcome: 'OK', msg: 'a slow query' },
    ])
  })

  it('has a line for an internal error, with the id that the caller got', async () => {
    await server.domain.db.sql.query('ALTER TABLE team RENAME TO team_away')
    const { text } = await requestWith('broken', '{ teams(first: 1) { nodes { name } } }').finally(() =>
      server.domain.db.sql.query('ALTER TABLE team_away RENAME TO team'),
    )
    expect(JSON.parse(text).errors[0].extensions).toEqual({ code: 'INTERNAL_SERVER_ERROR', requestId: 'broken' })
    expect(linesOf('broken')).toMatchObject([{ level: 50, msg: 'a request failed' }])
  })
})

/** Locks the table of users for 1.2 s. */
async function holdUsers(): Promise<AsyncDisposable> {
  const held = Promise.withResolvers<void>()
  const done = server.domain.db.transaction(async (sql) => {
    await sql.query('LOCK TABLE "user" IN ACCESS EXCLUSIVE MODE')
    held.resolve()
    await sql.query('SELECT pg_sleep(1.2)')
  })
  await held.promise
  return { [Symbol.asyncDispose]: async () => void (await done) }
}
