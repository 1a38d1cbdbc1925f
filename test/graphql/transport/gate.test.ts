import { get } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Caller, findGateRefusal, type GateRules } from '../../../src/graphql/transport/gate.ts'
import type { Readiness } from '../../../src/graphql/transport/health.ts'
import { listenForMetrics } from '../../../src/graphql/transport/metrics-listener.ts'
import { freePort } from '../../support/berth-server.ts'
import { send, transports } from '../../support/client.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const rules: GateRules = {
  singleUser: true,
  allowedHosts: ['berth.lab'],
  allowedOrigins: ['https://app.lab'],
  publicUrl: null,
}
const many: GateRules = { ...rules, singleUser: false }
const ownPage: GateRules = { ...rules, allowedOrigins: ['http://localhost:5173'] }

describe('the rules of the gate', () => {
  const cases: [passes: boolean, caller: Caller, rules: GateRules][] = [
    [true, { host: '127.0.0.1:4000' }, rules],
    [true, { host: 'localhost:4000' }, rules],
    [true, { host: '[::1]:4000' }, rules],
    [true, { host: 'berth.lab:4000' }, rules],
    [true, { host: 'out.lab' }, { ...rules, publicUrl: 'https://out.lab' }],
    [true, { host: 'any.lab' }, many],
    [true, { host: '127.0.0.1:4000', origin: 'http://127.0.0.1:4000' }, rules],
    [true, { host: 'any.lab', origin: 'http://localhost:5173' }, many],
    [true, { host: '127.0.0.1:4000', origin: 'http://localhost:5173' }, ownPage],
    [true, { host: 'localhost:5173', origin: 'http://localhost:5173' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'http://localhost:5173' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'http://127.0.0.1:4001' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'http://127.0.0.2:4000' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'http://localhost:4000' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'http://127.0.0.1:4001', 'sec-fetch-site': 'same-site' }, rules],
    [false, { host: '127.0.0.1:4000', 'sec-fetch-site': 'same-site' }, rules],
    [true, { host: '127.0.0.1:4000', origin: 'https://app.lab' }, rules],
    [true, { host: 'any.lab', origin: 'https://any.lab' }, many],
    [true, { host: 'any.lab:443', origin: 'https://any.lab' }, many],
    [true, { host: '10.0.0.1', origin: 'https://out.lab' }, { ...many, publicUrl: 'https://out.lab/berth' }],
    [true, { host: 'any.lab', 'sec-fetch-site': 'same-origin' }, many],
    [true, { host: 'any.lab', 'sec-fetch-site': 'none' }, many],
    [true, { host: 'any.lab', origin: 'https://app.lab', 'sec-fetch-site': 'cross-site' }, many],
    [false, { host: 'any.lab', origin: 'https://other.lab', 'sec-fetch-site': 'same-origin' }, many],
    [false, { host: 'any.lab', 'sec-fetch-site': 'cross-site' }, many],
    [false, { host: 'any.lab', 'sec-fetch-site': 'same-site' }, many],
    [false, {}, rules],
    [false, { host: 'evil.example' }, rules],
    [false, { host: 'evil.example:4000' }, rules],
    [false, { host: '127.0.0.1.evil.example' }, rules],
    [false, { host: 'localhost.evil.example' }, rules],
    [false, { host: '127.0.0.1@evil.example' }, rules],
    [false, { host: '' }, rules],
    [false, {}, many],
    [false, { host: '127.0..1:4000' }, many],
    [false, { host: '1127.0.0.1:4000' }, many],
    [false, { host: 'any.lab:65536' }, many],
    [false, { host: '[::1::]' }, many],
    [false, { host: '127.0.0.256:4000' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'https://evil.example' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'null' }, rules],
    [false, { host: '127.0.0.1:4000', origin: '' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'file://' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'http://localhost.evil.example' }, rules],
    [false, { host: '127.0.0.1:4000', origin: 'http://app.lab' }, rules],
    [false, { host: 'any.lab', origin: 'https://other.lab' }, many],
    [false, { host: 'any.lab:4000', origin: 'https://any.lab' }, many],
  ]
  it.each(cases)('accept the request: %s, for %j', (passes, caller, each) => {
    expect(findGateRefusal(caller, each) === null).toBe(passes)
  })
})

const allowed = { origin: 'http://localhost:4173' }

