import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anonymous, type Viewer } from '../../../src/domain/access.ts'
import { bucketsMax, RateLimits } from '../../../src/graphql/admission/rate-limits.ts'
import { hashDocument, type UntrustedDocuments } from '../../../src/graphql/admission/trusted-documents.ts'
import { questionCost, readCost } from '../../../src/graphql/caller-limits.ts'
import { type More, send, transports } from '../../support/client.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** Trusted documents, rate limits and introspection have the same verdict over three transports. */
const names = Object.keys(transports) as (keyof typeof transports)[]
const known = 'query Known { serverInfo { name } }'
const hash = hashDocument(known)
const persisted = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } })
const authenticate = (authorization: string | undefined, { users }: { users: ReadonlyMap<string, Viewer> }) =>
  authorization === undefined ? anonymous : (users.get(authorization) ?? null)

describe.each<[UntrustedDocuments, boolean]>([
  ['ALL', true],
  ['AUTHENTICATED', true],
  ['NONE', false],
])('the documents of a logged-in caller, if the server has documents.freeText %s', (freeText, isFree) => {
  let server: TestServer
  beforeAll(async () => {
    const documents = {
      byId: new Map([
        ['relay-id', known],
        [`sha256:${hash}`, known],
      ]),
      freeText,
    }
    server = await startServer({ config: { documents } })
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const free = isFree ? 'done' : 'DOCUMENT_NOT_TRUSTED'
  const cases: [verdict: string, query: string | undefined, more: More][] = [
    ['done', undefined, { documentId: 'relay-id' }],
    ['done', undefined, { documentId: hash }],
    ['done', undefined, { documentId: `sha256:${hash}` }],
    ['done', undefined, persisted(hash)],
    ['done', known, {}],
    ['done', known, persisted(hash)],
    [free, '{ __typename }', {}],
    [free, '{ __typename }', persisted(hashDocument('{ __typename }'))],
    [isFree ? 'PERSISTED_QUERY_NOT_SUPPORTED' : 'DOCUMENT_NOT_TRUSTED', undefined, persisted('0'.repeat(64))],
    ['DOCUMENT_NOT_TRUSTED', undefined, { documentId: 'x' }],
    ['BAD_REQUEST', '{ __typename }', persisted(hash)],
    ['BAD_REQUEST', '{ __typename }', { documentId: 'relay-id' }],
    ['BAD_REQUEST', undefined, { extensions: { persistedQuery: { version: 1 } } }],
  ]

  it.each(names.flatMap((name) => cases.map((each) => [name, ...each] as const)))(
    'over %s, the result is %s for the query %s with the parameters %j',
    async (name, verdict, query, more) => {
      const statements = server.countStatements()
      const { data, errors } = await transports[name](server.url, query, {}, more)
      expect(errors?.[0]?.extensions.code ?? 'done').toBe(verdict)
      if (verdict === 'done') expect(data).not.toBeNull()
      else expect(errors?.[0]?.extensions.requestId).toBeTruthy()
      expect(statements.filter((text) => /\bjob\b/.test(text))).toEqual([])
    },
  )

  it('may be requested by GET if they are known', async () => {
    for (const query of [
      `documentId=relay-id`,
      `extensions=${encodeURIComponent(JSON.stringify(persisted(hash).extensions))}`,
    ]) {
      const { text } = await send(server.url, { method: 'GET', path: `/graphql?${query}` })
      expect(JSON.parse(text).data).toEqual({ serverInfo: { name: 'Berth' } })
    }
  })
})

describe('callers of a server with users', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({
      authenticate,
      facts: { singleUser: false },
      config: {
        introspection: false,
        documents: { byId: new Map([['info', known]]), freeText: 'AUTHENTICATED' },
        rateLimits: { costPerMinute: 4_400, submissionsPerMinute: 2 },
      },
    })
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it('may send only trusted documents if they have no token', async () => {
    expect((await transports.http(server.url, undefined, {}, { documentId: 'info' })).data).toBeTruthy()
    const { errors } = await transports.http(server.url, '{ serverInfo { release } }')
    expect(errors?.[0]?.extensions.code).toBe('DOCUMENT_NOT_TRUSTED')
  })

  it.each(names)('cannot introspect over %s, and get no suggestions of names in errors', async (name) => {
    const authorization = `curious ${name}`
    await server.user(authorization, 'ADMIN')
    const ask = (query: string) => transports[name](server.url, query, {}, { authorization })
    const { errors } = await ask('{ __schema { types { name } } }')
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/^Introspection is disabled/),
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    })
    const wrong = await ask('{ serverInfo { nam } }')
    expect(wrong.errors?.[0]?.message).toBe('Cannot query field "nam" on type "ServerInfo".')
    expect((await ask('{ serverInfo { __typename } }')).data).toBeTruthy()
  })

  it.each(names)('get RATE_LIMITED over %s above their cost per minute', async (name) => {
    const authorization = `cost ${name}`
    await server.user(authorization, 'ADMIN')
    const ask = (first: number) =>
      transports[name](server.url, `{ jobs(first: ${first}) { nodes { id name position } } }`, {}, { authorization })
    expect((await ask(100)).extensions?.cost).toBe(1_151)
    expect((await ask(100)).errors).toBeUndefined()
    expect((await ask(100)).errors).toBeUndefined()
    const { errors } = await ask(100)
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) })
    expect(errors?.[0]?.message).toMatch(/^Your limit is a cost of 4400 per minute; try again in \d+ s$/)
  })

  it.each(names)('get RATE_LIMITED over %s above their submissions per minute', async (name) => {
    const authorization = `submit ${name}`
    await server.user(authorization, 'RESEARCHER')
    const before = await server.domain.db.sql.query('SELECT FROM job')
    const one = '{ spec: { command: ["true"] } }'
    const ask = (query: string) => transports[name](server.url, query, {}, { authorization })
    const submit = `mutation { submitJob(input: ${one}) { ... on SubmitJobSuccess { job { id } } } }`
    expect((await ask(submit)).errors).toBeUndefined()
    const two = await ask(`mutation { submitJobs(input: { submissions: [${one}, ${one}] }) { __typename } }`)
    expect(two.errors?.[0]?.extensions.code).toBe('RATE_LIMITED')
    const retry = await ask(
      `mutation { retryJobs(input: { selection: { jobIds: ["job_1", "job_2"] } }) { __typename } }`,
    )
    expect(retry.errors?.[0]?.extensions.code).toBe('RATE_LIMITED')
    expect((await ask(submit)).errors).toBeUndefined()
    expect((await ask(submit)).errors?.[0]?.extensions.code).toBe('RATE_LIMITED')
    expect((await server.domain.db.sql.query('SELECT FROM job')).length - before.length).toBe(2)
  })

  it('are charged the cost of a job preview, which does not count as a submission', async () => {
    await server.user('previews', 'RESEARCHER')
    const submit = '{ spec: { command: ["true"] }, requiresApproval: true }'
    const query = `{ previewJob(input: { submit: ${submit} }) { ... on JobPreview { wouldBe } } }`
    const ask = (text: string) => transports.http(server.url, text, {}, { authorization: 'previews' })
    for (let i = 0; i < 2; i++)
      expect(await ask(query)).toMatchObject({
        data: { previewJob: { wouldBe: 'BLOCKED' } },
        extensions: { cost: questionCost + readCost + 2 },
      })
    expect((await ask(`mutation { submitJob(input: ${submit}) { __typename } }`)).errors).toBeUndefined()
  })

  it('get status 429 and a Retry-After header over HTTP', async () => {
    await server.user('often', 'RESEARCHER')
    const many = `mutation { ${['a', 'b', 'c'].map((x) => `${x}: submitJob(input: { spec: { command: ["true"] } }) { __typename }`).join(' ')} }`
    const ask = () => transports.http(server.url, many, {}, { authorization: 'often' })
    expect((await ask()).status).toBe(200)
    const { status, headers, errors } = await ask()
    expect(status).toBe(429)
    expect(headers['retry-after']).toBe(String(errors?.[0]?.extensions.retryAfterSeconds))
  })
})

