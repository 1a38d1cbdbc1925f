import { connect as connectTcp } from 'node:net'
import { createClient } from 'graphql-ws'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { createContext, type Rooms } from '../../../src/graphql/rows/context.ts'
import { formatEventsParent } from '../../../src/graphql/rows/listings.ts'
import { createUserDomains } from '../../../src/graphql/rows/user-domains.ts'
import { openLog, sealLog } from '../../../src/logs/append.ts'
import {
  ask,
  data,
  type Json,
  type Result,
  type Stream,
  streamSocket,
  streamSse,
  transports,
} from '../../support/client.ts'
import { append } from '../../support/log.ts'
import { openTestServer, startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const server = await openTestServer()

const live = { socket: streamSocket, sse: streamSse } as const
const cancel = (jobId: string) => cancelJob(server.domain, server.admin, { jobId })

async function next(stream: Stream): Promise<Json> {
  const [message] = Object.values((await stream.next()).value?.data ?? {})
  if (!message) throw new Error('Nothing more')
  return message.__typename === 'StreamHeartbeat' ? next(stream) : message // the machine had stopped for 15 s
}

async function rest(stream: AsyncIterable<Result>): Promise<Json[]> {
  const all: Json[] = []
  for await (const result of stream) all.push(Object.values(result.data ?? {})[0])
  return all
}

const nobodyListens = () =>
  until(() => server.feed.openReaders() === 0 && server.logTail.openFollowers() === 0, {
    what: 'all streams are closed',
  })

const jobStatus = `subscription ($jobId: ID!, $after: Cursor) { jobStatus(jobId: $jobId, after: $after) {
  __typename ... on JobTransitions { job { id state version } transitions { seq to } cursor isFinal } ... on StreamReset { resetReason } } }`
const tail = `subscription ($jobId: ID!, $after: Cursor) { tail(jobId: $jobId, after: $after) {
  __typename ... on LogBatch { text cursor isFinal lines { number text } } ... on RunChanged { run { number job { id } } } } }`

describe.each(Object.entries(live))('subscriptions over %s', (_name, open) => {
  it('send every event of jobStatus with the job at that time, and complete after the last one', async () => {
    const jobId = await server.submit()
    const stream = open(server.url, jobStatus, { jobId })
    expect(await next(stream)).toMatchObject({
      job: { state: 'QUEUED', version: 1 },
      transitions: [{ seq: 1, to: 'QUEUED' }],
      isFinal: false,
    })
    await cancel(jobId)
    expect(await next(stream)).toMatchObject({
      job: { state: 'CANCELLED', version: 2 },
      transitions: [{ seq: 2, to: 'CANCELLED' }],
      isFinal: true,
    })
    expect((await stream.next()).done).toBe(true)
    await nobodyListens()
  })

  it('resume jobStatus after the cursor that a query of the job returned', async () => {
    const jobId = await server.submit()
    const { job } = await data(server.url, 'query ($id: ID!) { job(id: $id) { eventCursor } }', { id: jobId })
    await cancel(jobId)
    const messages = await rest(open(server.url, jobStatus, { jobId, after: job.eventCursor }))
    expect(messages.flatMap((message) => message.transitions ?? [])).toEqual([{ seq: 2, to: 'CANCELLED' }])
  })

  it('resume jobUpdates after the cursor that a list of jobs returned', async () => {
    const { jobs } = await data(server.url, '{ jobs(first: 1) { asOf } }')
    const name = `updates ${Math.random()}`
    const query = `subscription ($after: Cursor, $name: String) { jobUpdates(after: $after, filter: { name: $name }) {
      ... on JobTransitions { job { id state } transitions { type } cursor } } }`
    const stream = open(server.url, query, { after: jobs.asOf, name })
    const id = await server.submit({ name })
    expect(await next(stream)).toMatchObject({ job: { id }, transitions: [{ type: 'CREATED' }] })
    stream.cut()
    await stream.next().catch(() => undefined)
    await nobodyListens()
  })

  it('send stored and new output with tail, and complete at the end of the log', async () => {
    const jobId = await server.submit()
    const { job } = await data(server.url, 'query ($id: ID!) { job(id: $id) { currentRun { id } logCursor } }', {
      id: jobId,
    })
    const stream = open(server.url, tail, { jobId, after: job.logCursor })
    const { sql } = server.domain.db
    const write = { position: null, bytesMax: 1_000 }
    const head = await openLog(sql, job.currentRun.id)
    await append(sql, head, { ...write, pieces: [{ stream: 'STDOUT', bytes: Buffer.from('héllo\n') }] })
    server.domain.wakeups.poke('log')
    const first = await next(stream)
    expect(first).toMatchObject({ text: 'héllo\n', lines: [{ number: 1, text: 'héllo' }], isFinal: false })
    await sealLog(sql, [job.currentRun.id])
    await cancel(jobId)
    server.domain.wakeups.poke('log')
    expect((await rest(stream as Stream & AsyncIterable<Result>)).at(-1)).toMatchObject({ text: '', isFinal: true })
    const again = await data(
      server.url,
      'query ($id: ID!, $c: Cursor!) { job(id: $id) { logs(from: { cursor: $c }) { text isFinal } } }',
      {
        id: jobId,
        c: first.cursor,
      },
    )
    expect(again['job'].logs).toEqual({ text: '', isFinal: true })
  })

  it('send cursors that Job.events accepts for the same job only', async () => {
    const [jobId, other] = [await server.submit(), await server.submit()]
    const stream = open(server.url, jobStatus, { jobId })
    const { cursor } = await next(stream)
    stream.cut()
    await cancel(jobId)
    const events = 'query ($id: ID!, $c: Cursor) { job(id: $id) { events(after: $c) { nodes { seq } } } }'
    const { job } = await data(server.url, events, { id: jobId, c: cursor })
    expect(job.events.nodes).toEqual([{ seq: 2 }])
    expect(await ask(server.url, events, { id: other, c: cursor })).toMatchObject({
      errors: [{ extensions: { code: 'INVALID_CURSOR' } }],
    })
  })

  it('send a workloadStatus snapshot at once and after each change', async () => {
    const stream = open(server.url, 'subscription { workloadStatus { depth pool { name } at } }')
    const { depth } = await next(stream)
    const jobId = await server.submit()
    expect((await next(stream)).depth).toBe(depth + 1)
    await cancel(jobId)
    expect((await next(stream)).depth).toBe(depth)
    stream.cut()
  })

  it('complete after their job is deleted, with the deletion as the last message', async () => {
    const jobId = await server.submit()
    const stream = open(
      server.url,
      tail.replaceAll('LogBatch { text cursor isFinal lines { number text } }', 'StreamReset { resetReason }'),
      { jobId },
    )
    await until(() => server.logTail.openFollowers() === 1, { what: 'the tail is open' })
    await cancel(jobId)
    await deleteJob(server.domain, server.admin, { jobId })
    await rest(stream as Stream & AsyncIterable<Result>)
    await nobodyListens()
  })

  it('are closed when the connection of the client is lost', async () => {
    const jobId = await server.submit()
    const streams = [open(server.url, jobStatus, { jobId }), open(server.url, tail, { jobId })]
    for (const stream of streams) void stream.next().catch(() => undefined)
    await until(() => server.feed.openReaders() + server.logTail.openFollowers() === 2, { what: 'both are open' })
    for (const stream of streams) stream.cut()
    await nobodyListens()
  })
})

describe('a job event', () => {
  const query = `subscription ($after: Cursor, $name: String) {
    jobUpdates(after: $after, filter: { name: $name, states: [QUEUED, CANCELLED] }) { ... on JobTransitions {
      job { id state version user { name } currentRun { number } } transitions { seq type } cursor } } }`
  const rounds = 6

  async function statementsFor(subscribers: number): Promise<number> {
    const name = `fan-out ${Math.random()}`
    const { jobs } = await data(server.url, '{ jobs(first: 1) { asOf } }')
    const streams = Array.from({ length: subscribers }, () => streamSse(server.url, query, { after: jobs.asOf, name }))
    const firsts = streams.map((stream) => next(stream))
    await server.submit({ name })
    await Promise.all(firsts)
    const counted = server.countStatements()
    for (let round = 0; round < rounds; round++) {
      const heard = streams.map((stream) => next(stream))
      await server.submit({ name })
      await Promise.all(heard)
    }
    const reads = counted.filter((text) => /FROM (job|"?public"?\."?(user|run)"?|run|"user")\b/.test(text)).length
    for (const stream of streams) stream.cut()
    await nobodyListens()
    return reads
  }

  it('needs no more SQL statements for many subscribers than for one', async () => {
    const alone = await statementsFor(1)
    expect(await statementsFor(30)).toBeLessThanOrEqual(alone + rounds)
  })

  it('is sent as a deletion, not as an error, once its job is deleted', async () => {
    const { jobs } = await data(server.url, '{ jobs(first: 1) { asOf } }')
    const name = `gone ${Math.random()}`
    const ids = [await server.submit({ name }), await server.submit({ name })]
    for (const jobId of ids) {
      await cancel(jobId)
      await deleteJob(server.domain, server.admin, { jobId })
    }
    const told = `subscription ($after: Cursor, $name: String) { jobUpdates(after: $after, filter: { name: $name }) {
      __typename ... on StreamReset { resetReason jobIds cursor } } }`
    const stream = streamSocket(server.url, told, { after: jobs.asOf, name })
    const heard: string[] = []
    while (heard.length < ids.length) {
      const message = await next(stream)
      expect(message).toMatchObject({ __typename: 'StreamReset', resetReason: 'DELETED' })
      heard.push(...message.jobIds)
    }
    expect(heard.sort()).toEqual(ids.sort())
    stream.cut()
  })
})

describe('a refused subscription', () => {
  const refused: [code: string, query: string, variables: object][] = [
    ['NOT_FOUND', jobStatus, { jobId: 'job_none' }],
    ['NOT_FOUND', tail, { jobId: 'job_none' }],
    ['NOT_FOUND', 'subscription { workloadStatus(pool: "nowhere") { depth } }', {}],
    ['INVALID_CURSOR', jobStatus, { jobId: 'job_none', after: 'x' }],
    ['INVALID_CURSOR', 'subscription { jobUpdates(after: "x") { __typename } }', {}],
  ]
  it.each(['sse', 'socket'] as const)('gets one error over %s, and completes', async (transport) => {
    for (const [code, query, variables] of refused) {
      const { errors } = await transports[transport](server.url, query, variables)
      expect([query, errors?.[0]?.extensions.code]).toEqual([query, code])
    }
    await nobodyListens()
  })

  it('gets its error as a JSON response over plain HTTP', async () => {
    const jobId = await server.submit()
    const answer = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: jobStatus, variables: { jobId } }),
    })
    expect(answer.status).toBe(406)
    await nobodyListens()
  })
})

