import { expect, it } from 'vitest'
import { addNode, deleteNode, updateNode } from '../../src/domain/machines/node-changes.ts'
import { type NodesMessage, nodesPerMessage } from '../../src/feed/node-watch.ts'
import { type Json, type Stream, streamSocket, streamSse } from '../support/client.ts'
import { openTestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const server = await openTestServer()

const query = `subscription ($after: Cursor) { nodeUpdates(pool: "sim", after: $after) { __typename
  ... on NodesChanged { isStart nodes { id name state free { cpu } } removedIds pool { used { cpu } } cursor }
  ... on StreamHeartbeat { cursor } } }`

async function next(stream: Stream): Promise<Json> {
  const { value } = await stream.next()
  if (value?.errors || !value?.data) throw new Error(JSON.stringify(value))
  return value.data['nodeUpdates']
}

const add = (name: string) =>
  addNode(server.domain, server.admin, { pool: 'sim', name, cpu: 8, memoryBytes: 16 * 2 ** 30 })
const namesOf = ({ nodes }: Json) => nodes.map(({ name }: { name: string }) => name)

it.each([
  ['sse', streamSse],
  ['websocket', streamSocket],
] as const)('nodeUpdates over %s sends all nodes, then each change', async (transport, open) => {
  const { admin, domain } = server
  const stream = open(server.url, query)
  const first = await next(stream)
  expect(first).toMatchObject({ isStart: true, removedIds: [] })
  expect(namesOf(first)).toEqual(namesOf(first).toSorted())
  const { id } = await add(`new-${transport}`)
  expect(await next(stream)).toMatchObject({ isStart: false, nodes: [{ id, state: 'READY', free: { cpu: 8 } }] })
  await updateNode(domain, admin, { id, state: 'CORDONED' })
  const cordoned = await next(stream)
  expect(cordoned).toMatchObject({ isStart: false, nodes: [{ id, state: 'CORDONED' }], removedIds: [] })
  // A heartbeat of the node does not count as a change.
  await domain.db.sql.query('UPDATE node SET last_seen_at = berth_now()')
  await deleteNode(domain, admin, { id })
  const removed = await next(stream)
  expect(removed).toMatchObject({ isStart: false, nodes: [], removedIds: [id] })
  stream.cut()

  const same = open(server.url, query, { after: removed.cursor })
  const again = open(server.url, query, { after: cordoned.cursor })
  expect(await next(again)).toMatchObject({ isStart: true, nodes: first.nodes })
  const { id: other } = await add(`later-${transport}`)
  expect(await next(same)).toMatchObject({ isStart: false, nodes: [{ id: other }] })
  await deleteNode(domain, admin, { id: other })
  for (const each of [same, again]) each.cut()
})

it('watchers of a pool share its queries, which stop with the last watcher', async () => {
  const statements = server.countStatements()
  const began = performance.now()
  const streams = await Promise.all(Array.from({ length: 20 }, () => server.nodeWatch.watch('sim')))
  await Promise.all(streams.map((stream) => stream.next()))
  expect(server.nodeWatch.openHubs()).toBe(1)
  const { id } = await add('shared')
  const seen = await Promise.all(streams.map((stream) => stream.next()))
  for (const { value } of seen) expect(value).toMatchObject({ kind: 'nodes', ids: [id], removedIds: [] })
  const reads = statements.filter((text) => text.includes('held_device') && text.includes('md5')).length
  // At most one read to check the pool and one to open a hub for each watcher, then two a second.
  expect(reads).toBeLessThanOrEqual(2 * 20 + 2 + (2 * (performance.now() - began)) / 1_000)
  await Promise.all(streams.map((stream) => stream.return()))
  await until(() => server.nodeWatch.openHubs() === 0, { what: 'the hub has ended' })
  await deleteNode(server.domain, server.admin, { id })
})

it('the nodes of a large change come in several messages, and so do removed nodes', async () => {
  const { sql } = server.domain.db
  const stream = await server.nodeWatch.watch('sim')
  /** Reads the messages of one change, of which only the last one has a cursor. */
  async function readChange() {
    const messages: NodesMessage[] = []
    do messages.push((await stream.next()).value as NodesMessage)
    while (messages.at(-1)?.cursor === '')
    return messages.map((each) => (each.kind === 'nodes' ? [each.ids.length, each.removedIds.length] : each.kind))
  }
  expect(await readChange()).toEqual([[expect.any(Number), 0]])
  await sql.query(`INSERT INTO node (id, pool, name, cpu_millis, memory_bytes, free_cpu_millis, free_memory_bytes, infiniband)
    SELECT 'node_many' || n, 'sim', 'many' || n, 1000, 1048576, 1000, 1048576, false FROM generate_series(1, 450) n`)
  server.domain.wakeups.poke('queue')
  const sizes = [nodesPerMessage, nodesPerMessage, 50]
  expect(await readChange()).toEqual(sizes.map((size) => [size, 0]))
  await sql.query(`DELETE FROM node WHERE name LIKE 'many%'`)
  server.domain.wakeups.poke('queue')
  expect(await readChange()).toEqual(sizes.map((size) => [0, size]))
  await stream.return()
})
