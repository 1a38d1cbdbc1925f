import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient } from '@urql/core'
import { Random } from '../../simulate/random.ts'
import { createBerthLink } from '../../src/client/apollo/index.ts'
import { type Client, createClient } from '../../src/client/client.ts'
import { berthExchange } from '../../src/client/urql/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { type BerthProcess, freePort, startBerth } from '../support/berth-process.ts'
import { ask, data, type Json, streamSocket } from '../support/client.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { withDirectory } from './directory.ts'
import { here, type Scenario } from './scenario.ts'
import { startLog, startWriters } from './writers.ts'

/**
 * What the shipped clients promise while everything is cut: each event of each job once and in order through `follow`, the
 * Apollo link and the urql exchange; and from a snapshot's cursor on, what is not in the snapshot and nothing else.
 */
export const clients: readonly Scenario[] = [
  { name: 'cut-clients', run: (context) => withServers(context, cutClients) },
  { name: 'snapshot-then-stream', run: (context) => withServers(context, snapshotThenStream) },
]

type Context = Parameters<Scenario['run']>[0]

const sizes = {
  small: { writers: 8, transitions: 2_000, cuts: 12, snapshots: 30 },
  full: { writers: 50, transitions: 100_000, cuts: 200, snapshots: 1_000 },
} as const

const pauseMs = { min: 50, max: 1_500 }
/** Between the tries of a client. */
const retryMsMax = 300
const catchUpMs = 120_000
const progressMs = 15_000
/** Characters of a server's log that a red scenario shows. */
const saidMax = 2_000

interface Servers extends Context {
  random: Random
  databaseUrl: string
  urlOf(): string
  /** kill -9 of one of them, and a new one in its place. */
  replaceOne(): Promise<void>
}

async function withServers(context: Context, work: (servers: Servers) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const postgres = await startPostgres({ dataDir: directory, log: createLog('error'), clock: systemClock })
    const config = join(directory, 'berth.yaml')
    await writeFile(
      config,
      'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 1, memoryGib: 1 }] }]\n',
    )
    const env = { DATABASE_URL: postgres.url, BERTH_CONFIG: config, BERTH_ROLES: 'api' }
    const start = async () => startBerth({ dataDir: directory, port: await freePort(), env })
    const random = new Random(context.seed)
    const running: BerthProcess[] = []
    try {
      running.push(await start(), await start())
      const replaceOne = async () => {
        const index = random.between(0, running.length - 1)
        await running[index]?.end('SIGKILL')
        running[index] = await start()
      }
      await work({
        ...context,
        random,
        databaseUrl: postgres.url,
        urlOf: () => random.pick(running)?.url ?? '',
        replaceOne,
      })
    } catch (error) {
      for (const server of running) context.log(`a server said: ${server.output().slice(-saidMax)}`)
      throw error
    } finally {
      await Promise.all(running.map((server) => server.end('SIGKILL')))
      await postgres.stop()
    }
  })
}

type Seqs = Map<string, number[]>

interface Reader {
  readonly name: string
  readonly seqs: Seqs
  readonly client: Client
  readonly proxy: CuttingProxy
  /** It leaves, and a new one goes on from its cursor. */
  drop(): void
  close(): Promise<void>
}

const add = (seqs: Seqs, jobId: string, more: readonly { seq: number }[]) =>
  seqs.set(jobId, [...(seqs.get(jobId) ?? []), ...more.map(({ seq }) => seq)])

async function connect(url: string) {
  const proxy = await startProxy(url)
  const client = createClient({ url: proxy.url, sleep: (ms) => sleep(Math.min(ms, retryMsMax)) })
  const close = async () => {
    await client.close()
    await proxy.close()
  }
  return { proxy, client, close }
}

