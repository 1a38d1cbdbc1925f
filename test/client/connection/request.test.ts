import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core'
import { afterEach, describe, expect, it } from 'vitest'
import { openConnection } from '../../../src/client/connection/connection.ts'
import { createResponseFailure } from '../../../src/client/connection/http.ts'
import { retryWaitMs } from '../../../src/client/connection/retry.ts'
import type { Transport } from '../../../src/client/connection/streams.ts'
import { TypedDocumentString } from '../../../src/client/generated/graphql.ts'
import { createClient } from '../../../src/client/jobs/client.ts'
import type { JobUpdate } from '../../../src/client/jobs/events.ts'

const document = new TypedDocumentString<{ answer: unknown }, { n: number }>('query ($n: Int) { answer(n: $n) }')

/** As `documentMode: 'string'` generates it in the project of a user. */
class OwnDocument<Result, Variables> extends String implements DocumentTypeDecoration<Result, Variables> {
  declare __apiType?: NonNullable<DocumentTypeDecoration<Result, Variables>['__apiType']>
  private value: string
  constructor(value: string) {
    super(value)
    this.value = value
  }
  override toString(): string & DocumentTypeDecoration<Result, Variables> {
    return this.value
  }
}

let server: Server | undefined
const waits: number[] = []

/** Starts a server that sends these responses in order, and then repeats the last one. */
async function serve(...answers: { status?: number; retryAfter?: number; body: unknown }[]) {
  let given = 0
  const asked: string[] = []
  const listener: RequestListener = (request, response) => {
    const { status = 200, retryAfter, body } = answers[Math.min(given++, answers.length - 1)] ?? { body: null }
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': String(retryAfter ?? 0) })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
    void text(request).then((sent) => asked.push(sent))
  }
  server = createServer(listener)
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sleep = async (ms: number) => waits.push(ms)
  return { url, client: createClient({ url, sleep, transports: ['polling'] }), asked, given: () => given }
}

afterEach(async () => {
  waits.length = 0
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
})

const refusal = (code: string) => ({ body: { errors: [{ message: 'no', extensions: { code, requestId: 'r1' } }] } })
const answered = { body: { data: { answer: 42 } } }

describe('the URL of a server', () => {
  it.each([
    ['http://localhost:4000', 'http://localhost:4000'],
    [' https://host/berth/ ', 'https://host/berth'],
    ['https://host/berth/graphql', 'https://host/berth'],
  ])('may be %j', (given, url) => expect(createClient({ url: given }).url).toBe(url))

  it.each(['localhost:4000', '127.0.0.1', 'ftp://host', 'http://', ''])('%j is refused with an error', (url) =>
    expect(() => createClient({ url })).toThrow(`"${url}" is not the URL of a server, such as http://`),
  )
})

describe('transports', () => {
  const url = 'http://127.0.0.1:4000'

  it.each([
    [['SSE'], '`transports` has "SSE"; name one or more of websocket, sse, polling'],
    [[], '`transports` has none; name one or more of websocket, sse, polling'],
  ])('are refused if they are %j', (named, message) =>
    expect(() => createClient({ url, transports: named as Transport[] })).toThrow(message),
  )

  it('are refused with polling alone for a subscription that cannot be polled', async () => {
    const live = new TypedDocumentString<{ answer: unknown }, { after?: string }>('subscription { answer }')
    const stream = createClient({ url, transports: ['polling'] }).subscribe(live, {})
    await expect(stream.next()).rejects.toThrow('`transports` has only polling')
  })
})

