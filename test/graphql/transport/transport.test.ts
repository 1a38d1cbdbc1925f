import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { compressedBytesMin } from '../../../src/graphql/transport/compression.ts'
import { send } from '../../support/client.ts'
import { openTestServer, startServer } from '../../support/server.ts'

/** Status codes, headers and connections of HTTP. */
const server = await openTestServer({
  config: { allowedOrigins: ['http://localhost:5173'], allowedHeaders: ['x-team'] },
})

const json = { 'content-type': 'application/json' }
const body = JSON.stringify({ query: '{ serverInfo { name } }' })
const live = JSON.stringify({ query: 'subscription { workloadStatus { depth } }' })

it('CORS allows the usual request headers, and those of the configuration', async () => {
  const origin = 'http://localhost:5173'
  const { headers } = await send(server.url, { method: 'OPTIONS', headers: { origin } })
  const allowed = String(headers['access-control-allow-headers']).split(', ')
  for (const name of [
    'authorization',
    'content-type',
    'traceparent',
    'apollographql-client-name',
    'apollographql-client-version',
    'x-request-id',
    'x-team',
  ])
    expect(allowed).toContain(name)
  const answer = await send(server.url, { headers: { ...json, origin }, body })
  expect(answer.headers['access-control-expose-headers']).toBe('retry-after, x-request-id')
})

it('idle connections stay open longer than load balancers keep theirs', async () => {
  const { headers } = await send(server.url, { headers: { ...json, connection: 'keep-alive' }, body })
  expect(Number(/timeout=(\d+)/.exec(String(headers['keep-alive']))?.[1])).toBeGreaterThan(60)
})

it.each([
  ['image/png', body, 406],
  ['multipart/mixed;boundary=graphql;subscriptionSpec=1.0', live, 406],
  [
    'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9',
    live,
    406,
  ],
  ['application/json', live, 406],
])('a wrong request with Accept: %s is refused with a code and a requestId', async (accept, sent, status) => {
  const answer = await send(server.url, { headers: { ...json, accept }, body: sent })
  expect(answer.status).toBe(status)
  expect(JSON.parse(answer.text).errors[0].extensions).toEqual({ code: 'BAD_REQUEST', requestId: expect.any(String) })
})

it.each([
  ['the request of a subscription is refused', 'subscription { workloadStatus { depth } }', 413],
  ['a query is accepted', '{ serverInfo { name } }', 200],
])('over SSE, %s if it is larger than a WebSocket message may be', async (_what, query, status) => {
  const sent = JSON.stringify({ query, variables: { unused: 'x'.repeat(limits.subscriptionBytesMax) } })
  const answer = await send(server.url, { headers: { ...json, accept: 'text/event-stream' }, body: sent })
  expect(answer.status).toBe(status)
  if (status === 413) expect(answer.text).toContain(`has ${sent.length} bytes; the limit is 65536`)
})

it.each(['PUT', 'DELETE'])('a %s request of the single connection mode of graphql-sse is refused', async (method) => {
  const answer = await send(server.url, { method })
  expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, OPTIONS'])
  expect(JSON.parse(answer.text).errors[0]).toMatchObject({
    message: expect.stringContaining('single connection mode'),
    extensions: { requestId: expect.any(String) },
  })
})

it('@defer is not supported', async () => {
  const deferred = JSON.stringify({ query: '{ ... @defer { __typename } }' })
  const { text } = await send(server.url, { headers: json, body: deferred })
  expect(JSON.parse(text).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
})

it('compressed request bodies are refused with 415 and Accept-Encoding', async () => {
  const answer = await send(server.url, { headers: { ...json, 'content-encoding': 'gzip' }, body })
  expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity'])
  expect(answer.text).toContain('must not be compressed')
  expect((await send(server.url, { headers: { ...json, 'content-encoding': 'identity' }, body })).status).toBe(200)
})

/** Sends a request with a whole URL in the first line, like proxies do. */
async function asked(target: string, headers: string[] = []): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write([`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n'))
  const [part] = await once(socket, 'data')
  socket.destroy()
  return String(part)
}

describe('a request whose target is a path or an absolute URL', () => {
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${btoa('x'.repeat(16))}`,
  ]

  it.each([
    [200, '/graphql?query={__typename}', []],
    [200, 'http://127.0.0.1:1/graphql?query={__typename}', []],
    [200, 'HTTP://localhost/healthz', []],
    [101, 'http://localhost/graphql', [...upgrade, 'Sec-WebSocket-Protocol: graphql-transport-ws']],
    [403, 'http://evil.example/graphql?query={__typename}', []],
    [403, 'http://evil.example/graphql', upgrade],
    [200, '/graphql?query={__typename}', ['Connection: Upgrade', 'Upgrade: h2c']],
    [404, '/nothing', upgrade],
    [403, '/graphql?query={__typename}', ['Host: evil.example']],
    [403, 'http://localhost/graphql?query={__typename}', ['Host: evil.example']],
    [404, 'http://localhost/nothing', []],
    [404, 'http://', []],
  ])('gets the status %i for %s', async (status, target, headers) => {
    expect(await asked(target, headers)).toMatch(`HTTP/1.1 ${status} `)
  })
})