describe('a WebSocket', () => {
  const connect = (url: string, on: object = {}) =>
    createClient({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0, on })

  it('accepts a hundred operations, and refuses the next one', async () => {
    const jobId = await server.submit()
    const client = connect(server.url)
    const streams = Array.from({ length: 100 }, () => client.iterate({ query: jobStatus, variables: { jobId } }))
    await Promise.all(streams.map((stream) => stream.next()))
    const oneMore = client.iterate({ query: jobStatus, variables: { jobId } })
    await expect(oneMore.next()).rejects.toMatchObject([{ extensions: { code: 'SUBSCRIPTION_LIMIT' } }])
    await Promise.all(streams.map((stream) => stream.return?.()))
    await nobodyListens()
    await client.dispose()
  })

  it('is closed with 1012, without `complete` messages, when the server stops', async () => {
    await using stopping = await startServer()
    const jobId = await stopping.submit()
    const closed: number[] = []
    const client = connect(stopping.url, { closed: (event: { code: number }) => closed.push(event.code) })
    const stream = client.iterate({ query: jobStatus, variables: { jobId } })
    const events = streamSse(stopping.url, jobStatus, { jobId })
    await Promise.all([stream.next(), events.next()])
    const ends = Promise.allSettled([stream.next(), events.next()])
    await stopping.stop()
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(closed).toEqual([1012])
    await until(() => stopping.feed.openReaders() === 0, { what: 'the feed is closed' })
  })

  it('is cut when the client sends no pong', async () => {
    await using strict = await startServer({ keepAliveMs: 50 })
    const socket = new WebSocket(`${strict.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      autoPong: false,
    })
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(1006)
  })

  it('is cut when the client stops reading, and so is an SSE stream', async () => {
    await using strict = await startServer({ keepAliveMs: 50 })
    const jobId = await strict.submit()
    const { sql } = strict.domain.db
    const { job } = await data(strict.url, 'query ($id: ID!) { job(id: $id) { currentRun { id } } }', { id: jobId })
    const head = await openLog(sql, job.currentRun.id)
    // More than the buffers of both kernels.
    const pieces = [{ stream: 'STDOUT', bytes: Buffer.alloc(24 * 1024 * 1024, 'line\n') }] as const
    await append(sql, head, { pieces, position: null, bytesMax: 2 ** 30 })
    const body = JSON.stringify({ query: tail, variables: { jobId } })
    const reader = connectTcp({ port: Number(new URL(strict.url).port), host: '127.0.0.1' })
    reader.on('error', () => undefined)
    reader.pause()
    reader.write(
      `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    await until(() => strict.logTail.openFollowers() === 1, { what: 'it is open' })
    await until(() => strict.logTail.openFollowers() === 0, { what: 'it is cut' })
    reader.destroy()
  })

  it.each(['next', 'error', 'connection_ack'])('is closed with 4400 if the client sends %s', async (type) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(JSON.stringify({ id: '1', type, payload: [{ message: 'x' }] }))
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(4400)
  })

  it('is closed with 4401 if the token is unknown, while an HTTP request gets 401', async () => {
    await using guarded = await startServer({ authenticate: () => null })
    const closed = new Promise((resolve) => {
      const client = connect(guarded.url, { closed: (event: { code: number }) => resolve(event.code) })
      client
        .iterate({ query: '{ __typename }' })
        .next()
        .catch(() => undefined)
    })
    expect(await closed).toBe(4401)
    expect((await fetch(`${guarded.url}/graphql?query={__typename}`)).status).toBe(401)
  })
})

