import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { cacheOptions, createBerthLink } from '../../../src/client/caches/apollo.ts'
import { berthExchange, graphcacheOptions } from '../../../src/client/caches/urql.ts'
import { type Client, createClient } from '../../../src/client/jobs/client.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** A deleted job leaves the lists in the cache, and the lists are not read again. */

let client: Client
const server = await openTestServer()
beforeAll(async () => {
  client = createClient({ url: server.url })
})
afterAll(() => client.close())
afterEach(() => vi.restoreAllMocks())

const row = '{ __typename id version state }'
const selections = {
  nodes: `nodes ${row}`,
  edges: `edges { __typename cursor node ${row} }`,
  'nodes and edges': `nodes ${row} edges { __typename cursor node ${row} }`,
}
const deletion = gql`mutation Deletion($id: ID!) { deleteJob(input: { jobId: $id }) { __typename ... on DeleteJobSuccess { deletedId } } }`
const updatesDocument = gql`subscription Updates($after: Cursor) { jobUpdates(after: $after) { __typename
  ... on JobTransitions { cursor } ... on StreamReset { cursor resetReason jobIds } ... on StreamHeartbeat { cursor } } }`

interface List {
  jobs: { asOf: string; nodes?: { id: string }[]; edges?: { node: { id: string } }[] }
}

interface Page {
  list(): List | undefined
  deleteJob(id: string): Promise<unknown>
  follow(after: string): () => void
  close(): void
}

function openApollo(query: ReturnType<typeof gql>): Page {
  const cache = new InMemoryCache(cacheOptions)
  const apollo = new ApolloClient({ cache, link: createBerthLink(client, { cache }) })
  let list: List | undefined
  const shown = apollo.watchQuery<List>({ query }).subscribe(({ data, dataState }) => {
    if (dataState === 'complete') list = data
  })
  return {
    list: () => list,
    deleteJob: (id) => apollo.mutate({ mutation: deletion, variables: { id } }),
    follow(after) {
      const stream = apollo.subscribe({ query: updatesDocument, variables: { after } }).subscribe(() => {})
      return () => stream.unsubscribe()
    },
    close() {
      shown.unsubscribe()
      apollo.stop()
    },
  }
}

function openUrql(query: ReturnType<typeof gql>, updates = graphcacheOptions.updates): Page {
  const urql = new UrqlClient({
    url: server.url,
    exchanges: [cacheExchange({ ...graphcacheOptions, updates }), berthExchange(client)],
  })
  let list: List | undefined
  const shown = urql.query<List>(query, {}).subscribe(({ data }) => {
    if (data) list = data
  })
  return {
    list: () => list,
    deleteJob: (id) => urql.mutation(deletion, { id }).toPromise(),
    follow(after) {
      const stream = urql.subscription(updatesDocument, { after }).subscribe(() => {})
      return () => stream.unsubscribe()
    },
    close: () => shown.unsubscribe(),
  }
}

/** Returns the ids of the rows for each selection of the list. */
const idsOf = (list: List | undefined) =>
  [list?.jobs.nodes, list?.jobs.edges?.map(({ node }) => node)].flatMap((rows) =>
    rows ? [rows.map(({ id }) => id)] : [],
  )

it.each(
  Object.entries({ 'Apollo Client': openApollo, Graphcache: openUrql }).flatMap(([name, open]) =>
    Object.entries(selections).map(([selection, text]) => ({ name, open, selection, text })),
  ),
)('$name removes a deleted job from a list that selects $selection without another request', async ({ open, text }) => {
  const ids = [await server.submit(), await server.submit(), await server.submit()]
  for (const jobId of ids) await cancelJob(server.domain, server.admin, { jobId })
  const [own = '', other = '', kept = ''] = ids
  const requests = vi.spyOn(client, 'ask')
  const page = open(gql(`query List { jobs(first: 100) { asOf ${text} } }`))
  await until(() => page.list() !== undefined, { what: 'the list is read' })
  const leave = page.follow(page.list()?.jobs.asOf ?? '')
  const shows = (id: string) => idsOf(page.list()).some((listed) => listed.includes(id))
  expect(ids.filter((id) => !shows(id))).toEqual([])
  await page.deleteJob(own)
  await until(() => !shows(own), { what: 'the own deletion shows' })
  await deleteJob(server.domain, server.admin, { jobId: other })
  await until(() => !shows(other), { what: "another user's deletion shows" })
  expect(idsOf(page.list()).filter((listed) => !listed.includes(kept))).toEqual([])
  const isList = ([{ query }]: Parameters<Client['ask']>) => query.includes('query List')
  expect(requests.mock.calls.filter(isList)).toHaveLength(1)
  leave()
  page.close()
})

it('a page can extend the updates of Graphcache by its own', async () => {
  const { Mutation, Subscription } = graphcacheOptions.updates
  const messages: unknown[] = []
  const own: typeof Subscription.jobUpdates = (result, args, cache, info) => {
    Subscription.jobUpdates(result, args, cache, info)
    messages.push(result['jobUpdates'])
  }
  const query = gql(`query List { jobs(first: 100) { asOf ${selections.nodes} } }`)
  const page = openUrql(query, { Mutation, Subscription: { ...Subscription, jobUpdates: own } })
  const id = await server.submit()
  await cancelJob(server.domain, server.admin, { jobId: id })
  await until(() => page.list() !== undefined, { what: 'the list is read' })
  const leave = page.follow(page.list()?.jobs.asOf ?? '')
  await deleteJob(server.domain, server.admin, { jobId: id })
  await until(() => messages.length > 0, { what: 'the own update is called' })
  await until(() => !idsOf(page.list()).flat().includes(id), { what: 'the deletion shows' })
  leave()
  page.close()
})
