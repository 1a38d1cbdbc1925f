import { afterAll, expect, test } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import type { Domain } from '../../../src/domain/domain.ts'
import { InvalidInput, NotFound, Refusal } from '../../../src/domain/errors.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { addNode, deleteNode, updateNode } from '../../../src/domain/machines/node-changes.ts'
import { allocate } from '../../../src/domain/machines/nodes.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

afterAll(async () => {
  expect(await findViolations(database.db.sql)).toEqual([])
})

const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
  database.db.sql.query<Row>(text, values)
const gpu = { model: 'Tesla V100-SXM2-32GB', memoryBytes: 32 * 2 ** 30, tensorCores: true, cuda: ['9.0', '11.8'] }
const small = { pool: 'sim', name: 'n2', cpu: 2.5, memoryBytes: 8 * 2 ** 30 }

async function refused(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'done',
    (error: unknown) =>
      error instanceof InvalidInput ? error.violations : error instanceof Refusal ? error.code : Promise.reject(error),
  )
}

test('a node is added with its resources, and the leader is notified', async () => {
  await sql('DELETE FROM pool_change')
  const [before] = await sql<{ revision: number }>('SELECT revision FROM pool')
  const { id } = await addNode(it.domain, it.admin, {
    ...small,
    cpuModel: 'Intel Xeon',
    infiniband: true,
    gpus: [
      { ...gpu, count: 2 },
      { model: 'T4', memoryBytes: 16 * 2 ** 30 },
    ],
  })
  expect(
    await sql(
      'SELECT name, state, cpu_millis AS cpu, free_memory_bytes AS memory, cpu_model AS model, infiniband FROM node WHERE id = $1',
      [id],
    ),
  ).toEqual([{ name: 'n2', state: 'READY', cpu: 2500, memory: 8 * 1024 ** 3, model: 'intel xeon', infiniband: true }])
  expect(
    await sql('SELECT device, model, tensor_cores AS tensor, cuda FROM device WHERE node_id = $1 ORDER BY 1', [id]),
  ).toEqual([
    { device: 0, model: gpu.model, tensor: true, cuda: gpu.cuda },
    { device: 1, model: gpu.model, tensor: true, cuda: gpu.cuda },
    { device: 2, model: 'T4', tensor: false, cuda: [] },
  ])
  expect((await sql('SELECT kind FROM pool_change ORDER BY id')).map(({ kind }) => kind)).toEqual(['SETTINGS', 'NODES'])
  expect(await sql('SELECT revision FROM pool')).toEqual([{ revision: (before?.revision ?? 0) + 1 }])
})

test('a node with invalid values is refused with the field', async () => {
  const add = (change: object) => refused(addNode(it.domain, it.admin, { ...small, name: 'n9', ...change }))
  const at = (...path: string[]) => [expect.objectContaining({ path })]
  expect(await add({ name: 'n1' })).toEqual(at('name'))
  expect(await add({ name: '' })).toEqual(at('name'))
  expect(await add({ cpu: 0 })).toEqual(at('cpu'))
  expect(await add({ cpu: null })).toEqual(at('cpu'))
  expect(await add({ memoryBytes: null })).toEqual(at('memoryBytes'))
  expect(await add({ memoryBytes: 0 })).toEqual(at('memoryBytes'))
  expect(await add({ gpus: [{ ...gpu, cuda: ['11.8'] }] })).toEqual(at('gpus', '0', 'cuda'))
  expect(await add({ gpus: [{ ...gpu, count: 1024 }, gpu] })).toEqual(at('gpus'))
  expect(await add({ pool: 'moon' })).toBe('NOT_FOUND')
  await sql("UPDATE pool SET directory = 'here'")
  expect(await add({})).toEqual(at('pool'))
  await sql('UPDATE pool SET directory = NULL')
  const lena = await it.user('lena', 'LEAD')
  for (const work of [
    addNode(it.domain, lena, small),
    updateNode(it.domain, lena, { id: 'node_x', state: 'READY' }),
    deleteNode(it.domain, lena, { id: 'node_x' }),
  ])
    expect(await refused(work)).toBe('FORBIDDEN')
})