describe('health checks', () => {
  it('report the state of the process, its database and its migrations', async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const ready = await fetch(`${server.url}/readyz`)
    expect(ready.status).toBe(200)
    expect(await ready.json()).toEqual({
      ready: true,
      database: 'ok',
      migrations: 'ok',
      warnings: ['pool sim has no scheduler: its jobs wait'],
    })
  })
})

describe('a browser', () => {
  it('gets GraphiQL at /graphql', async () => {
    const page = await fetch(`${server.url}/graphql`, { headers: { accept: 'text/html' } })
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('YogaGraphiQL')
  })
})

it('a subscriber that resumes after the eventCursor of a job misses no event of the job', async () => {
  const jobId = await server.submit()
  const { domain, feed, lists, logTail, admin: viewer } = server
  const userDomains = createUserDomains(domain, 1)
  const { load } = createContext({ domain, userDomains, live: domain, lists, feed, logTail } as Rooms, viewer)
  const job = (await load.job.load(jobId)) ?? never
  await cancel(jobId)
  const { items, hasNextPage } = (await load.eventsOfJob.load(formatEventsParent(job), {})).page
  expect({ version: job.version, events: items.length, hasNextPage }).toEqual({
    version: 1,
    events: 1,
    hasNextPage: false,
  })
  const after = await data(
    server.url,
    `query ($jobId: ID!, $after: Cursor) { job(id: $jobId) { events(after: $after) { nodes { seq } } } }`,
    { jobId, after: items[0]?.cursor },
  )
  expect(after['job'].events.nodes).toEqual([{ seq: 2 }])
})

const never = { id: '', version: 0 }

it('a list shows no row older than its asOf, even if another field of the query read the job before', async () => {
  const jobId = await server.submit()
  const { domain, feed, lists, logTail, admin: viewer } = server
  const head = async () => {
    await cancel(jobId)
    return feed.head()
  }
  const userDomains = createUserDomains(domain, 1)
  const rooms = { domain, userDomains, live: domain, lists, feed: { ...feed, head }, logTail } as Rooms
  const { load, head: readHead } = createContext(rooms, viewer)
  const read = async () => {
    const job = await load.job.load(jobId)
    const run = job && (await load.currentRun.load(job))
    const { items } = (await load.eventsOfJob.load(formatEventsParent(job ?? never), {})).page
    return { version: job?.version, run: run?.state, events: items.length }
  }
  expect(await read()).toEqual({ version: 1, run: 'QUEUED', events: 1 })
  await readHead()
  expect(await read()).toEqual({ version: 2, run: 'CANCELLED', events: 2 })
})
