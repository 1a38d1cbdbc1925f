import { createClient } from 'graphql-ws'
import { beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createClient as createBerthClient } from '../../../src/client/jobs/client.ts'
import { createToken } from '../../../src/domain/people/tokens.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Clients that connect while PostgreSQL is unavailable reconnect later. */
let secret: string
const server = await openTestServer({ hasDoor: true, logIn: { oidc: null } })
beforeAll(async () => {
  secret = (await createToken(server.domain, server.admin, { name: 't' })).secret
})

it('a client that connects during a database outage is closed with 1013, and reconnects', async () => {
  const jobId = await server.submit()
  const codes: number[] = []
  const stock = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${secret}` },
    retryAttempts: Infinity,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
    on: { closed: (event) => codes.push((event as { code: number }).code) },
  })
  const shipped = createBerthClient({
    url: server.url,
    token: secret,
    transports: ['websocket'],
    sleep: () => new Promise((resolve) => setTimeout(resolve, 50)),
  })
  await server.door?.shut()
  const query =
    'subscription ($jobId: ID!) { jobStatus(jobId: $jobId) { ... on JobTransitions { transitions { seq } } } }'
  const first = stock.iterate({ query, variables: { jobId } }).next()
  const update = shipped.follow(jobId).next()
  await until(() => codes.length > 2 && shipped.outage(), { what: 'both were refused' })
  await server.door?.open()
  expect((await first).value?.data?.['jobStatus']).toEqual({ transitions: [{ seq: 1 }] })
  expect((await update).value).toMatchObject({ transitions: [{ seq: 1 }] })
  expect(new Set(codes)).toEqual(new Set([1013]))
  await Promise.all([stock.dispose(), shipped.close()])
})