test('a node with a container engine gets its cores, memory and GPUs from the engine', async () => {
  const asked: string[] = []
  const domain: Domain = {
    ...it.domain,
    checkEngine: async (address) => {
      asked.push(address)
      if (address.includes('away')) return { refusal: 'the host key of away is not known' }
      const gpus = [{ model: 'T4', memoryGib: 16, tensorCores: true, cuda: [] }]
      return { cpuMillis: 16_000, memoryBytes: 64 * 2 ** 30, gpus, troubles: ['9 % of the disk is free'] }
    },
  }
  const add = (change: object) => addNode(domain, it.admin, { pool: 'sim', name: 'm2', engine: 'ssh://m2', ...change })
  const at = (message: string) => [{ path: ['engine'], message: expect.stringContaining(message) }]
  expect(await refused(add({}))).toEqual(at('have no engines; name the first one in the configuration'))
  await sql("UPDATE node SET engine = 'ssh://m1' WHERE name = 'n1'")
  expect(await refused(add({ engine: 'ssh://away' }))).toEqual(at('the host key of away is not known'))
  expect(await refused(add({ engine: 'ssh://m1' }))).toEqual(at('Node n1 has this engine'))
  expect(await refused(addNode(domain, it.admin, { ...small, name: 'm2' }))).toEqual(at('is missing'))
  expect(await refused(addNode(it.domain, it.admin, { pool: 'sim', name: 'm2', engine: 'ssh://m2' }))).toEqual(
    at('reaches no machines'),
  )
  asked.length = 0
  for (const name of ['../../x', 'a/b', '.', 'a b', 'a'.repeat(64)])
    expect(await refused(add({ name }))).toEqual([expect.objectContaining({ path: ['name'] })])
  expect(
    await refused(addNode(domain, await it.user('leo', 'LEAD'), { pool: 'sim', name: 'm2', engine: 'ssh://m2' })),
  ).toBe('FORBIDDEN')
  expect(asked).toEqual([])
  const { id, troubles } = await add({ memoryBytes: 32 * 2 ** 30 })
  expect(troubles).toEqual(['9 % of the disk is free'])
  expect(await sql('SELECT cpu_millis AS cpu, memory_bytes AS memory, engine FROM node WHERE id = $1', [id])).toEqual([
    { cpu: 16_000, memory: 32 * 1024 ** 3, engine: 'ssh://m2' },
  ])
  expect(await sql('SELECT model, memory_gib AS gib FROM device WHERE node_id = $1', [id])).toEqual([
    { model: 'T4', gib: 16 },
  ])
  await deleteNode(domain, it.admin, { id })
  await sql('UPDATE node SET engine = NULL')
})

test('a node can be cordoned, drained and made ready; only the scheduler sets it LOST', async () => {
  const [node] = await sql<{ id: string }>("SELECT id FROM node WHERE name = 'n1'")
  const id = node?.id ?? ''
  const update = (state: string) => refused(updateNode(it.domain, it.admin, { id, state }))
  for (const state of ['CORDONED', 'DRAINING', 'READY', 'READY']) {
    expect(await update(state)).toBe('done')
    expect(await sql('SELECT state FROM node WHERE id = $1', [id])).toEqual([{ state }])
  }
  expect(await update('LOST')).toEqual([expect.objectContaining({ path: ['state'] })])
  await sql("UPDATE node SET state = 'LOST', state_before = 'READY' WHERE id = $1", [id])
  expect(await update('CORDONED')).toBe('done')
  const states = () => sql('SELECT state, state_before AS before FROM node WHERE id = $1', [id])
  expect(await states()).toEqual([{ state: 'LOST', before: 'CORDONED' }])
  await sql('UPDATE node SET state = state_before, state_before = NULL WHERE id = $1', [id])
  expect(await update('READY')).toBe('done')
  expect(await states()).toEqual([{ state: 'READY', before: null }])
  await expect(updateNode(it.domain, it.admin, { id: 'node_x', state: 'READY' })).rejects.toThrow(NotFound)
  const audited = await sql("SELECT detail->>'to' AS state FROM audit_entry WHERE action = 'node.update' ORDER BY id")
  expect(audited.map(({ state }) => state)).toEqual(['CORDONED', 'DRAINING', 'READY', 'CORDONED', 'READY'])
})

test('a node can be removed only while no run and no hold uses it', async () => {
  const [node] = await sql<{ id: string }>("SELECT id FROM node WHERE name = 'n2'")
  const id = node?.id ?? ''
  const remove = () => refused(deleteNode(it.domain, it.admin, { id }))
  const jobId = await it.submit()
  const move = { jobId, run: 1 } as const
  const placed = {
    nodeId: id,
    node: 'n2',
    replica: 0,
    cpuMillis: 1000,
    memoryBytes: 1024 ** 3,
    infiniband: false,
    interactive: false,
    gpuIds: [],
  }
  await sql(`INSERT INTO hold (id, pool, job_id, kind, placements) VALUES ('hold_x', 'sim', $1, 'PLANNED', $2)`, [
    jobId,
    JSON.stringify([placed]),
  ])
  expect(await remove()).toEqual([{ path: ['nodeId'], message: expect.stringContaining(`held for ${jobId}`) }])
  await sql('DELETE FROM hold')
  const [started] = await transition(database.db.sql, [{ ...move, from: 'QUEUED', to: 'STARTING', reason: null }], 0)
  await allocate(database.db.sql, [{ runId: started?.runId ?? '', placements: [placed] }])
  expect(await remove()).toEqual([{ path: ['nodeId'], message: expect.stringContaining('1 run holds') }])
  await cancelJob(it.domain, it.admin, { jobId })
  await transition(database.db.sql, [{ ...move, from: 'CANCELLING', to: 'CANCELLED', reason: 'CANCELLED' }], 0)
  expect(await remove()).toBe('done')
  expect(await sql('SELECT name FROM node')).toEqual([{ name: 'n1' }])
  expect(await remove()).toBe('NOT_FOUND')
})
