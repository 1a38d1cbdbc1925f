import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cacheOptions, createBerthLink } from '../../../src/client/caches/apollo.ts'
import { berthExchange, graphcacheOptions } from '../../../src/client/caches/urql.ts'
import { type Client, createClient } from '../../../src/client/jobs/client.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { data } from '../../support/client.ts'
import { startProxy } from '../../support/proxy.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/**
 * Pages on Apollo Client 4 and urql 5 show a list in a normalised cache. A subscription updates it while other users
 * change jobs.
 */

let client: Client
const server = await openTestServer()
const proxy = await startProxy(server.url)
beforeAll(() => {
  client = createClient({ url: proxy.url, sleep: () => new Promise((resolve) => setImmediate(resolve)) })
})
afterAll(async () => {
  await client.close()
  await proxy.close()
})

interface Row {
  id: string
  version: number
  state: string
  priority: number
}
interface List {
  jobs: { asOf: string; nodes: Row[] }
}
interface Updates {
  jobUpdates: { __typename: string; job?: Row }
}

const listText = 'query List { jobs(first: 100) { asOf nodes { __typename id version state priority } } }'
const updatesText = `subscription Updates($after: Cursor) { jobUpdates(after: $after) { __typename
  ... on JobTransitions { cursor job { __typename id version state priority } }
  ... on StreamReset { cursor resetReason jobIds }
  ... on StreamHeartbeat { cursor } } }`

/** A page with rows. It reads its list again when a message contains a job that it does not show. */
interface Page {
  rows(): Row[]
  close(): void
}

const isShown = (rows: readonly Row[], { jobUpdates: { job } }: Updates) =>
  job !== undefined && rows.some(({ id }) => id === job.id)

async function openApolloPage(): Promise<Page> {
  const cache = new InMemoryCache(cacheOptions)
  const apollo = new ApolloClient({ cache, link: createBerthLink(client, { cache }) })
  const watched = apollo.watchQuery<List>({ query: gql(listText) })
  const shown = watched.subscribe({})
  const first = await apollo.query<List>({ query: gql(listText) })
  const rows = () => (cache.readQuery<List>({ query: gql(listText) }, true)?.jobs.nodes ?? []) as Row[]
  const reread = singleFlight(() => watched.refetch())
  const updates = apollo
    .subscribe<Updates>({ query: gql(updatesText), variables: { after: first.data?.jobs.asOf } })
    .subscribe(({ data: update }) => {
      if (update && !isShown(rows(), update)) reread()
    })
  return {
    rows,
    close() {
      updates.unsubscribe()
      shown.unsubscribe()
      apollo.stop()
    },
  }
}

/** Warnings of Graphcache that it could only guess whether a fragment matches. */
const guesses: string[] = []

async function openUrqlPage(): Promise<Page> {
  const urql = new UrqlClient({
    url: proxy.url,
    exchanges: [
      cacheExchange({
        ...graphcacheOptions,
        logger: (_, message) => /heuristic/i.test(message) && guesses.push(message),
      }),
      berthExchange(client),
    ],
  })
  const first = await urql.query<List>(listText, {}).toPromise()
  let nodes = first.data?.jobs.nodes ?? []
  const shown = urql.query<List>(listText, {}).subscribe(({ data: list }) => {
    nodes = list?.jobs.nodes ?? nodes
  })
  const reread = singleFlight(() => urql.query<List>(listText, {}, { requestPolicy: 'network-only' }).toPromise())
  const updates = urql
    .subscription<Updates>(updatesText, { after: first.data?.jobs.asOf })
    .subscribe(({ data: update }) => {
      if (update && !isShown(nodes, update)) reread()
    })
  return {
    rows: () => nodes,
    close() {
      updates.unsubscribe()
      shown.unsubscribe()
    },
  }
}

/** Runs `work` once at a time. Calls during a run cause one more run. */
function singleFlight(work: () => Promise<unknown>): () => void {
  let running = false
  let again = false
  const run = async () => {
    running = true
    do {
      again = false
      await work().catch(() => {
        again = true
      })
    } while (again)
    running = false
  }
  return () => {
    if (running) again = true
    else void run()
  }
}

const mutations = 120
const cuts = 12

it('pages on Apollo and urql show the rows of the server after changes, deletions and lost connections', async () => {
  const alive: string[] = []
  for (let i = 0; i < 5; i++) alive.push(await server.submit())
  const pages = { apollo: await openApolloPage(), urql: await openUrqlPage() }
  for (let i = 0; i < mutations; i++) {
    await mutate(alive, i)
    if (i % Math.ceil(mutations / cuts) === 0) proxy.cut()
  }
  const truth = (await data(server.url, listText))['jobs'].nodes as Row[]
  for (const [name, page] of Object.entries(pages)) {
    await until(() => JSON.stringify(page.rows()) === JSON.stringify(truth), { what: `${name} shows the truth` }).catch(
      () => expect(page.rows(), name).toEqual(truth),
    )
    page.close()
  }
  expect(guesses).toEqual([])
})

async function mutate(alive: string[], i: number) {
  const jobId = alive[(i * 7) % alive.length] ?? ''
  if (i % 4 === 0 || alive.length < 4) alive.push(await server.submit())
  else if (i % 4 === 3) {
    await cancelJob(server.domain, server.admin, { jobId })
    await deleteJob(server.domain, server.admin, { jobId })
    alive.splice(alive.indexOf(jobId), 1)
  } else await setJobPriority(server.domain, server.admin, { jobId, priority: i % 50 })
}
