import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient } from '@urql/core'
import { createBerthLink } from '../../src/client/caches/apollo.ts'
import { berthExchange } from '../../src/client/caches/urql.ts'
import { type Client, createClient } from '../../src/client/jobs/client.ts'
import { data } from '../support/client.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { type Scenario, scaleByLoad } from './scenario.ts'
import { addSeqs, progressMs, retryMsMax, type Seqs, type Servers, sizes, withServers } from './two-servers.ts'
import { startWriters } from './writers.ts'

/**
 * Promises of the shipped clients while connections are cut: each event of each job once and in order through `follow`,
 * the Apollo link and the urql exchange.
 */
export const clients: readonly Scenario[] = [
  { name: 'cut-clients', run: (context) => withServers(context, cutClients) },
]

const pauseMs = { min: 50, max: 1_500 }
const catchUpMs = 120_000

interface Reader {
  readonly name: string
  readonly seqs: Seqs
  readonly client: Client
  readonly proxy: CuttingProxy
  /** Closes the client; a new one continues from its cursor. */
  drop(): void
  close(): Promise<void>
}

async function connect(url: string) {
  const proxy = await startProxy(url)
  const client = createClient({ url: proxy.url, sleep: (ms) => sleep(Math.min(ms, retryMsMax)) })
  const close = async () => {
    await client.close()
    await proxy.close()
  }
  return { proxy, client, close }
}

/** Uses `follow` with all transports; a follower that was dropped continues from its last cursor. */
async function openFollower(url: string, jobIds: readonly string[], faults: string[]): Promise<Reader> {
  const { proxy, client, close } = await connect(url)
  const seqs: Seqs = new Map()
  const cursors = new Map<string, string>()
  let leave = new AbortController()
  const follow = async (jobId: string, signal: AbortSignal) => {
    const after = cursors.get(jobId)
    for await (const update of client.follow(jobId, { signal, ...(after !== undefined && { after }) })) {
      if (signal.aborted) return
      cursors.set(jobId, update.cursor)
      if (update.__typename === 'JobTransitions') addSeqs(seqs, jobId, update.transitions)
      else faults.push(`follow: ${JSON.stringify(update)}`)
    }
  }
  const open = () => {
    const { signal } = leave
    for (const jobId of jobIds)
      follow(jobId, signal).catch((error: unknown) => signal.aborted || faults.push(`follow: ${error}`))
  }
  open()
  const drop = () => {
    leave.abort()
    leave = new AbortController()
    open()
  }
  const end = () => {
    leave.abort()
    return close()
  }
  return { name: 'follow', seqs, client, proxy, drop, close: end }
}

interface Updates {
  jobUpdates: { __typename: string; cursor: string; job?: { id: string }; transitions?: { seq: number }[] }
}
const updatesText = `subscription Updates($after: Cursor) { jobUpdates(after: $after) { __typename
  ... on JobTransitions { cursor job { __typename id } transitions { seq } }
  ... on StreamReset { cursor resetReason jobIds } ... on StreamHeartbeat { cursor } } }`

interface Page {
  name: string
  subscribe(client: Client): (after: string, next: (updates: Updates | null | undefined) => void) => () => void
}

const apollo: Page = {
  name: 'Apollo',
  subscribe(client) {
    const page = new ApolloClient({ cache: new InMemoryCache(), link: createBerthLink(client) })
    return (after, next) => {
      const options = { query: gql(updatesText), variables: { after }, fetchPolicy: 'no-cache' } as const
      const subscription = page.subscribe<Updates>(options).subscribe(({ data: updates }) => next(updates))
      return () => subscription.unsubscribe()
    }
  },
}

const urql: Page = {
  name: 'urql',
  subscribe(client) {
    const page = new UrqlClient({ url: 'http://localhost', exchanges: [berthExchange(client)] })
    return (after, next) => {
      const subscription = page.subscription<Updates>(updatesText, { after }).subscribe(({ data: news }) => next(news))
      return () => subscription.unsubscribe()
    }
  },
}