function raw(headers: Record<string, string>, sent: string): Promise<{ response: IncomingMessage; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${server.url}/graphql`,
      { method: 'POST', headers: { ...json, ...headers } },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => {
          parts.push(part)
          if (!String(response.headers['content-type']).startsWith('text/event-stream')) return
          request.destroy()
          resolve({ response, bytes: Buffer.concat(parts) })
        })
        response.on('end', () => resolve({ response, bytes: Buffer.concat(parts) }))
      },
    )
    request.on('error', reject)
    request.end(sent)
  })
}

describe('compression', () => {
  const long = JSON.stringify({ query: '{ __schema { types { name description } } }' })
  const read = { br: brotliDecompressSync, gzip: gunzipSync } as const

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
  ] as const)('is applied to a long response for Accept-Encoding: %s', async (accepted, encoding) => {
    const plain = await raw({}, long)
    expect(plain.response.headers['content-encoding']).toBeUndefined()
    const { response, bytes } = await raw({ 'accept-encoding': accepted }, long)
    expect(response.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Origin, Accept-Encoding' })
    expect(read[encoding](bytes).equals(plain.bytes)).toBe(true)
    expect(bytes.length).toBeLessThan(plain.bytes.length / 3)
  })

  it.each([
    ['identity', long],
    ['br;q=0', long],
    ['gzip', body],
  ])('is not applied for Accept-Encoding: %s if refused or if the response is small', async (accepted, sent) => {
    const { response, bytes } = await raw({ 'accept-encoding': accepted }, sent)
    expect(response.headers['content-encoding']).toBeUndefined()
    if (sent === body) expect(bytes.length).toBeLessThan(compressedBytesMin)
  })

  it('is not applied to streams, which a proxy might otherwise buffer', async () => {
    const { response, bytes } = await raw({ accept: 'text/event-stream', 'accept-encoding': 'gzip, br' }, live)
    expect(response.headers['x-accel-buffering']).toBe('no')
    expect(['none', undefined]).toContain(response.headers['content-encoding'])
    expect(String(bytes)).toMatch(/^:/)
  })
})

describe('TCP connections above the limit', () => {
  it('are closed at once, and served again after another connection has closed', async () => {
    await using small = await startServer({ connectionsMax: 2 })
    const { port } = new URL(small.url)
    const open = async () => {
      const socket = connect(Number(port), '127.0.0.1')
      await once(socket, 'connect')
      return socket
    }
    const idle = [await open(), await open()]
    const refused = await open()
    await once(refused, 'close')
    for (const socket of idle) socket.destroy()
    await Promise.all(idle.map((socket) => once(socket, 'close')))
    await expect
      .poll(() => send(small.url, { method: 'GET', path: '/healthz', agent: false }).catch(String))
      .toMatchObject({ status: 200 })
  })
})

it.each([
  [200, 'GET', '/healthz', {}],
  [200, 'GET', '/readyz', {}],
  [404, 'GET', '/', {}],
  [404, 'GET', '/nothing', {}],
  [403, 'GET', '/healthz', { origin: 'https://evil.example' }],
  [204, 'OPTIONS', '/graphql', {}],
  [405, 'PUT', '/graphql', {}],
  [406, 'POST', '/graphql', { accept: 'image/png' }],
  [415, 'POST', '/graphql', {}],
  [200, 'POST', '/graphql', json],
  [200, 'POST', '/graphql', { ...json, accept: 'text/event-stream' }],
  [200, 'GET', '/graphql?query={__typename}', {}],
  [400, 'GET', '/graphql?query={nothing}', { accept: 'application/graphql-response+json' }],
  [200, 'GET', '/graphql', { accept: 'text/html' }],
])('the header nosniff is sent with the response %i to %s %s %j', async (status, method, path, headers) => {
  const answer = await send(server.url, { method, path, headers: { ...headers }, ...(method === 'POST' && { body }) })
  expect([answer.status, answer.headers['x-content-type-options']]).toEqual([status, 'nosniff'])
})

it('the header nosniff is sent with a refused WebSocket upgrade', async () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Origin: https://evil.example']
  expect(await asked('/graphql', upgrade)).toMatch(/^HTTP\/1.1 403 [\s\S]*X-Content-Type-Options: nosniff/)
})

it.each([
  ['gzip', 'gzip'],
  ['gzip;q=0, br', undefined],
  ['identity', undefined],
  [undefined, undefined],
])('GraphiQL is sent for Accept-Encoding: %s with Content-Encoding: %s', async (accepted, encoding) => {
  const headers = { accept: 'text/html', ...(accepted && { 'accept-encoding': accepted }) }
  const answer = await send(server.url, { method: 'GET', headers })
  expect(answer.headers['content-encoding']).toBe(encoding)
  expect(answer.headers.vary).toContain('Accept-Encoding')
  expect(answer.text.includes('<html')).toBe(encoding === undefined)
})