describe('the gate of the server', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({ config: { allowedOrigins: [allowed.origin] } })
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const submission = JSON.stringify({
    query: 'mutation { submitJob(input: { spec: { command: ["true"] } }) { __typename } }',
  })
  const jobs = async () => {
    const [row] = await server.domain.db.sql.query<{ count: number }>('SELECT count(*) FROM job')
    return row?.count
  }
  const json = { 'content-type': 'application/json' }

  it.each([
    [403, { ...json, host: 'evil.example' }],
    [403, { ...json, host: '127.0.0.256' }],
    [403, { ...json, origin: 'https://evil.example' }],
    [403, { ...json, origin: 'null' }],
    [415, {}],
    [415, { 'content-type': 'text/plain' }],
    [415, { 'content-type': 'application/graphql' }],
    [415, { 'content-type': 'application/x-www-form-urlencoded' }],
    [415, { 'content-type': 'multipart/form-data; boundary=x' }],
    [415, { 'content-type': 'application/jsonp' }],
  ])('responds %i to a POST with %j without executing it', async (status, headers) => {
    expect((await send(server.url, { headers, body: submission })).status).toBe(status)
    expect(await jobs()).toBe(0)
  })

  it('refuses an SSE request in the same way', async () => {
    const headers = { ...json, accept: 'text/event-stream', origin: 'https://evil.example' }
    expect((await send(server.url, { headers, body: submission })).status).toBe(403)
    expect(await jobs()).toBe(0)
  })

  it('refuses a mutation by GET', async () => {
    const path = `/graphql?query=${encodeURIComponent('mutation { deleteJob(input: { jobId: "x" }) { __typename } }')}`
    expect((await send(server.url, { method: 'GET', path })).status).toBe(405)
  })

  it('refuses a body over 4 MiB, with and without Content-Length', async () => {
    const body = JSON.stringify({ query: '{ __typename }', variables: { x: 'x'.repeat(10 * 1024 * 1024) } })
    expect((await send(server.url, { headers: json, body })).status).toBe(413)
    // Without a length the connection is cut while the body is being sent.
    await expect(send(server.url, { headers: { ...json, 'transfer-encoding': 'chunked' }, body })).rejects.toThrow()
  })

  it('sends CORS headers only to allowed origins, and never allows credentials', async () => {
    const { headers } = await send(server.url, { headers: { ...json, ...allowed }, path: '/healthz', method: 'GET' })
    expect(headers['access-control-allow-origin']).toBe(allowed.origin)
    expect(headers['access-control-allow-credentials']).toBeUndefined()
    const preflight = await send(server.url, { method: 'OPTIONS', headers: allowed })
    expect(preflight.status).toBe(204)
    for (const origin of ['https://evil.example', 'http://localhost:5173', server.url.replace(/\d+$/, '1')]) {
      const refused = await send(server.url, { method: 'OPTIONS', headers: { origin } })
      expect(refused.status).toBe(403)
      expect(refused.headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  it.each(Object.entries(transports))(
    'in single-user mode over %s accepts an allowed origin, and refuses another loopback port',
    async (_name, transport) => {
      const mutation = 'mutation { submitJob(input: { spec: { command: ["true"] } }) { __typename } }'
      const before = await jobs()
      const origin = 'http://127.0.0.1:5173'
      await expect(transport(server.url, mutation, {}, { headers: { origin } })).rejects.toThrow()
      expect(await jobs()).toBe(before)
      expect((await transport(server.url, mutation, {}, { headers: allowed })).errors).toBeUndefined()
      expect(await jobs()).toBe(Number(before) + 1)
    },
  )

  it.each([
    ['a foreign Host', { host: 'evil.example' }],
    ['a foreign Origin', { origin: 'https://evil.example' }],
  ])('refuses a WebSocket upgrade with %s', async (_what, headers) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers })
    const status = await new Promise<number | undefined>((resolve) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
      socket.on('error', () => undefined)
    })
    expect(status).toBe(403)
  })

  it('refuses a request without a Host header', async () => {
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write('GET /healthz HTTP/1.0\r\n\r\n')
    const text = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))))
    socket.destroy()
    expect(text).toMatch(/^HTTP\/1\.1 403 /)
  })

  const deep = `{ jobs { nodes { ${'dependents { nodes { '.repeat(8)} id ${'} }'.repeat(8)} } } }`
  const bomb = `fragment a on Query { x1: __typename x2: __typename } fragment b on Query { ...a ...a ...a ...a ...a ...a ...a ...a }
    fragment c on Query { ...b ...b ...b ...b ...b ...b ...b ...b } { ...c }`
  const named = (names: number, field: string) => Array.from({ length: names }, (_, i) => `a${i}: ${field}`).join(' ')
  const tailOf = (fields: string) =>
    `subscription { tail(jobId: "job_1", maxBatchBytes: 1048576) { ... on LogBatch { ${fields} } } }`
  const sameFields = `{ jobs { nodes { ${'id '.repeat(1_980)} } } }`
  const documents: [code: string, document: string, variables?: object][] = [
    ['QUERY_TOO_DEEP', deep],
    ['QUERY_TOO_COMPLEX', `{ ${Array.from({ length: 51 }, (_, i) => `a${i}: __typename`).join(' ')} }`],
    ['QUERY_TOO_COMPLEX', `{ jobs { nodes { ${Array.from({ length: 51 }, (_, i) => `a${i}: id`).join(' ')} } } }`],
    ['QUERY_TOO_COMPLEX', bomb],
    ['QUERY_TOO_COMPLEX', sameFields],
    ['QUERY_TOO_COMPLEX', `{ jobs(first: 5) { nodes { logs { ${named(10, 'text')} } } } }`],
    ['QUERY_TOO_COMPLEX', `{ jobs(first: 2) { nodes { logs { ${named(10, 'lines { number text }')} } } } }`],
    ['QUERY_TOO_COMPLEX', `{ jobs(first: 2) { nodes { logs { lines { ${named(20, 'text')} } } } } }`],
    ['QUERY_TOO_COMPLEX', tailOf(named(8, 'text'))],
    ['QUERY_TOO_COMPLEX', tailOf(`lines { ${named(13, 'text')} }`)],
    [
      'QUERY_TOO_COMPLEX',
      `{ jobs(first: 100) { nodes { ${named(4, 'runs(first: 100) { nodes { id number state exitCode stateInfo } }')} } } }`,
    ],
    [
      'QUERY_TOO_COMPLEX',
      `query ($n: Int) { jobs(first: $n) { nodes { ${named(3, 'runs(first: $n) { nodes { id number state } }')} events(first: $n) { nodes { id } } dependents(first: $n) { nodes { id name } } artifacts(first: $n) { nodes { id name } } } } }`,
      { n: 100 },
    ],
    ['QUERY_TOO_COMPLEX', '{ jobs(first: 100) { nodes { logs { text } } } }'],
    ['QUERY_TOO_COMPLEX', `${'{ a '.repeat(1_500)} ${'} '.repeat(1_500)}`],
    ['QUERY_TOO_COMPLEX', `subscription { ${Array.from({ length: 51 }, (_, i) => `a${i}: __typename`).join(' ')} }`],
    ['GRAPHQL_PARSE_FAILED', '{ jobs('],
    ['GRAPHQL_PARSE_FAILED', ''],
    ['GRAPHQL_VALIDATION_FAILED', '{ nothing }'],
    ['GRAPHQL_VALIDATION_FAILED', 'mutation { submitJob(input: { spec: { nothing: 1 } }) { __typename } }'],
    [
      'GRAPHQL_VALIDATION_FAILED',
      'mutation { submitJob(input: { spec: { resources: { memoryGib: 1.5 } } }) { __typename } }',
    ],
    [
      'BAD_REQUEST',
      'mutation ($s: JobSpecInput!) { submitJob(input: { spec: $s }) { __typename } }',
      { s: { nothing: 1 } },
    ],
    ['BAD_REQUEST', 'query ($n: Int) { jobs(first: $n) { nodes { id } } }', { n: 'x' }],
    ['BAD_REQUEST', 'query ($id: ID!) { job(id: $id) { id } }'],
  ]

  describe.each(Object.entries(transports))('over %s', (name, transport) => {
    it.each(documents)('returns %s for the document %s', async (code, document, variables) => {
      if (document === '' && name !== 'socket') return // an empty query is no GraphQL request over HTTP
      const statements = server.countStatements()
      const { errors, data } = await transport(server.url, document, variables)
      expect(errors?.map((error) => error.extensions.code)).toContain(code)
      expect(errors?.[0]?.extensions.requestId).toBeTruthy()
      expect(JSON.stringify(errors)).not.toMatch(/"http"|node_modules|\bat /)
      expect(data ?? null).toBeNull()
      expect(statements.filter((text) => /job|run/.test(text))).toEqual([])
    })
  })

  it('returns the cost of a query, and 400 if the cost is above the limit', async () => {
    const cheap = await transports.http(server.url, '{ jobs(first: 10) { nodes { id } } }')
    expect(cheap.extensions?.cost).toBe(211)
    const dear = await transports.http(server.url, '{ jobs(first: 100) { nodes { logs { text } } } }')
    expect(dear.status).toBe(400)
  })

  it('refuses a document that takes too long to validate, with the reason', async () => {
    const { status, errors } = await transports.http(server.url, sameFields)
    expect(status).toBe(400)
    expect(errors?.map(({ message }) => message)).toEqual([expect.stringContaining('fields of the same name')])
  })

  it('closes a WebSocket after a message over 64 KiB', async () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(JSON.stringify({ type: 'ping', payload: { x: 'x'.repeat(70_000) } }))
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(1009)
  })
})

describe('the listener for metrics', () => {
  it('refuses requests of other sites, and in single-user mode requests with another Host header', async () => {
    const port = await freePort()
    const checkReadiness = async (): Promise<Readiness> => ({
      ready: true,
      database: 'ok',
      migrations: 'ok',
      warnings: [],
    })
    const close = await listenForMetrics({ host: '127.0.0.1', port, rules, checkReadiness })
    const statusOf = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        get({ port, host: '127.0.0.1', path: '/metrics', headers, agent: false }, (response) => {
          response.resume()
          resolve(response.statusCode)
        }).on('error', reject)
      })
    expect(await statusOf({})).toBe(200)
    expect(await statusOf({ host: 'berth.lab:9464' })).toBe(200)
    expect(await statusOf({ host: 'rebound.example:9464' })).toBe(403)
    expect(await statusOf({ origin: 'https://evil.example' })).toBe(403)
    expect(await statusOf({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    await close()
  })
})
