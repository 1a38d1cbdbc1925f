import { expect, it } from 'vitest'
import { catchOutage } from '../../../src/graphql/schema/frame/unavailable.ts'
import { Unavailable } from '../../../src/platform/tx.ts'
import { ask, streamSocket, streamSse } from '../../support/client.ts'
import { runDuringOutage } from '../../support/outage.ts'
import { openTestServer, startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const server = await openTestServer()

const owner = '... on JobTransitions { transitions { seq } job { user { name } } }'
const jobStatus = `subscription ($jobId: ID!) { jobStatus(jobId: $jobId) { ${owner} } }`

it.each([
  ['WebSocket', streamSocket],
  ['SSE', streamSse],
] as const)('an event over %s is sent after an outage if its fields cannot be read before', async (_name, open) => {
  const jobId = await server.submit()
  const stream = open(server.url, jobStatus, { jobId })
  const first = await runDuringOutage(server.domain, { tables: '"user"', failures: 1 }, () => stream.next())
  expect(first.value).toMatchObject({
    data: { jobStatus: { transitions: [{ seq: 1 }], job: { user: { name: 'local' } } } },
  })
  stream.cut()
})

it('a query gets UNAVAILABLE during a database outage', async () => {
  const answer = await runDuringOutage(server.domain, { tables: '"user"', failures: 1 }, () =>
    ask(server.url, '{ viewer { user { name } } }'),
  )
  expect(answer).toMatchObject({ data: null, errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
})

it('a request gets UNAVAILABLE if the server fails before it parses the request', async () => {
  const findProblem = () => Promise.reject(new Unavailable('The disk cannot be read'))
  await using other = await startServer({ disk: { findProblem } })
  const response = await fetch(`${other.url}/readyz`)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
})

it.each([
  [
    'an unanswered statement',
    new Error('Query read timeout'),
    /^The database did not answer; the change may have been/,
  ],
  ['a refused connection', Object.assign(new Error(), { code: 'ECONNREFUSED' }), /^The database is not available$/],
])('the error of a mutation says after %s whether the change may have been made', async (_, error, message) => {
  const results = await catchOutage([1], () => Promise.reject(error))
  expect(results).toMatchObject([{ message: expect.stringMatching(message) }])
})

it('mutations and /readyz report a read-only database, and recover without a restart of the server', async () => {
  await using other = await startServer()
  const { db } = other.domain
  const name = new URL(db.url).pathname.slice(1)
  const become = async (readOnly: boolean) => {
    const statement = `ALTER DATABASE ${name} SET default_transaction_read_only TO ${readOnly}`
    await db.transaction((sql) => sql.query(statement), { settings: { transaction_read_only: 'off' } })
    await db.sql
      .query(
        `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() ORDER BY pid = pg_backend_pid() OFFSET 0) s`,
      )
      .catch(() => undefined) // its own connection too, as the last one
  }
  await become(true)
  const submission =
    'mutation { submitJob(input: { spec: { command: ["true"] } }) { __typename ... on Problem { message retryable } } }'
  await until(
    async () =>
      (await ask(other.url, submission)).data?.['submitJob'].message === 'The database is read-only; try again',
    { what: 'it is refused' },
  )
  const ready = await fetch(`${other.url}/readyz`)
  expect(ready.status).toBe(503)
  expect(await ready.json()).toMatchObject({
    ready: false,
    database: 'read-only',
    warnings: expect.arrayContaining(['the database is read-only']),
  })
  await become(false)
  await until(async () => (await ask(other.url, submission)).data?.['submitJob'].__typename === 'SubmitJobSuccess', {
    what: 'it is accepted',
  })
})