describe('a GraphQL request', () => {
  it('returns the data of the response', async () => {
    const { client } = await serve(answered)
    expect(await client.request(document, { n: 1 })).toEqual({ answer: 42 })
  })

  it('accepts documents of another code generator, and plain strings', async () => {
    const { client, asked } = await serve(answered)
    const own: string = (await client.request(new OwnDocument<{ answer: string }, { n: number }>('{ a }'), { n: 1 }))
      .answer
    const text = await client.request<{ answer: number }, object>('{ b }', {})
    expect([own, text.answer]).toEqual([42, 42])
    expect(asked.map((each) => JSON.parse(each).query)).toEqual(['{ a }', '{ b }'])
    // @ts-expect-error: a syntax tree is not the text of a document
    void (() => client.request({ kind: 'Document', definitions: [] }, {}))
  })

  it('is retried while the server refuses it with a retryable error', async () => {
    const problem = { body: { data: { answer: { __typename: 'UnavailableProblem', retryable: true } } } }
    const { client, given } = await serve(refusal('UNAVAILABLE'), problem, answered)
    expect(await client.request(document, { n: 1 }, { attempts: 5 })).toEqual({ answer: 42 })
    expect(given()).toBe(3)
    expect(waits).toHaveLength(2)
  })

  it('fails with the error of the server after its last attempt', async () => {
    const { client, given } = await serve(refusal('UNAVAILABLE'))
    await expect(client.request(document, { n: 1 }, { attempts: 3 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      requestId: 'r1',
      retryable: true,
    })
    expect(given()).toBe(3)
  })

  it.each(['INVALID_INPUT', 'FORBIDDEN', 'INTERNAL_SERVER_ERROR'])('is never retried after %s', async (code) => {
    const { client, given } = await serve(refusal(code))
    await expect(client.request(document, { n: 1 }, { attempts: 5 })).rejects.toMatchObject({ code })
    expect(given()).toBe(1)
  })

  it('is not retried by default', async () => {
    const { client, given } = await serve(refusal('UNAVAILABLE'))
    await expect(client.request(document, { n: 1 })).rejects.toThrow()
    expect(given()).toBe(1)
  })

  it.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL_SERVER_ERROR'],
    [502, 'UNREACHABLE'],
  ])('fails, for a response %i that is not GraphQL, with the code %s', async (status, code) => {
    const { client } = await serve({ status, body: 'plain words' })
    await expect(client.request(document, { n: 1 })).rejects.toMatchObject({ code })
  })

  it('fails with the title if a proxy responds with an HTML page', async () => {
    const body = '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>…</body></html>'
    const { client } = await serve({ status: 413, body })
    await expect(client.request(document, { n: 1 })).rejects.toMatchObject({
      message: expect.stringMatching(/\/graphql answered 413: 413 Request Entity Too Large$/),
    })
  })

  it.each([400, 200])('names the redirect in its error if it led to a wrong URL (%i)', async (status) => {
    const { client } = await serve(answered)
    const listening = server
    listening?.removeAllListeners('request').on('request', (request, response) => {
      const isFirst = request.url === '/graphql'
      if (isFirst) response.writeHead(301, { location: '/login' }).end()
      else response.writeHead(status).end(JSON.stringify(refusal('BAD_REQUEST').body))
    })
    await expect(client.request(document, { n: 1 })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(/\/graphql redirects to .*\/login \(use that URL\)/),
    })
  })

  it('waits for at most 10 minutes if a proxy sends a longer Retry-After', async () => {
    const { client } = await serve({ status: 503, retryAfter: 99_999_999, body: 'maintenance' }, answered)
    expect(await client.request(document, { n: 1 }, { attempts: 2 })).toEqual({ answer: 42 })
    expect(waits).toEqual([600_000])
  })

  it('fails with UNREACHABLE if no server listens', async () => {
    const { client } = await serve(answered)
    await new Promise((resolve) => server?.close(resolve))
    server = undefined
    await expect(client.request(document, { n: 1 })).rejects.toMatchObject({
      code: 'UNREACHABLE',
      retryable: true,
      message: expect.stringMatching(/^No server answers at http.*: .*ECONNREFUSED/),
    })
  })
})

describe('the rest of a download', () => {
  it('is refused, and not retried, if the response ignores the byte range', async () => {
    const { url } = await serve({ body: 'the whole file' })
    const connection = openConnection({ url })
    await expect(connection.download('/download/x', { from: 3 }).next()).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      retryable: false,
      message: expect.stringMatching(/ignores byte ranges; a proxy may remove them$/),
    })
    await connection.close()
  })
})

describe('retries of the client', () => {
  const page = (nodes: object[]) => ({
    body: {
      data: {
        job: { stateCategory: 'WAITING', eventCursor: 'c1', events: { nodes, pageInfo: { hasNextPage: false } } },
      },
    },
  })

  it('end after a followed job is deleted, with the deletion as the last message', async () => {
    const { client } = await serve(page([{ seq: 1 }]), page([{ seq: 1 }, { seq: 2 }]), {
      body: { data: { job: null } },
    })
    const updates: JobUpdate[] = []
    for await (const update of client.follow('job_1')) updates.push(update)
    expect(updates).toMatchObject([
      { transitions: [{ seq: 1 }] },
      { transitions: [{ seq: 2 }] },
      { __typename: 'StreamReset', resetReason: 'DELETED', cursor: 'c1' },
    ])
  })

  it('use one idempotency key for each submission', async () => {
    const taken = { body: { data: { submitJob: { __typename: 'SubmitJobSuccess' } } } }
    const { client, asked } = await serve(refusal('UNAVAILABLE'), { status: 503, body: 'away' }, taken)
    await client.submit({ spec: { command: ['true'] } })
    await client.submit({ spec: { command: ['true'] }, idempotencyKey: 'mine' })
    const keys = asked.map((text) => JSON.parse(text).variables.input.idempotencyKey)
    expect(keys).toEqual([keys[0], keys[0], keys[0], 'mine'])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
  })

  it('wait as long as the Retry-After header says', async () => {
    const { client } = await serve({ status: 429, retryAfter: 40, body: 'too many' }, answered)
    await client.request(document, { n: 1 }, { attempts: 2 })
    expect(waits).toEqual([40_000])
  })
})

describe('the pause before a retry', () => {
  it('is random, up to 1 s, 2 s, 4 s … 30 s', () => {
    for (const [attempt, max] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries())
      for (let i = 0; i < 50; i++) expect(retryWaitMs(attempt)).toBeLessThanOrEqual(max)
  })
})

it('a refusal in plain text is not shortened', () => {
  const text = `${'Only this account may use the server. '.repeat(10)}Start it with users.`
  const failure = createResponseFailure(new URL('http://a/graphql'), new Response(text, { status: 403 }), text)
  expect(failure).toMatchObject({ code: 'FORBIDDEN', message: `http://a/graphql answered 403: ${text}` })
})

it('a number that JSON cannot represent is refused, with the name of its variable, before the request', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1' })
  for (const n of [Number.NaN, Number.POSITIVE_INFINITY])
    await expect(client.request(document, { n })).rejects.toThrow(`n: ${n} is not a finite number`)
  await client.close()
})
