import { ApolloClient, type DocumentNode, gql, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { buildSchema, introspectionFromSchema, print } from 'graphql'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { cacheOptions, createBerthLink } from '../../../src/client/caches/apollo.ts'
import { berthExchange, graphcacheOptions } from '../../../src/client/caches/urql.ts'
import { type Client, createClient } from '../../../src/client/jobs/client.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { openTestServer } from '../../support/server.ts'
import { repository } from '../../support/sources.ts'
import { until } from '../../support/until.ts'

/** With the shipped options, the caches log no warnings in development. */

let client: Client
const server = await openTestServer()
beforeAll(async () => {
  client = createClient({ url: server.url })
})
afterAll(() => client.close())

const told: string[] = []
beforeEach(() => {
  told.length = 0
  for (const level of ['warn', 'error'] as const)
    vi.spyOn(console, level).mockImplementation((...words: unknown[]) => void told.push(words.map(String).join(' ')))
})
afterEach(() => vi.restoreAllMocks())

interface Cache {
  /** Sends a query, and keeps it in use as a page does, or sends a mutation. */
  ask(document: DocumentNode, variables: object): Promise<unknown>
  /** Counts messages. */
  subscribe(document: DocumentNode, variables: object, onMessage: () => void): () => void
  close(): void
}

const isMutation = (document: DocumentNode) => print(document).startsWith('mutation')

function openApollo(): Cache {
  const cache = new InMemoryCache(cacheOptions)
  const apollo = new ApolloClient({ cache, link: createBerthLink(client, { cache }) })
  return {
    ask: (document, variables) =>
      isMutation(document)
        ? apollo.mutate({ mutation: document, variables })
        : apollo.query({ query: document, variables, fetchPolicy: 'network-only' }),
    subscribe(document, variables, onMessage) {
      const stream = apollo.subscribe({ query: document, variables }).subscribe(onMessage)
      return () => stream.unsubscribe()
    },
    close: () => apollo.stop(),
  }
}

function openUrql(options: object = {}): Cache {
  const exchanges = [cacheExchange({ ...graphcacheOptions, ...options }), berthExchange(client)]
  const urql = new UrqlClient({ url: server.url, exchanges })
  return {
    ask: (document, variables) =>
      isMutation(document)
        ? urql.mutation(document, variables).toPromise()
        : answered(urql.query(document, variables, { requestPolicy: 'network-only' }).toPromise()),
    subscribe(document, variables, onMessage) {
      const stream = urql.subscription(document, variables).subscribe(onMessage)
      return () => stream.unsubscribe()
    },
    close() {},
  }
}

async function answered(asked: Promise<{ error?: Error | undefined }>) {
  const { error } = await asked
  if (error) throw error
}

const listed =
  'id version name state stateCategory priority allowedActions user { id name } progress { fraction message }'
const list = gql`query JobList { serverInfo { id at } jobs(first: 50) { asOf totalCount nodes { ${listed} } } }`
const listUpdates = gql`subscription ListUpdates($after: Cursor!) { jobUpdates(after: $after) {
  ... on JobTransitions { cursor job { ${listed} } } ... on StreamReset { cursor resetReason jobIds } ... on StreamHeartbeat { cursor } } }`

const shownJob = `${listed} stateInfo attempt executor pool { id name } spec { command }
  events(last: 20) { nodes { id seq at type to message } }`
const refusal = '... on Problem { code message retryable }'
const oneJob = gql`query OneJob($id: ID!) { job(id: $id) { ${shownJob} } }`
const followJob = gql`subscription FollowJob($id: ID!, $after: Cursor) { jobStatus(jobId: $id, after: $after) {
  ... on JobTransitions { cursor job { ${shownJob} } } ... on StreamReset { cursor resetReason jobIds } ... on StreamHeartbeat { cursor } } }`
const cancelOne = gql`mutation CancelOne($id: ID!) { cancelJob(input: { jobId: $id }) {
  ... on CancelJobSuccess { job { ${listed} } } ${refusal} } }`
const deleteOne = gql`mutation DeleteOne($id: ID!) { deleteJob(input: { jobId: $id }) {
  ... on DeleteJobSuccess { deletedId } ${refusal} } }`

/** Another page selects the same fields. */
const otherDocuments = [
  gql`query OtherList { jobs(first: 50) { pageInfo { endCursor } edges { cursor node { id version name } } } }`,
  gql`query OtherJob($id: ID!) { job(id: $id) { id version progress { fraction at } spec { executable resources { cpu } } labels { key } } }`,
  gql`query Viewer { viewer { id quotas { type used limit } } pools { nodes { id name executors } } }`,
  gql`query OtherViewer { viewer { id permissions } pools { nodes { id } } serverInfo { id release } system { id } }`,
]

async function useOf(cache: Cache) {
  const { sql } = server.domain.db
  const [shown, other] = [await server.submit(), await server.submit()]
  const progress = (fraction: number) =>
    sql.query(
      "UPDATE job SET progress_fraction = $2, progress_message = 'on', progress_at = berth_now(), told_at = berth_now() WHERE id = $1",
      [shown, fraction],
    )
  await progress(0.1)
  const { jobs } = await client
    .ask<{ jobs: { asOf: string } }>({ query: '{ jobs(first: 1) { asOf } }' })
    .then(({ data }) => data ?? { jobs: { asOf: '' } })
  let messages = 0
  const count = () => messages++
  const leave = [
    cache.subscribe(listUpdates, { after: jobs.asOf }, count),
    cache.subscribe(followJob, { id: shown }, count),
  ]
  const read = async () => {
    await cache.ask(list, {})
    await cache.ask(oneJob, { id: shown })
    for (const document of otherDocuments) await cache.ask(document, { id: shown })
  }
  await read()
  for (let priority = 1; priority < 4; priority++) {
    await setJobPriority(server.domain, server.admin, { jobId: shown, priority })
    await progress(priority / 10)
    await read()
  }
  await cache.ask(cancelOne, { id: shown })
  await cache.ask(cancelOne, { id: 'job_none' })
  await cancelJob(server.domain, server.admin, { jobId: other })
  await deleteJob(server.domain, server.admin, { jobId: other })
  await cache.ask(deleteOne, { id: shown })
  await cache.ask(deleteOne, { id: shown })
  await until(() => messages > 7, { what: 'the streams have reported the change' })
  await read()
  for (const end of leave) end()
  cache.close()
}

const introspected = () => {
  const text = repository.find(({ path }) => path === 'schema.graphql')?.text ?? ''
  return introspectionFromSchema(buildSchema(text))
}

it.each([
  ['Apollo Client', openApollo],
  ['Graphcache', openUrql],
  ['Graphcache with a schema', () => openUrql({ schema: introspected() })],
])('%s logs no warnings for the documents of the package', async (_, open) => {
  await useOf(open())
  expect(told).toEqual([])
})

it('warnings of Graphcache about other things are logged', async () => {
  await server.submit()
  const urql = openUrql()
  await urql.ask(gql`query NoId { jobs(first: 50) { nodes { version name } } }`, {})
  expect(told[0]).toContain('Invalid key')
})
