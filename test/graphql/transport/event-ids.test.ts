import { request } from 'node:http'
import { expect, it } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { openLog } from '../../../src/logs/append.ts'
import { data, type Json, transports } from '../../support/client.ts'
import { append, out } from '../../support/log.ts'
import { openTestServer } from '../../support/server.ts'

/** Ids of server-sent events, and refusals, of all subscriptions. */
const server = await openTestServer()

interface SentEvent {
  id: string | undefined
  data: Json
}

/** The first events of a stream, as an EventSource reads them. */
async function* eventsOf(query: string, lastEventId?: string): AsyncGenerator<SentEvent, void, void> {
  const url = `${server.url}/graphql?query=${encodeURIComponent(query)}`
  const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) }
  const asked = request(url, { headers }).end()
  try {
    const response = await new Promise<AsyncIterable<Buffer>>((resolve, reject) =>
      asked.on('response', resolve).on('error', reject),
    )
    let text = ''
    for await (const chunk of response) {
      text += String(chunk)
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const line = (field: string) => event.match(new RegExp(`^${field}: (.*)$`, 'm'))?.[1]
        const sent = line('data')
        if (sent) yield { id: line('id'), data: Object.values(JSON.parse(sent).data)[0] }
      }
    }
  } finally {
    asked.destroy()
  }
}

async function take(count: number, query: string, lastEventId?: string): Promise<SentEvent[]> {
  const events: SentEvent[] = []
  for await (const event of eventsOf(query, lastEventId)) {
    events.push(event)
    if (events.length === count) break
  }
  return events
}

it('Last-Event-ID resumes jobStatus and jobUpdates after the event with this id', async () => {
  const jobId = await server.submit()
  const status = `subscription { jobStatus(jobId: "${jobId}") { ... on JobTransitions { cursor transitions { seq } } } }`
  const [first] = await take(1, status)
  expect(first?.id).toBe(first?.data.cursor)
  await setJobPriority(server.domain, server.admin, { jobId, priority: 7 })
  const { jobs } = await data(server.url, '{ jobs(first: 1) { asOf } }')
  const updates = `subscription { jobUpdates(after: "${jobs.asOf}") { ... on JobTransitions { transitions { seq } } } }`
  await setJobPriority(server.domain, server.admin, { jobId, priority: 8 })
  const [seen] = await take(1, updates)
  expect(seen?.id).toMatch(/^[A-Za-z0-9_-]+$/)
  await cancelJob(server.domain, server.admin, { jobId })
  const seqs = (events: SentEvent[]) => events.flatMap(({ data }) => data.transitions.map(({ seq }: Json) => seq))
  expect(seqs(await take(1, status, first?.id))[0]).toBe(2)
  expect(seqs(await take(1, updates, seen?.id))[0]).toBe(Math.max(...seqs([seen as SentEvent])) + 1)
})

it('a client that resumes a stream after its final event gets 204', async () => {
  const jobId = await server.submit()
  const query = `subscription { jobStatus(jobId: "${jobId}") { ... on JobTransitions { isFinal } } }`
  const url = `${server.url}/graphql?query=${encodeURIComponent(query)}`
  const ask = (lastEventId: string) =>
    fetch(url, { headers: { accept: 'text/event-stream', 'last-event-id': lastEventId } })
  await cancelJob(server.domain, server.admin, { jobId })
  const events = await take(Number.POSITIVE_INFINITY, query)
  expect(events.at(-1)?.data).toEqual({ isFinal: true })
  const ended = await ask(events.at(-1)?.id ?? '')
  expect({ status: ended.status, text: await ended.text() }).toEqual({ status: 204, text: '' })
})

it('Last-Event-ID resumes tail after the last byte, also if the stream began with lastLines', async () => {
  const jobId = await server.submit()
  const { sql } = server.domain.db
  const { id: runId } = await server.domain.db.prisma.run.findFirstOrThrow({ where: { jobId } })
  let head = await openLog(sql, runId)
  const write = async (text: string) => {
    head = await append(sql, head, { position: null, bytesMax: 1_000, pieces: [out(text)] })
  }
  await write('one\ntwo\n')
  const query = `subscription { tail(jobId: "${jobId}", lastLines: 1) { ... on LogBatch { text } } }`
  const [first] = await take(1, query)
  expect(first?.data.text).toBe('two\n')
  await write('three\n')
  expect((await take(1, query, first?.id))[0]?.data.text).toBe('three\n')
})

it('events of nodeUpdates have ids, and snapshots of workloadStatus do not', async () => {
  const [nodes] = await take(1, 'subscription { nodeUpdates(pool: "sim") { ... on NodesChanged { cursor } } }')
  expect(nodes?.id).toBe(nodes?.data.cursor)
  const [queue] = await take(1, 'subscription { workloadStatus { depth } }')
  expect(queue).toMatchObject({ id: undefined, data: { depth: expect.any(Number) } })
})

it.each([
  [404, 'NOT_FOUND', 'subscription { jobStatus(jobId: "job_none") { __typename } }'],
  [404, 'NOT_FOUND', 'subscription { tail(jobId: "job_none") { __typename } }'],
  [404, 'NOT_FOUND', 'subscription { workloadStatus(pool: "nowhere") { __typename } }'],
  [404, 'NOT_FOUND', 'subscription { nodeUpdates(pool: "nowhere") { __typename } }'],
  [400, 'INVALID_CURSOR', 'subscription { jobUpdates(after: "x") { __typename } }'],
  [400, 'INVALID_CURSOR', 'subscription { nodeUpdates(pool: "sim", after: "x") { __typename } }'],
  [400, 'GRAPHQL_VALIDATION_FAILED', 'subscription { jobStatus { __typename } }'],
  [400, 'GRAPHQL_VALIDATION_FAILED', 'subscription { nothing }'],
])('a refusal with %i %s is the same over SSE and WebSocket: %s', async (status, code, query) => {
  const [sse, socket] = [await transports.sse(server.url, query), await transports.socket(server.url, query)]
  for (const { errors } of [sse, socket])
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.any(String), extensions: expect.objectContaining({ code }) }),
    ])
  expect(sse.errors?.[0]?.message).toBe(socket.errors?.[0]?.message)
  const url = `${server.url}/graphql?query=${encodeURIComponent(query)}`
  const answer = await fetch(url, { headers: { accept: 'text/event-stream' } })
  expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
    status,
    type: 'application/json; charset=utf-8',
  })
})
