import { expect, it } from 'vitest'
import { JobList } from '../../web/rows/job-list.ts'
import { type JobRow, JobStore } from '../../web/rows/job-store.ts'
import { until } from '../support/until.ts'

const row = (number: number, version = 1, more: Partial<JobRow> = {}): JobRow =>
  ({
    id: `job_${String(number).padStart(3, '0')}`,
    version,
    createdAt: new Date(number * 1_000).toISOString(),
    finishedAt: null,
    ...more,
  }) as JobRow

type Message = { __typename: string; [field: string]: unknown }

/** A server with pages of the rows and a stream that the test writes. */
function startList(rows: readonly JobRow[], pageSize = 3) {
  const store = new JobStore()
  const written: Message[] = []
  let wake: (() => void) | null = null
  const client = {
    request: async (_document: unknown, { after, filter }: { after?: string | null; filter: { ids?: string[] } }) => {
      if (filter.ids) return { jobs: { nodes: rows.filter(({ id }) => filter.ids?.includes(id)) } }
      const from = after ? Number(after) : 0
      const nodes = rows.slice(from, from + pageSize)
      const pageInfo = { hasNextPage: from + pageSize < rows.length, endCursor: String(from + nodes.length) }
      return { jobs: { asOf: 'now', totalCount: rows.length, nodes, pageInfo } }
    },
    async *subscribe() {
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
    order: { field: 'CREATED_AT', direction: 'DESC' },
    schedule: (run) => void setTimeout(run, 0),
  })
  list.start()
  const send = (...messages: Message[]) => {
    written.push(...messages)
    wake?.()
  }
  return { list, store, send, ids: () => list.view().ids.map((id) => Number(id.slice(4))) }
}

const update = (job: JobRow, matches = true): Message => ({ __typename: 'JobTransitions', job, matches, cursor: '' })
const ready = async ({ list }: { list: JobList }) => until(() => !list.view().isLoading, { what: 'the list is read' })
const settle = () => new Promise((resolve) => setTimeout(resolve, 20))

it('an older version of a row never replaces a newer one', () => {
  const store = new JobStore()
  store.put(row(1, 5))
  store.put(row(1, 4))
  expect(store.get('job_001')?.version).toBe(5)
})

it('arrivals and departures of a list that nobody holds show at once', async () => {
  const server = startList([row(5), row(4), row(3)])
  await ready(server)
  server.send(update(row(6)), update(row(4, 2), false))
  await until(() => server.ids().join() === '6,5,3', { what: 'the changes show' })
  server.list.stop()
})

it('nothing moves while the list is held: changes wait, and what left is dimmed', async () => {
  const server = startList([row(5), row(4), row(3)])
  await ready(server)
  server.list.hold(true)
  server.send(update(row(6)), update(row(7)), update(row(4, 2), false))
  await until(() => server.list.view().changes === 3, { what: 'the changes wait' })
  expect(server.ids()).toEqual([5, 4, 3])
  expect([...server.list.view().departed]).toEqual(['job_004'])
  server.list.apply()
  expect(server.ids()).toEqual([7, 6, 5, 3])
  expect(server.list.view().changes).toBe(0)
  server.list.stop()
})

it('a job that left and came back does not count as a change', async () => {
  const server = startList([row(5), row(4)])
  await ready(server)
  server.list.hold(true)
  server.send(update(row(4, 2), false), update(row(4, 3)), update(row(6)), update(row(6, 2), false))
  await settle()
  expect(server.list.view().changes).toBe(0)
  expect(server.ids()).toEqual([5, 4])
  server.list.stop()
})

it('deleted jobs leave', async () => {
  const server = startList([row(5), row(4)])
  await ready(server)
  server.send({ __typename: 'StreamReset', resetReason: 'DELETED', jobIds: ['job_005'], cursor: '' })
  await until(() => server.ids().join() === '4', { what: 'the job leaves' })
  server.list.stop()
})

it('pages are read one after the other, each row once, and rows behind the window do not arrive in it', async () => {
  const server = startList([9, 8, 7, 6, 5, 4, 3].map((number) => row(number)))
  await ready(server)
  server.send(update(row(2)), update(row(10)))
  await until(() => server.ids()[0] === 10, { what: 'the newest arrives' })
  expect(server.ids()).toEqual([10, 9, 8, 7])
  await server.list.loadMore()
  await server.list.loadMore()
  await server.list.loadMore()
  expect(server.ids()).toEqual([10, 9, 8, 7, 6, 5, 4, 3])
  server.list.stop()
})

it('rows far from those in sight are forgotten, read again when they are shown, and keep their places', async () => {
  const all = Array.from({ length: 4_000 }, (_, i) => row(4_000 - i))
  const server = startList(all, 4_000)
  await ready(server)
  server.list.show(0, 50)
  expect(server.store.size).toBeLessThan(1_200)
  server.send(update(row(4_001)))
  await until(() => server.ids()[0] === 4_001, { what: 'the newest arrives' })
  expect(server.ids().length).toBe(4_001)
  expect(server.store.get('job_010')).toBeUndefined()
  server.list.show(3_985, 4_001)
  await until(() => server.store.get('job_010'), { what: 'the rows are read again' })
  server.list.stop()
})