/** By `follow`, with all transports; one that was dropped follows again from its last cursor. */
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
      if (update.__typename === 'JobTransitions') add(seqs, jobId, update.transitions)
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
  ... on StreamReset { cursor reason jobIds } ... on StreamHeartbeat { cursor } } }`

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
      if (message.job) add(seqs, message.job.id, message.transitions ?? [])
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
  // Cuts and changes end together.
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
    const late = performance.now() + here(catchUpMs)
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

const snapshot = `query ($id: ID!, $logId: ID!) { job(id: $id) { version eventCursor } jobs(first: 100) { asOf nodes { id version } }
  written: job(id: $logId) { logCursor logs(lastLines: 1) { text cursor } } }`
const jobStatus = `subscription ($id: ID!, $after: Cursor) { jobStatus(jobId: $id, after: $after) {
  ... on JobTransitions { transitions { seq } } } }`
const jobUpdates = `subscription ($after: Cursor) { jobUpdates(after: $after) { ... on JobTransitions { job { id } transitions { seq } } } }`
const tail = 'subscription ($id: ID!, $after: Cursor) { tail(jobId: $id, after: $after) { ... on LogBatch { text } } }'
/** Events, and lines, that are read after a snapshot. */
const eventsAfter = 40
/** Snapshots that are taken at the same time. */
const lanes = 4
/** As many as two processors can write, number and deliver. */
const changesPerSecond = 1_500

/**
 * From `eventCursor` the next event is the next number; from `asOf` no event that a row lacks is missed; from the end of a page of
 * output the next line is the next number, and from `logCursor` none is missed after it.
 */
async function snapshotThenStream(servers: Servers): Promise<void> {
  const { urlOf, isFull, log } = servers
  const size = sizes[isFull ? 'full' : 'small']
  let isOver = false
  const sinceMs = performance.now()
  const { jobIds, made, done } = await startWriters(servers, size.writers, {
    wanted: () => ((performance.now() - sinceMs) / 1000) * changesPerSecond,
    isOver: () => isOver,
  })
  const written = await startLog(servers, () => isOver)
  let taken = 0
  const progress = setInterval(() => log(`${taken} snapshots, ${made.written} changes`), progressMs)
  const take = async () => {
    for (let n = taken++; n < size.snapshots; n = taken++)
      await demandHandOver(urlOf(), jobIds[n % jobIds.length] ?? '', written.jobId)
  }
  try {
    await Promise.all(Array.from({ length: lanes }, take))
    log(`${size.snapshots} snapshots by eventCursor, asOf and logCursor, ${made.written} changes meanwhile: exact`)
  } finally {
    clearInterval(progress)
    isOver = true
    await Promise.all([done, written.done])
  }
}

async function demandHandOver(url: string, id: string, logId: string): Promise<void> {
  const { job, jobs, written } = await whenServed(url, snapshot, { id, logId })
  const [own, all, page, rest] = await Promise.all([
    readSeqs(streamSocket(url, jobStatus, { id, after: job.eventCursor }), 'jobStatus', id),
    readSeqs(streamSocket(url, jobUpdates, { after: jobs.asOf }), 'jobUpdates'),
    readLines(url, logId, written.logs.cursor),
    readLines(url, logId, written.logCursor),
  ])
  demandConsecutive(own.get(id), job.version, 'eventCursor')
  for (const row of jobs.nodes) {
    const seqs = (all.get(row.id) ?? []).filter((seq) => seq > row.version)
    demandConsecutive(seqs, row.version, 'asOf')
  }
  demandConsecutive(page, linesOf(written.logs.text).at(-1) ?? 0, 'logs.cursor')
  demandConsecutive(rest, (rest[0] ?? 1) - 1, 'logCursor')
}

/** A server with more work than it can do says so, and is asked again. */
async function whenServed(url: string, query: string, variables: object): Promise<Record<string, Json>> {
  for (;;) {
    const answer = await ask(url, query, variables)
    if (answer.data && !answer.errors) return answer.data
    assert.deepEqual(
      answer.errors?.map(({ extensions }) => extensions?.code),
      ['UNAVAILABLE'],
    )
    await sleep(retryMsMax)
  }
}

async function readLines(url: string, id: string, after: string): Promise<number[]> {
  const stream = streamSocket(url, tail, { id, after })
  const lines: number[] = []
  while (lines.length < eventsAfter) {
    const { value } = await stream.next()
    lines.push(...linesOf(value?.data?.['tail'].text ?? ''))
  }
  stream.cut()
  return lines
}

const linesOf = (text: string) => text.split('\n').filter(Boolean).map(Number)

async function readSeqs(stream: ReturnType<typeof streamSocket>, field: string, only?: string): Promise<Seqs> {
  const seqs: Seqs = new Map()
  for (let count = 0; count < eventsAfter; ) {
    const { value } = await stream.next()
    const { job, transitions = [] } = value?.data?.[field] ?? {}
    add(seqs, only ?? job?.id, transitions)
    count += transitions.length
  }
  stream.cut()
  return seqs
}

function demandConsecutive(seqs: readonly number[] = [], version: number, cursor: string) {
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => version + 1 + index),
    cursor,
  )
}
