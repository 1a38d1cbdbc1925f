import { describe, expect, it } from 'vitest'
import { type Book, type Booking, listRebookings } from '../../../src/domain/machines/rebooking.ts'

const booking = (runId: string, more: Partial<Booking> = {}): Booking => ({
  runId,
  replica: 0,
  nodeId: '',
  cpu: 3,
  memory: 1,
  slots: [],
  provisional: true,
  gpuIds: [],
  exclusive: false,
  ...more,
})

const book = (name: string, bookings: Booking[], more: Partial<Book> = {}): Book => ({
  id: name,
  name,
  cpu: 4,
  memory: 8,
  devices: [0, 1],
  gpuJobsOnly: false,
  bookings: bookings.map((each) => ({ ...each, nodeId: name })),
  ...more,
})

const after = (books: readonly Book[], chosen: Record<string, string[]>) =>
  listRebookings(
    books,
    new Map(Object.entries(chosen).map(([runId, nodes]) => [runId, nodes.map((node) => ({ node, gpuIds: [] }))])),
  ).map(
    ({ runId, replica, nodeId, provisional }) => `${runId}.${replica} ${nodeId}${provisional ? ' provisional' : ''}`,
  )

describe('a run whose backend reports its node', () => {
  it('moves to that node, and a provisional run there moves to the vacated node', () => {
    expect(after([book('n1', [booking('a')]), book('n2', [booking('b')])], { a: ['n2'] })).toEqual([
      'b.0 n1 provisional',
      'a.0 n2',
    ])
  })

  it('moves to that node even if it does not fit beside the running runs', () => {
    const books = [book('n1', [booking('a')]), book('n2', [booking('b', { provisional: false })])]
    expect(after(books, { a: ['n2'] })).toEqual(['a.0 n2'])
  })

  it('causes no move of a run without GPUs to a node for GPU jobs only', () => {
    const books = [
      book('g1', [booking('a', { slots: [0] })], { gpuJobsOnly: true }),
      book('m1', [booking('b')]),
      book('m2', [booking('c', { cpu: 1 })]),
    ]
    expect(after(books, { a: ['m1'] })).toEqual(['a.0 m1'])
    expect(after(books, { a: ['m1'], c: ['g1'] })).toContain('b.0 m2 provisional')
  })

  it('causes no move of another run if it fits, and a repeated report has no effect', () => {
    const books = [book('n1', [booking('a', { cpu: 1 })]), book('n2', [booking('b')])]
    expect(after(books, { a: ['n2'] })).toEqual(['a.0 n2'])
    expect(after([book('n1', []), book('n2', [booking('a', { provisional: false })])], { a: ['n2'] })).toEqual([])
    expect(after(books, { a: ['n1'] })).toEqual(['a.0 n1'])
  })

  it('has each replica on the node reported for it', () => {
    const books = [book('n1', [booking('a'), booking('b', { cpu: 1 })]), book('n2', [booking('a', { replica: 1 })])]
    expect(after(books, { a: ['n2', 'n1'] })).toEqual(['a.1 n1', 'a.0 n2'])
    expect(after(books, { a: ['n2'] }).toSorted()).toEqual(['a.0 n2', 'a.1 n2'])
  })

  it('stays where it is while its node is unknown', () => {
    expect(after([book('n1', [booking('a')])], { a: ['n9'] })).toEqual([])
  })

  it('takes the whole reported node if it is exclusive', () => {
    const books = [book('n1', [booking('a', { cpu: 4, memory: 8, exclusive: true })]), book('n2', [], { cpu: 32 })]
    expect(
      listRebookings(books, new Map([['a', [{ node: 'n2', gpuIds: [] }]]])).map(({ cpu, memory }) => [cpu, memory]),
    ).toEqual([[32, 8]])
  })

  it('gets GPUs that no other run counts, and invented GPU numbers when all are taken', () => {
    const gpu = (runId: string, slots: number[], provisional: boolean) => booking(runId, { cpu: 1, slots, provisional })
    const books = [book('n1', [gpu('a', [0], true)]), book('n2', [gpu('b', [0], true), gpu('c', [1], false)])]
    const slots = (chosen: string) =>
      listRebookings(books, new Map([['a', [{ node: chosen, gpuIds: [7] }]]])).map((each) => [
        each.runId,
        each.nodeId,
        each.slots,
        each.gpuIds,
      ])
    expect(slots('n2')).toEqual([
      ['b', 'n1', [0], []],
      ['a', 'n2', [0], [7]],
    ])
    const full = [book('n1', [gpu('a', [0], true)]), book('n2', [gpu('b', [0], false), gpu('c', [1], false)])]
    expect(listRebookings(full, new Map([['a', [{ node: 'n2', gpuIds: [] }]]])).map((each) => each.slots)).toEqual([
      [2],
    ])
  })
})

it('for random reports, rebooking keeps every replica, every sum of resources and every exclusive GPU slot', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let round = 0; round < 300; round++) {
    const names = ['n1', 'n2', 'n3'].slice(0, 1 + random(3))
    const books = names.map((name, at) =>
      book(
        name,
        Array.from({ length: random(4) }, (_, each) =>
          booking(`r${at}${each}`, {
            cpu: 1 + random(4),
            slots: random(2) ? [each] : [],
            provisional: random(2) === 0,
          }),
        ),
      ),
    )
    const all = books.flatMap(({ bookings }) => bookings)
    const told = all.filter(() => random(3) === 0)
    const chosen = new Map(
      told.map(({ runId }) => [runId, [{ node: names[random(names.length)] ?? '', gpuIds: [] as number[] }]]),
    )
    const changed = new Map(listRebookings(books, chosen).map((each) => [each.runId, each]))
    const now = all.map((each) => changed.get(each.runId) ?? each)
    expect(now.reduce((sum, { cpu }) => sum + cpu, 0)).toBe(all.reduce((sum, { cpu }) => sum + cpu, 0))
    for (const { runId } of told) {
      const where = now.find((each) => each.runId === runId)
      expect(where).toMatchObject({ nodeId: chosen.get(runId)?.[0]?.node, provisional: false })
    }
    for (const each of all)
      if (!each.provisional && !chosen.has(each.runId))
        expect(now).toContainEqual(expect.objectContaining({ runId: each.runId, nodeId: each.nodeId }))
    const slots = now.flatMap((each) => each.slots.map((slot) => `${each.nodeId}/${slot}`))
    const touched = new Set([...changed.values()].map(({ nodeId }) => nodeId))
    const here = slots.filter((slot) => touched.has(slot.split('/')[0] ?? ''))
    expect(new Set(here).size).toBe(here.length)
  }
})
