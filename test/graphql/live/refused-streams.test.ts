import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { ask, type Json } from '../../support/client.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** The protocol messages that a stock client receives. */
const server = await openTestServer({ hasDoor: true })

const status = `subscription ($jobId: ID!) { jobStatus(jobId: $jobId) {
  __typename ... on JobTransitions { transitions { seq } } ... on StreamHeartbeat { cursor } } }`
const tail = `subscription ($jobId: ID!) { tail(jobId: $jobId) { __typename ... on LogBatch { text } } }`

async function connect() {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  const seen: Json[] = []
  const codes: number[] = []
  socket.on('message', (data) => seen.push(JSON.parse(String(data))))
  socket.on('close', (code) => codes.push(code))
  await new Promise((resolve) => socket.once('open', resolve))
  const send = (message: object) => socket.send(JSON.stringify(message))
  send({ type: 'connection_init' })
  await until(() => seen.length === 1, { what: 'the connection is acknowledged' })
  return {
    codes,
    /** Returns the messages of one operation. */
    of: (id: string) => seen.filter((message) => message.id === id),
    subscribe: (id: string, query: string, variables: object = {}) =>
      send({ type: 'subscribe', id, payload: { query, variables } }),
    complete: (id: string) => send({ type: 'complete', id }),
    close: () => socket.terminate(),
  }
}

const ended = ({ of }: Awaited<ReturnType<typeof connect>>, id: string) =>
  until(() => of(id).some(({ type }) => type !== 'next'), { what: `${id} has ended` })

it.each([
  ['NOT_FOUND', status, { jobId: 'job_none' }],
  ['NOT_FOUND', tail, { jobId: 'job_none' }],
  ['NOT_FOUND', 'subscription { workloadStatus(pool: "nowhere") { depth } }', {}],
  ['NOT_FOUND', 'subscription { nodeUpdates(pool: "nowhere") { __typename } }', {}],
  ['INVALID_CURSOR', 'subscription { nodeUpdates(pool: "sim", after: "x") { __typename } }', {}],
  ['INVALID_CURSOR', 'subscription { jobUpdates(after: "x") { __typename } }', {}],
  ['GRAPHQL_VALIDATION_FAILED', 'subscription { nothing }', {}],
])('a subscription refused with %s gets a single `error` message (%s)', async (code, query, variables) => {
  const connection = await connect()
  connection.subscribe('1', query, variables)
  await ended(connection, '1')
  expect(connection.of('1')).toMatchObject([{ type: 'error', payload: [{ extensions: { code } }] }])
  connection.close()
})

it.each([
  ['jobStatus', status],
  ['tail', tail],
  ['workloadStatus', 'subscription { workloadStatus { depth } }'],
  ['nodeUpdates', 'subscription { nodeUpdates(pool: "sim") { __typename } }'],
])('a subscription to %s over a WebSocket waits while the database is unavailable', async (_name, query) => {
  const jobId = await server.submit()
  const connection = await connect()
  await server.door?.shut()
  const variables = query.includes('$jobId') ? { jobId } : {}
  connection.subscribe('1', query, variables)
  connection.subscribe('left', query, variables)
  connection.complete('left')
  const answer = await ask(server.url, '{ jobs(first: 1) { nodes { id } } }')
  expect(answer.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }])
  expect(connection.of('1')).toEqual([])
  await server.door?.open()
  if (query === tail)
    await until(() => cancelJob(server.domain, server.admin, { jobId }).catch(() => null), {
      what: 'its log is closed',
    })
  await until(() => connection.of('1').length > 0, { what: 'the stream has begun' })
  expect(connection.of('1')[0]).toMatchObject({ type: 'next', payload: { data: {} } })
  expect(connection.of('1')[0].payload.errors).toBeUndefined()
  expect([connection.of('left'), connection.codes]).toEqual([[], []])
  connection.close()
})

const replayed = `subscription ($after: Cursor) { jobUpdates(after: $after) { ... on JobTransitions {
  transitions { seq actor { id name } }
  job { id user { id name } team { id } currentRun { id } scheduling { reasons { code } jobsAhead } allowedActions } } } }`

it('a subscription that resumes before many events needs few SQL statements', async () => {
  const { asOf } = (await ask(server.url, '{ jobs(first: 1) { asOf } }')).data?.['jobs'] ?? {}
  const count = 100
  for (let n = 0; n < count; n++) {
    const jobId = await server.submit()
    await setJobPriority(server.domain, server.admin, { jobId, priority: 20 })
  }
  await until(
    async () => (await server.domain.db.sql.query('SELECT 1 FROM event WHERE position IS NULL')).length === 0,
    { what: 'every event has a position' },
  )
  const statements = server.countStatements()
  const connection = await connect()
  connection.subscribe('1', replayed, { after: asOf })
  expect(connection.of('1').filter(({ type }) => type === 'error')).toEqual([])
  const events = () => connection.of('1').flatMap(({ payload }) => payload.data.jobUpdates.transitions ?? [])
  await until(() => events().length === 2 * count, { what: 'all are replayed' })
  connection.close()
  const times = Object.values(Object.groupBy(statements, (text) => text)).map((same) => same?.length ?? 0)
  // Of the hundred messages, 32 at a time are executed together.
  expect(Math.max(...times)).toBeLessThanOrEqual(8)
})
