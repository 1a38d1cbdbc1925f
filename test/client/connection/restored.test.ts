import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient } from '@urql/core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cacheOptions, createBerthLink } from '../../../src/client/caches/apollo.ts'
import { berthExchange } from '../../../src/client/caches/urql.ts'
import type { Transport } from '../../../src/client/connection/streams.ts'
import { type Client, createClient } from '../../../src/client/jobs/client.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { out, replaceRun, writeLog } from '../../support/log.ts'
import { type CuttingProxy, startProxy } from '../../support/proxy.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Streams of one job whose database was restored from a backup while they were cut. */

let proxy: CuttingProxy
const server = await openTestServer()
beforeAll(async () => {
  proxy = await startProxy(server.url)
})
afterAll(() => proxy.close())

const sleep = () => new Promise<void>((resolve) => setImmediate(resolve))
const open = (transports?: Transport[]) => createClient({ url: proxy.url, sleep, ...(transports && { transports }) })

/** A job with three events. */
async function changedJob(): Promise<string> {
  const jobId = await server.submit()
  for (const priority of [20, 30]) await setJobPriority(server.domain, server.admin, { jobId, priority })
  return jobId
}

/** Simulates a restore, after which the job got other events. */
async function restore(jobId: string) {
  await server.domain.db.sql.query("UPDATE event SET at = at + interval '1 hour' WHERE job_id = $1", [jobId])
  proxy.cut()
}

it.each<Transport>(['websocket', 'sse', 'polling'])(
  'follow over %s starts again after a restore',
  async (transport) => {
    const client = open([transport])
    const jobId = await changedJob()
    const updates = client.follow(jobId)
    await updates.next()
    await restore(jobId)
    const seen: (number | string)[] = []
    for await (const update of updates) {
      if (update.__typename === 'StreamReset') seen.push(update.resetReason)
      else if (seen.length > 0) seen.push(...update.transitions.map(({ seq }) => seq))
      if (seen.at(-1) === 3) break
    }
    expect(seen).toEqual(['RETENTION', 1, 2, 3])
    await client.close()
  },
)

it('follow by pages starts again if its cursor is from before a restore of the database', async () => {
  const client = open(['polling'])
  const jobId = await changedJob()
  const first = client.follow(jobId)
  const after = (await first.next()).value?.cursor ?? ''
  await first.return()
  await restore(jobId)
  const updates = client.follow(jobId, { after })
  expect((await updates.next()).value).toMatchObject({ __typename: 'StreamReset', resetReason: 'RETENTION' })
  expect((await updates.next()).value).toMatchObject({ transitions: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] })
  await updates.return()
  await client.close()
})

it.each<Transport>(['websocket', 'sse', 'polling'])('tail over %s starts again after a restore', async (transport) => {
  const client = open([transport])
  const jobId = await server.submit()
  const { sql } = server.domain.db
  await writeLog(sql, jobId, [out('before\n')])
  const parts = client.tail(jobId)
  expect((await parts.next()).value).toMatchObject({ text: 'before\n' })
  await replaceRun(sql, jobId)
  await writeLog(sql, jobId, [out('another run\n')])
  proxy.cut()
  expect((await parts.next()).value).toMatchObject({ __typename: 'StreamReset', resetReason: 'RETENTION' })
  expect((await parts.next()).value).toMatchObject({ text: 'another run\n' })
  await parts.return()
  await client.close()
})

const query = `subscription Status($jobId: ID!, $after: Cursor) { jobStatus(jobId: $jobId, after: $after) { __typename
  ... on JobTransitions { cursor transitions { id seq } } ... on StreamReset { cursor resetReason jobIds } ... on StreamHeartbeat { cursor } } }`

interface Status {
  jobStatus: { __typename: string }
}
type Subscribe = (client: Client, jobId: string, told: (data: Status | undefined | null) => void) => () => void

const pages: Record<string, Subscribe> = {
  apollo(client, jobId, told) {
    const apollo = new ApolloClient({ cache: new InMemoryCache(cacheOptions), link: createBerthLink(client) })
    const stream = apollo.subscribe<Status>({ query: gql(query), variables: { jobId } })
    const shown = stream.subscribe(({ data }) => told(data))
    return () => shown.unsubscribe()
  },
  urql(client, jobId, told) {
    const urql = new UrqlClient({ url: client.url, exchanges: [berthExchange(client)], preferGetMethod: false })
    return urql.subscription<Status>(query, { jobId }).subscribe(({ data }) => told(data)).unsubscribe
  },
}

it.each(Object.entries(pages))('jobStatus in %s starts again after a restore', async (_name, subscribe) => {
  const client = open()
  const jobId = await changedJob()
  const seen: (string | undefined)[] = []
  const leave = subscribe(client, jobId, (data) => seen.push(data?.jobStatus.__typename))
  await until(() => seen.length === 2, { what: 'the stream has begun' })
  await restore(jobId)
  await until(() => seen.length >= 4, { what: 'the stream starts again' })
  expect(seen.slice(1, 4)).toEqual(['JobTransitions', 'StreamReset', 'JobTransitions'])
  leave()
  await client.close()
})