describe('an operation', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it.each([
    'query A { __typename } query B { __typename }',
    'subscription A { workloadStatus { depth } } subscription B { workloadStatus { depth } }',
  ])('is refused if the document has two and operationName is missing or unknown: %s', async (query) => {
    for (const more of [{}, { operationName: 'C' }]) {
      const said = await Promise.all(
        names.map(async (name) => (await transports[name](server.url, query, {}, more)).errors?.[0]),
      )
      expect(said.map((error) => error?.extensions.code)).toEqual(names.map(() => 'BAD_REQUEST'))
      expect(new Set(said.map((error) => error?.message)).size).toBe(1)
    }
  })

  it.each(names)('that is a subscription over %s has its cost in its first message', async (name) => {
    if (name === 'http') return
    const stream = (await import('../../support/client.ts'))[name === 'sse' ? 'streamSse' : 'streamSocket']
    const live = stream(server.url, 'subscription { workloadStatus { depth } }')
    expect((await live.next()).value).toMatchObject({ extensions: { cost: readCost + 1 } })
    live.cut()
  })
})

describe('rate limits of users', () => {
  const viewer = (userId: string): Viewer => ({ ...anonymous, userId })

  it('refill evenly, allow one larger request when full, and drop the bucket unused for longest', () => {
    let nowMs = 0
    const clock = { monotonicMs: () => nowMs, sleep: () => Promise.resolve() }
    const rateLimits = new RateLimits({ costPerMinute: 60, submissionsPerMinute: null }, clock)
    const cost = (user: string, amount: number) => rateLimits.spend(viewer(user), { cost: amount, submissions: 9 })
    cost('a', 120)
    expect(() => cost('a', 1)).toThrow('try again in 61 s')
    nowMs = 60_000
    expect(() => cost('a', 1)).toThrow('try again in 1 s')
    nowMs = 61_000
    cost('a', 1)
    for (let i = 0; i < bucketsMax + 5; i++) cost(`user ${i}`, 1)
    expect(rateLimits.size).toBe(bucketsMax)
  })
})
