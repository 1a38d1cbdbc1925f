import { expect, it } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { setScopeLimit } from '../../src/domain/limits/limits.ts'
import type { QueueCounts } from '../../src/domain/queue/queue.ts'
import { createQueueWatch } from '../../src/feed/queue-watch.ts'
import { type Result, streamSocket, streamSse } from '../support/client.ts'
import { createFakeClock } from '../support/clock.ts'
import { createLeader } from '../support/leader.ts'
import { openTestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const server = await openTestServer()

type Stream = AsyncGenerator<QueueCounts, void, void>

async function next(stream: Stream): Promise<QueueCounts> {
  const { value } = await stream.next()
  if (!value) throw new Error('The stream has ended')
  return value
}

/** Reads snapshots until one matches, because several changes may arrive in one snapshot. */
async function nextWith(stream: Stream, wanted: (numbers: QueueCounts) => boolean): Promise<QueueCounts> {
  for (;;) {
    const numbers = await next(stream)
    if (wanted(numbers)) return numbers
  }
}

const nobodyWatches = () => until(() => server.queueWatch.openWatchers() === 0, { what: 'all streams are closed' })

it('all watchers of a pool share one query, and each sees only the jobs that they may see', async () => {
  const { admin, queueWatch } = server
  const ada = await server.user('ada', 'RESEARCHER')
  const bob = await server.user('bob', 'RESEARCHER')
  const statements = server.countStatements()
  const reads = () => statements.filter((text) => text.includes('"byUser"')).length

  const viewers = Array.from({ length: 99 }, (_, index) => [admin, ada, bob][index % 3] ?? admin)
  const streams = await Promise.all(viewers.map((viewer) => queueWatch.watch(viewer, 'sim')))
  const arrivals = reads()
  expect(arrivals).toBeLessThanOrEqual(2)
  const began = performance.now()
  await Promise.all(streams.map(next))
  expect(queueWatch.openWatchers()).toBe(99)
  const jobs = [await server.submit({}, ada), await server.submit({}, bob)]
  const depth = (numbers: QueueCounts) => numbers.depth === 2
  const seen = await Promise.all(streams.map((stream) => nextWith(stream, depth)))
  for (const [index, { byUser }] of seen.entries()) {
    const own = [{ userId: viewers[index]?.userId, count: 1 }]
    expect(byUser).toEqual(index % 3 === 0 ? expect.arrayContaining([{ userId: ada.userId, count: 1 }]) : own)
    expect(byUser).toHaveLength(index % 3 === 0 ? 2 : 1)
  }
  const seconds = (performance.now() - began) / 1_000
  // Plus one at each end of the interval.
  expect(reads() - arrivals).toBeLessThanOrEqual(2 + 4 * seconds)

  await Promise.all(streams.map((stream) => stream.return()))
  await nobodyWatches()
  for (const jobId of jobs) await cancelJob(server.domain, admin, { jobId })
})

it('snapshots of the queue are sent at most four times a second, and at least every 15 seconds', async () => {
  const clock = createFakeClock()
  const watch = createQueueWatch({ ...server.domain, clock })
  const stream = await watch.watch(server.admin, 'sim')
  const { depth, at } = await next(stream)
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) await clock.advance(50)
  }
  let arrived: QueueCounts | undefined
  const waiting = next(stream).then((numbers) => {
    arrived = numbers
  })
  const jobId = await server.submit()
  await pass(200)
  expect(arrived).toBeUndefined()
  await until(() => pass(250).then(() => arrived), { what: 'the change is sent' })
  await waiting
  expect(arrived?.depth).toBe(depth + 1)

  const silent = clock.nowMs()
  const beat = next(stream)
  let told: QueueCounts | undefined
  void beat.then((numbers) => {
    told = numbers
  })
  await pass(14_000)
  expect(told).toBeUndefined()
  await until(() => pass(250).then(() => told), { what: 'a snapshot says that nothing changed' })
  expect(clock.nowMs() - silent).toBeGreaterThanOrEqual(14_000)
  expect(told).toEqual({ ...arrived, at: told?.at })
  expect(told?.at).not.toEqual(at)

  await stream.return()
  expect(watch.openWatchers()).toBe(0)
  await until(() => clock.sleeping === 0, { what: 'nothing waits any more' })
  await cancelJob(server.domain, server.admin, { jobId })
})

it('a snapshot of the queue is sent even if only a waiting reason has changed', async () => {
  const { domain, admin } = server
  const leader = await createLeader(domain, 'sim')
  const jobId = await server.submit({ project: 'x', resources: { cpu: 17 } })
  await leader.tick()
  const stream = streamSocket(
    server.url,
    `subscription { workloadStatus(pool: "sim") { depth running entries { nodes { id scheduling { reasons { code } } } } } }`,
  )
  const reasons = async () => {
    const { data } = (await stream.next()).value as Result
    const workloadStatus = data?.['workloadStatus']
    expect(workloadStatus).toMatchObject({ depth: 1, running: 0, entries: { nodes: [{ id: jobId }] } })
    return workloadStatus.entries.nodes[0].scheduling.reasons.map(({ code }: { code: string }) => code)
  }
  expect(await reasons()).toEqual(['UNSATISFIABLE'])
  await setScopeLimit(domain, admin, { scope: 'PROJECT', name: 'x', maxJobs: 0 })
  await leader.tick()
  let told = await reasons()
  while (told.includes('UNSATISFIABLE')) told = await reasons()
  expect(told).toEqual(['PROJECT_LIMIT'])
  stream.cut()
  await nobodyWatches()
  await cancelJob(domain, admin, { jobId })
})

it('a stream closed before its first snapshot releases all resources', async () => {
  const clock = createFakeClock()
  const watch = createQueueWatch({ ...server.domain, clock })
  const stream = await watch.watch(server.admin, null)
  await stream.return()
  await expect(watch.watch(server.admin, 'nowhere')).rejects.toThrow('Pool nowhere not found')
  expect([watch.openWatchers(), clock.sleeping]).toEqual([0, 0])
})

it('workloadStatus without a pool sends each pool', async () => {
  const { sql } = server.domain.db
  await sql.query(
    'INSERT INTO pool SELECT (jsonb_populate_record(p, \'{"name": "other"}\')).* FROM pool p WHERE name = \'sim\'',
  )
  const stream = await server.queueWatch.watch(server.admin, null)
  const pools = [(await next(stream)).pool, (await next(stream)).pool]
  expect(pools.toSorted()).toEqual(['other', 'sim'])
  const jobId = await server.submit()
  expect(await nextWith(stream, ({ depth }) => depth === 1)).toMatchObject({ pool: 'sim' })
  await stream.return()
  await cancelJob(server.domain, server.admin, { jobId })
  await sql.query("DELETE FROM pool WHERE name = 'other'")
})

const query = 'subscription { workloadStatus { pool { name } depth byUser { user { name } count } } }'

it.each([
  ['a socket that says complete', streamSocket, 'leave'],
  ['a socket that vanishes', streamSocket, 'cut'],
  ['an SSE stream that is aborted', streamSse, 'cut'],
] as const)('%s releases all resources of its watcher', async (_what, open, how) => {
  const streams = [open(server.url, query), open(server.url, query)]
  for (const stream of streams) await stream.next()
  expect(server.queueWatch.openWatchers()).toBe(2)
  for (const stream of streams) void stream.next().catch(() => undefined)
  for (const stream of streams) {
    if (how === 'cut') stream.cut()
    else await stream.return?.()
  }
  await nobodyWatches()
})
