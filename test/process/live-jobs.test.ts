import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Transport } from '../../src/client/connection/streams.ts'
import type { JobFilter, JobOrder } from '../../src/client/generated/graphql.ts'
import { type Client, createClient } from '../../src/client/jobs/client.ts'
import type { LiveJobs } from '../../src/client/jobs/live-jobs.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { data } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/**
 * Live lists over a real server, which other people use and which is killed: each equals the server's list. `npm run
 * test:whole` makes 300 changes.
 */
const changes = isWhole ? 300 : 100

const config = 'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 4, memoryGib: 64 }] }]\n'
const stack = new AsyncDisposableStack()
let server: BerthProcess
let proxy: CuttingProxy
let restart: () => Promise<void>
const clients: Client[] = []

beforeAll(async () => {
  const dataDir = makeDirectory()
  const database = stack.use(await createDatabase())
  const file = join(dataDir, 'berth.yaml')
  await writeFile(file, config)
  const options = { dataDir, port: await freePort(), env: { DATABASE_URL: database.url, BERTH_CONFIG: file } }
  server = await startBerthProcess(options)
  stack.defer(async () => void (await server.end()))
  proxy = await startProxy(server.url)
  stack.defer(() => proxy.close())
  restart = async () => {
    await server.end('SIGKILL')
    server = await startBerthProcess(options)
  }
})
afterAll(() => stack.disposeAsync())
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

function open(...transports: Transport[]): Client {
  const client = createClient({ url: proxy.url, ...(transports.length > 0 && { transports }) })
  clients.push(client)
  return client
}

const mutations = {
  submit: 'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { ... on SubmitJobSuccess { job { id } } } }',
  prioritise: 'mutation ($input: SetJobPriorityInput!) { setJobPriority(input: $input) { __typename } }',
  cancel: 'mutation ($input: CancelJobInput!) { cancelJob(input: $input) { __typename } }',
  remove: 'mutation ($input: DeleteJobInput!) { deleteJob(input: $input) { __typename } }',
}

async function submit(spec: object = {}): Promise<string> {
  const { submitJob } = await data(server.url, mutations.submit, { input: { spec: { command: ['true'], ...spec } } })
  return submitJob.job.id
}

/** Random changes: a third of the jobs run, the others wait until tomorrow. */
function createOthers(seed: number) {
  const jobs: string[] = []
  let state = seed
  const below = (count: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % count
  }
  return async () => {
    const jobId = jobs[below(jobs.length || 1)]
    const kind = below(10)
    if (jobId === undefined || jobs.length < 10 || kind < 4) {
      const notBefore = new Date(Date.now() + 86_400_000).toISOString()
      return void jobs.push(await submit(kind % 3 === 0 ? {} : { notBefore }))
    }
    if (kind < 8) return void (await data(server.url, mutations.prioritise, { input: { jobId, priority: below(50) } }))
    await data(server.url, mutations.cancel, { input: { jobId } })
    if (kind === 9) await data(server.url, mutations.remove, { input: { jobId } })
  }
}

interface Asked {
  filter?: JobFilter
  orderBy?: JobOrder
}

async function truth({ filter, orderBy }: Asked, first: number) {
  const { jobs } = await data(
    server.url,
    `query ($first: Int, $filter: JobFilter, $orderBy: JobOrder) { jobs(first: $first, filter: $filter, orderBy: $orderBy) {
      nodes { id version state priorityOverride } pageInfo { hasNextPage } } }`,
    { filter, orderBy, first },
  )
  return { jobs: jobs.nodes, hasMore: jobs.pageInfo.hasNextPage }
}

function shown(list: LiveJobs) {
  const { jobs, hasMore } = list.getSnapshot()
  return {
    jobs: jobs.map(({ id, version, state, priorityOverride }) => ({ id, version, state, priorityOverride })),
    hasMore,
  }
}

async function expectTruth(list: LiveJobs, asked: Asked, first: number) {
  const same = async () => JSON.stringify(shown(list)) === JSON.stringify(await truth(asked, first))
  await until(same, { what: 'the list is the list of the server', timeoutMs: 30_000 }).catch(async () =>
    expect(shown(list), JSON.stringify(asked)).toEqual(await truth(asked, first)),
  )
}

const loaded = (list: LiveJobs) => until(() => list.getSnapshot().isLoaded, { what: 'the list is loaded' })

const lists: Record<string, Asked> = {
  'newest first': {},
  'waiting, by priority': {
    filter: { states: ['QUEUED'] },
    orderBy: { field: 'PRIORITY', direction: 'DESC' },
  },
  'ended, by end': {
    filter: { stateCategories: ['FINAL'] },
    orderBy: { field: 'FINISHED_AT', direction: 'DESC' },
  },
  'all, by start': { orderBy: { field: 'STARTED_AT', direction: 'DESC' } },
  'all, by end': { orderBy: { field: 'FINISHED_AT', direction: 'ASC' } },
  'not ended, oldest first': {
    filter: { stateCategories: ['ACTIVE', 'WAITING'] },
    orderBy: { field: 'CREATED_AT', direction: 'ASC' },
  },
}

it('a live list equals the list of the server after random changes, broken connections and a kill of the server', async () => {
  const client = open()
  const open7 = Object.values(lists).map((asked) => ({ asked, list: client.liveJobs({ ...asked, first: 7 }) }))
  const versions = new Map<string, number>()
  const backwards: string[] = []
  for (const { list } of open7)
    list.subscribe(() => {
      for (const { id, version } of list.getSnapshot().jobs) {
        const seen = `${open7.findIndex((each) => each.list === list)} ${id}`
        if (version < (versions.get(seen) ?? 0)) backwards.push(seen)
        versions.set(seen, version)
      }
    })
  const change = createOthers(33)
  for (let i = 1; i <= changes; i++) {
    await change()
    if (i === changes / 4) for (const { list } of open7) void list.loadMore()
    if (i === changes / 2) await restart()
    else if (i % 20 === 0) proxy.cut()
  }
  for (const { asked, list } of open7) await expectTruth(list, asked, 14)
  expect(backwards).toEqual([])
  for (const { list } of open7) list.close()
})

it.each<Transport>(['sse', 'polling'])('a list is kept live over %s', async (transport) => {
  const client = open(transport)
  const list = client.liveJobs({ first: 5 })
  list.subscribe(() => undefined)
  await loaded(list)
  const id = await submit({ name: 'arrives' })
  await until(() => list.getSnapshot().jobs[0]?.id === id, { what: 'the job arrives' })
  await data(server.url, mutations.cancel, { input: { jobId: id } })
  await data(server.url, mutations.remove, { input: { jobId: id } })
  await expectTruth(list, {}, 5)
})

it('a live list reports since when it is out of date, and becomes live again', async () => {
  const client = open()
  await submit()
  const list = client.liveJobs({ first: 5 })
  expect(list.getSnapshot()).toMatchObject({ jobs: [], isLoaded: false, state: 'connecting', error: null })
  const states: string[] = []
  list.subscribe(() => void (states.at(-1) !== list.getSnapshot().state && states.push(list.getSnapshot().state)))
  await until(() => list.getSnapshot().state === 'live', { what: 'the list is live' })
  const cutAt = Date.now()
  proxy.blocked.add('websocket').add('sse')
  proxy.cut()
  await until(() => list.getSnapshot().state === 'connecting', { what: 'the list notices the cut' })
  const { since, error, jobs } = list.getSnapshot()
  expect(since.getTime()).toBeGreaterThan(cutAt - 1_000)
  expect(error).toMatchObject({ code: 'UNREACHABLE' })
  expect(jobs.length).toBeGreaterThan(0)
  proxy.blocked.clear()
  await until(() => list.getSnapshot().state === 'live', { what: 'the list is live again' })
  list.close()
  expect(list.getSnapshot()).toMatchObject({ state: 'ended', error: null })
})

it('a live list runs only while it has subscribers, and continues for a new subscriber', async () => {
  const client = open()
  const list = client.liveJobs({ first: 5 })
  const leave = list.subscribe(() => undefined)
  const again = list.subscribe(() => undefined)
  leave()
  await loaded(list)
  expect(list.getSnapshot()).toBe(list.getSnapshot())
  again()
  await until(() => list.getSnapshot().state === 'connecting', { what: 'the list stops' })
  const id = await submit()
  list.subscribe(() => undefined)
  await until(() => list.getSnapshot().jobs[0]?.id === id, { what: 'the list reads what it missed' })
})

it('a live list ends with the error if the server rejects its filter', async () => {
  const client = open()
  const list = client.liveJobs({ first: 101, filter: { name: 'x'.repeat(300) } })
  list.subscribe(() => undefined)
  await until(() => list.getSnapshot().state === 'ended', { what: 'the list ends' })
  expect(list.getSnapshot().error).toMatchObject({ code: 'BAD_REQUEST' })
})
