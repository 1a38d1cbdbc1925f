import { afterAll, beforeAll, expect, it } from 'vitest'
import { Unavailable } from '../../src/platform/tx.ts'
import { ask, streamSocket, streamSse } from '../support/client.ts'
import { inOutage } from '../support/outage.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const owner = '... on JobTransitions { transitions { seq } job { user { name } } }'
const jobStatus = `subscription ($jobId: ID!) { jobStatus(jobId: $jobId) { ${owner} } }`

it.each([
  ['WebSocket', streamSocket],
  ['SSE', streamSse],
] as const)('an event over %s whose fields cannot be read now comes when they can', async (_name, open) => {
  const jobId = await server.submit()
  const stream = open(server.url, jobStatus, { jobId })
  const first = await inOutage(server.domain, { tables: '"user"', failures: 1 }, () => stream.next())
  expect(first.value).toMatchObject({
    data: { jobStatus: { transitions: [{ seq: 1 }], job: { user: { name: 'local' } } } },
  })
  stream.cut()
})

it('a query at that moment is told so', async () => {
  const answer = await inOutage(server.domain, { tables: '"user"', failures: 1 }, () =>
    ask(server.url, '{ viewer { user { name } } }'),
  )
  expect(answer).toMatchObject({ data: null, errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
})

it('what fails before a document is read is told so as well', async () => {
  const full = () => Promise.reject(new Unavailable('The disk cannot be read'))
  await using other = await startServer({ disk: { full } })
  const response = await fetch(`${other.url}/readyz`)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
})