async function openPage(
  url: string,
  page: Page,
  { after, faults }: { after: string; faults: string[] },
): Promise<Reader> {
  const { proxy, client, close } = await connect(url)
  const seqs: Seqs = new Map()
  const subscribe = page.subscribe(client)
  let cursor = after
  const open = () =>
    subscribe(cursor, (updates) => {
      const message = updates?.jobUpdates
      if (!message || message.__typename === 'StreamReset')
        return void faults.push(`${page.name}: ${JSON.stringify(updates)}`)
      cursor = message.cursor
      if (message.job) addSeqs(seqs, message.job.id, message.transitions ?? [])
    })
  let leave = open()
  const drop = () => {
    leave()
    leave = open()
  }
  const end = () => {
    leave()
    return close()
  }
  return { name: page.name, seqs, client, proxy, drop, close: end }
}

async function cutClients(servers: Servers): Promise<void> {
  const { random, urlOf, replaceOne, isFull, log } = servers
  const size = sizes[isFull ? 'full' : 'small']
  const faults: string[] = []
  const cuts: Record<string, number> = {}
  let cutsMade = 0
  const { jobs } = await data(urlOf(), '{ jobs(first: 1) { asOf } }')
  // The last cut and the last change come together.
  const { jobIds, made, done } = await startWriters(servers, size.writers, {
    wanted: () => Math.min(1, (cutsMade + 1) / size.cuts) * size.transitions,
    isOver: (written) => written >= size.transitions && cutsMade >= size.cuts,
  })
  const readers = [
    await openFollower(urlOf(), jobIds, faults),
    await openPage(urlOf(), apollo, { after: jobs.asOf, faults }),
    await openPage(urlOf(), urql, { after: jobs.asOf, faults }),
  ]
  const progress = setInterval(() => log(`${cutsMade} cuts, ${made.written} changes`), progressMs)
  const ways: Record<string, (reader: Reader) => unknown> = {
    drop: (reader) => reader.drop(),
    cut: ({ proxy }) => proxy.cut(),
    switch: ({ proxy }) => {
      proxy.moveTo(urlOf())
      proxy.cut()
    },
    transport: ({ proxy }) => {
      proxy.blocked.clear()
      for (const kind of ['websocket', 'sse'] as const) if (random.between(0, 1) === 1) proxy.blocked.add(kind)
      proxy.cut()
    },
    kill: async () => {
      await replaceOne()
      for (const { proxy } of readers) proxy.moveTo(urlOf())
    },
  }
  try {
    for (; cutsMade < size.cuts; cutsMade++) {
      await sleep(random.between(pauseMs.min, pauseMs.max))
      const way = random.pick(Object.keys(ways)) ?? 'cut'
      await Promise.all(readers.map((reader, index) => (way === 'kill' && index > 0 ? undefined : ways[way]?.(reader))))
      cuts[way] = (cuts[way] ?? 0) + 1
    }
    await done
    log(`all ${made.written} changes are made`)
    for (const { proxy } of readers) proxy.blocked.clear()
    const versions = await versionsOf(urlOf(), jobIds)
    const late = performance.now() + scaleByLoad(catchUpMs)
    for (const reader of readers) {
      while (!isThere(reader, versions) && performance.now() < late) await sleep(200)
      assert.deepEqual(faults, [])
      for (const [id, version] of versions)
        assert.deepEqual(
          reader.seqs.get(id),
          Array.from({ length: version }, (_, i) => i + 1),
          `${reader.name} ${id}`,
        )
    }
    const events = [...versions.values()].reduce((sum, version) => sum + version, 0)
    const passed = readers.map(({ name, proxy }) => `${name} ${JSON.stringify(proxy.passed)}`).join(', ')
    log(
      `${events} events of ${jobIds.length} jobs (${made.written} changes), cuts ${JSON.stringify(cuts)}: exact; ${passed}`,
    )
  } finally {
    clearInterval(progress)
    await Promise.all(readers.map((reader) => reader.close()))
  }
}

const isThere = ({ seqs }: Reader, versions: ReadonlyMap<string, number>) =>
  [...versions].every(([id, version]) => (seqs.get(id)?.at(-1) ?? 0) >= version)

async function versionsOf(url: string, jobIds: readonly string[]): Promise<Map<string, number>> {
  const versions = new Map<string, number>()
  for (const id of jobIds)
    versions.set(id, (await data(url, 'query ($id: ID!) { job(id: $id) { version } }', { id }))['job'].version)
  return versions
}
