import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openTestServer } from '../../support/server.ts'

/** The post handler and yoga must give the same response. A body without a length goes to yoga. */
const server = await openTestServer()

interface Answer {
  status: number | undefined
  type: string | undefined
  body: unknown
}

async function post(body: string, { accept, chunked = '' }: { accept?: string; chunked?: string }): Promise<Answer> {
  const length = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': Buffer.byteLength(body) }
  const headers = { 'content-type': 'application/json', ...length, ...(accept && { accept }) }
  const sent = request(`${server.url}/graphql`, { method: 'POST', headers })
  sent.end(body)
  const [response] = await once(sent, 'response')
  const text = (await response.setEncoding('utf8').toArray()).join('')
  return {
    status: response.statusCode,
    type: response.headers['content-type'],
    body: text && JSON.parse(text, withoutRequestId),
  }
}

const withoutRequestId = (name: string, value: unknown) => (name === 'requestId' ? '' : value)

const json = (body: unknown) => JSON.stringify(body)
const bodies: Record<string, string> = {
  'a query': json({ query: '{ serverInfo { name } }' }),
  'a query with variables': json({ query: 'query ($id: ID!) { job(id: $id) { id } }', variables: { id: 'job_1' } }),
  'one of two operations': json({
    query: 'query a { __typename } query b { serverInfo { name } }',
    operationName: 'b',
  }),
  'an unknown operation name': json({ query: 'query a { __typename }', operationName: 'b' }),
  'a query that does not parse': json({ query: '{' }),
  'a query that is not valid': json({ query: '{ nothing }' }),
  'a query that is refused for its depth': json({ query: `{ ${'node(id: 1) { '.repeat(20)}id${' }'.repeat(20)} }` }),
  'a variable of the wrong type': json({
    query: 'query ($first: Int) { jobs(first: $first) { nodes { id } } }',
    variables: { first: 'x' },
  }),
  'a page that is too long': json({ query: '{ jobs(first: 1000) { nodes { id } } }' }),
  'a mutation that is refused': json({
    query: 'mutation { submitJob(input: { spec: {} }) { ... on Problem { code message } } }',
  }),
  'no query': json({ variables: {} }),
  'a query that is a number': json({ query: 1 }),
  'variables that are a list': json({ query: '{ __typename }', variables: [] }),
  'an operation name that is a number': json({ query: '{ __typename }', operationName: 1 }),
  'an unknown parameter': json({ query: '{ __typename }', more: 1 }),
  'a list': json([{ query: '{ __typename }' }]),
  'a number': '1',
  null: 'null',
  'half of a document': '{"query":',
  nothing: '',
}
const accepts = [
  undefined,
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json, application/json',
  'application/graphql-response+json;charset=utf-8, application/json;q=0.9',
  'application/graphql-response+json,application/json;q=0.9',
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  'text/html',
]

describe.each(accepts)('a JSON POST request with Accept: %s', (accept) => {
  test.each(Object.entries(bodies))('gets the same response on the fast and the slow path: %s', async (_, body) => {
    const offered = accept === undefined ? {} : { accept }
    expect(await post(body, offered)).toEqual(await post(body, { ...offered, chunked: 'yes' }))
  })
})

test('a subscription by POST returns a stream', async () => {
  const query = `subscription { jobStatus(jobId: "${await server.submit()}") { __typename } }`
  const headers = { 'content-type': 'application/json' }
  const left = new AbortController()
  const sent = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers,
    body: json({ query }),
    signal: left.signal,
  })
  expect(sent.headers.get('content-type')).toMatch(/^text\/event-stream/)
  left.abort()
})

test('a body is refused with 413 if its Content-Length is above the limit', async () => {
  const sent = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json({ query: '{ __typename }', variables: { pad: 'x'.repeat(5 * 1024 * 1024) } }),
  })
  expect(sent.status).toBe(413)
})

test('a client that disconnects while it sends its body does not disturb others', async () => {
  const { port, hostname } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
  )
  await once(socket, 'ready')
  socket.destroy()
  expect(await post(json({ query: '{ serverInfo { name } }' }), {})).toMatchObject({ status: 200 })
})
