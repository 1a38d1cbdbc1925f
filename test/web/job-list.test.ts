import { expect, it, onTestFinished } from 'vitest'
import { JobList } from '../../web/features/jobs/rows/job-list.ts'
import { type JobRow, JobStore } from '../../web/features/jobs/rows/job-store.ts'
import { type OrderName, orders } from '../../web/features/jobs/rows/order.ts'
import { until } from '../support/until.ts'

const row = (number: number, version = 1, more: Partial<JobRow> = {}): JobRow =>
  ({
    id: `job_${String(number).padStart(3, '0')}`,
    version,
    createdAt: new Date(number * 1_000).toISOString(),
    startedAt: null,
    finishedAt: null,
    stateCategory: 'FINAL',
    basePriority: 10,
    priorityOverride: null,
    ...more,
  }) as JobRow

type Message = { __typename: string; [field: string]: unknown }

interface Variables {
  after?: string | null
  before?: string | null
  first?: number
  last?: number
  filter: { ids?: string[] }
}

interface StartOptions {
  pageSize?: number
  order?: OrderName
  fromEnd?: boolean
  /** Delays the return of pages. */
  gate?: () => Promise<void>
}

/** Starts a list over a fake server with pages of the rows, and a stream that the test writes. */
async function startList(
  rows: readonly JobRow[],
  { pageSize = 3, order = 'newest', fromEnd = false, gate = async () => undefined }: StartOptions = {},
) {
  const store = new JobStore()
  const written: Message[] = []
  /** Cursors from which the list subscribed to updates. */
  const streamed: string[] = []
  let wake: (() => void) | null = null
  const readPage = ({ after, before, last, filter }: Variables) => {
    if (filter.ids) return { nodes: rows.filter(({ id }) => filter.ids?.includes(id)), pageInfo: {} }
    const end = before ? Number(before) : rows.length
    const from = last === undefined ? Number(after ?? 0) : Math.max(0, end - pageSize)
    const nodes = rows.slice(from, last === undefined ? from + pageSize : end)
    const pageInfo = {
      hasPreviousPage: from > 0,
      startCursor: String(from),
      hasNextPage: from + nodes.length < rows.length,
      endCursor: String(from + nodes.length),
    }
    return { nodes, pageInfo }
  }
  const client = {
    request: async (_document: unknown, variables: Variables) => {
      const page = readPage(variables)
      await gate()
      return { jobs: { asOf: 'now', ...page } }
    },
    async *subscribe(_document: unknown, { after }: { after: string }) {
      streamed.push(after)
      for (;;) {
        const message = written.shift()
        if (message) yield { jobUpdates: message }
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
  const list = new JobList({
    client: client as never,
    store,
    filter: {},
    order: orders[order],
    fromEnd,
    schedule: (run) => void setTimeout(run, 0),
  })
  onTestFinished(() => list.stop())
  list.start()
  await until(() => !list.view().isLoading, { what: 'the list is read' })
  const send = (...messages: Message[]) => {
    written.push(...messages)
    wake?.()
  }
  return { list, store, send, streamed, ids: () => list.view().ids.map((id) => Number(id.slice(4))) }
}

const update = (job: JobRow, matches = true): Message => ({ __typename: 'JobTransitions', job, matches, cursor: '' })
const settle = () => new Promise((resolve) => setTimeout(resolve, 20))

it('a newer version of a row is not replaced by an older one', () => {
  const store = new JobStore()
  store.put(row(1, 5))
  store.put(row(1, 4))
  expect(store.get('job_001')?.version).toBe(5)
})

it('a list that is not held adds and removes jobs at once', async () => {
  const server = await startList([row(5), row(4), row(3)])
  server.send(update(row(6)), update(row(4, 2), false))
  await until(() => server.ids().join() === '6,5,3', { what: 'the changes show' })
})

it('a list keeps its rows while it is not shown, and then resumes its stream', async () => {
  const server = await startList([row(5), row(4), row(3), row(2)])
  await server.list.loadMore()
  server.send({ ...update(row(6)), cursor: 'six' })
  await until(() => server.ids().join() === '6,5,4,3,2', { what: 'the change shows' })
  server.list.stop()
  server.list.start()
  expect(server.ids()).toEqual([6, 5, 4, 3, 2])
  server.send(update(row(4, 2), false))
  await until(() => server.ids().join() === '6,5,3,2', { what: 'the next change shows' })
  expect(server.streamed).toEqual(['now', 'six'])
})

it('the rows of a held list do not move: changes wait, and removed rows are dimmed', async () => {
  const server = await startList([row(5), row(4), row(3)])
  server.list.hold(true)
  server.send(update(row(6)), update(row(7)), update(row(4, 2), false))
  await until(() => server.list.view().changes === 3, { what: 'the changes wait' })
  expect(server.ids()).toEqual([5, 4, 3])
  expect([...server.list.view().departed]).toEqual(['job_004'])
  server.list.apply()
  expect(server.ids()).toEqual([7, 6, 5, 3])
  expect(server.list.view().changes).toBe(0)
})

it('a job that leaves a held list and returns does not count as a change', async () => {
  const server = await startList([row(5), row(4)])
  server.list.hold(true)
  server.send(update(row(4, 2), false), update(row(4, 3)), update(row(6)), update(row(6, 2), false))
  await settle()
  expect(server.list.view().changes).toBe(0)
  expect(server.ids()).toEqual([5, 4])
})

it('after an outage, one request refreshes the first rows, and removes jobs that do not match now', async () => {
  const rows = [row(5), row(4), row(3)]
  const server = await startList(rows, { pageSize: 5 })
  rows.splice(0, 3, row(6), row(5, 2), row(3))
  await server.list.refresh()
  expect(server.ids()).toEqual([6, 5, 3])
  expect(server.store.get('job_005')?.version).toBe(2)
  server.list.hold(true)
  rows.splice(0, 3, row(7), row(6))
  await server.list.refresh()
  expect(server.ids()).toEqual([6, 5, 3])
  expect(server.list.view().changes).toBe(3)
  server.list.apply()
  expect(server.ids()).toEqual([7, 6])
})

it('the request after an outage does not undo newer messages of the stream', async () => {
  const rows = [row(5), row(4), row(3)]
  let open = () => undefined as unknown
  let gate = async () => undefined
  const server = await startList(rows, { pageSize: 2, gate: () => gate() })
  await server.list.loadMore()
  gate = () => new Promise((resolve) => (open = () => resolve(undefined)))
  rows.splice(1, 1)
  const refreshed = server.list.refresh()
  server.send(update(row(4, 2)), { __typename: 'StreamReset', resetReason: 'DELETED', jobIds: ['job_005'], cursor: '' })
  await until(() => server.ids().join() === '4,3', { what: 'the job leaves' })
  open()
  await refreshed
  expect(server.ids()).toEqual([4, 3])
})

it('a deleted job is removed from the list', async () => {
  const server = await startList([row(5), row(4)])
  server.send({ __typename: 'StreamReset', resetReason: 'DELETED', jobIds: ['job_005'], cursor: '' })
  await until(() => server.ids().join() === '4', { what: 'the job leaves' })
})

it('pages are read one after the other, each row once, and the stream adds no rows beyond them', async () => {
  const server = await startList([9, 8, 7, 6, 5, 4, 3].map((number) => row(number)))
  server.send(update(row(2)), update(row(10)))
  await until(() => server.ids()[0] === 10, { what: 'the newest arrives' })
  expect(server.ids()).toEqual([10, 9, 8, 7])
  await server.list.loadMore()
  await server.list.loadMore()
  await server.list.loadMore()
  expect(server.ids()).toEqual([10, 9, 8, 7, 6, 5, 4, 3])
})

it('rows far from the visible ones are dropped, keep their positions, and are read again when shown', async () => {
  const all = Array.from({ length: 4_000 }, (_, i) => row(4_000 - i))
  const server = await startList(all, { pageSize: 4_000 })
  server.list.show(0, 50)
  expect(server.store.size).toBeLessThan(1_200)
  server.send(update(row(4_001)))
  await until(() => server.ids()[0] === 4_001, { what: 'the newest arrives' })
  expect(server.ids().length).toBe(4_001)
  expect(server.store.get('job_010')).toBeUndefined()
  server.list.show(3_985, 4_001)
  await until(() => server.store.get('job_010'), { what: 'the rows are read again' })
})

it('a list that is read from its end grows at its top', async () => {
  const server = await startList(
    [9, 8, 7, 6, 5, 4, 3].map((number) => row(number)),
    { fromEnd: true },
  )
  expect(server.ids()).toEqual([5, 4, 3])
  server.send(update(row(10)), update(row(2)))
  await until(() => server.ids().at(-1) === 2, { what: 'the oldest arrives at the end' })
  await server.list.loadBefore()
  await server.list.loadBefore()
  expect(server.ids()).toEqual([9, 8, 7, 6, 5, 4, 3, 2])
  expect(server.list.view().hasBefore).toBe(false)
})

it('a change of order waits while the list is held, and moves the job afterwards', async () => {
  const server = await startList([row(5), row(4), row(3)], { order: 'priority' })
  server.list.hold(true)
  server.send(update(row(3, 2, { priorityOverride: 40 })))
  await until(() => server.list.view().changes === 1, { what: 'the move waits' })
  expect(server.ids()).toEqual([5, 4, 3])
  server.list.hold(false)
  expect(server.ids()).toEqual([3, 5, 4])
})

it('a page that is older than the stream does not restore removed jobs, and does not remove new ones', async () => {
  let open: () => void = () => undefined
  let gate: () => Promise<void> = async () => undefined
  const rows = [9, 8, 7, 6, 5, 4].map((number) => row(number))
  const server = await startList(rows, { gate: () => gate() })
  gate = () => new Promise((resolve) => (open = resolve))
  const reading = server.list.loadMore()
  const between = { createdAt: new Date(5_500).toISOString() }
  server.send(update(row(5, 2), false), update(row(50, 1, between)))
  await settle()
  open()
  await reading
  server.list.apply()
  expect(server.ids()).toEqual([9, 8, 7, 6, 50, 4])
})

it('a message of the stream that is older than the row is ignored', async () => {
  const server = await startList([row(5, 7), row(4)])
  server.send(update(row(5, 6), false))
  await settle()
  expect(server.ids()).toEqual([5, 4])
})

it('a held list does not move its rows when jobs arrive, leave and change their order', async () => {
  const all = Array.from({ length: 200 }, (_, i) => row(200 - i, 1, { basePriority: i % 50 }))
  const order = all.toSorted((a, b) => b.basePriority - a.basePriority || (a.id < b.id ? 1 : -1))
  const server = await startList(order, { pageSize: 200, order: 'priority' })
  server.list.hold(true)
  const before = server.ids()
  for (let i = 0; i < 50; i++) {
    server.send(update(row(300 + i, 1, { basePriority: i })))
    server.send(update(row(1 + i, 2), false))
    server.send(update(row(60 + i, 2, { priorityOverride: 50 })))
  }
  await until(() => server.list.view().changes === 150, { what: 'all changes wait' })
  expect(server.ids()).toEqual(before)
  server.list.apply()
  const now = server.ids()
  expect([now.length, new Set(now).size]).toEqual([200, 200])
  expect(now.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, i) => 109 - i))
  expect(now.filter((number) => number <= 50)).toEqual([])
})
