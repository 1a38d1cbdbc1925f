import { expect, test } from 'vitest'
import { addNode, deleteNode, updateNode } from '../../../src/domain/machines/node-changes.ts'
import { applyPools, bindPoolToDirectory, type DeclaredPool } from '../../../src/domain/machines/pools.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createTestDomain, openTestDomain, simNode } from '../../support/domain.ts'
import { createLeader } from '../../support/leader.ts'
import { recordLines } from '../../support/recorded-lines.ts'

const { database, it } = await openTestDomain()
const leader = await createLeader(it.domain, 'sim')

const pool = (more: Partial<DeclaredPool> = {}): DeclaredPool => ({
  name: 'sim',
  policy: 'PRIORITY',
  executors: ['simulated'],
  relaxReplicas: true,
  nodes: [simNode],
  ...more,
})
const queues = [{ name: 'default', pool: 'sim', native: {} }]
const apply = (declared: DeclaredPool) => applyPools(it.domain, { pools: [declared], queues })
const nodes = () =>
  database.db.sql.query('SELECT name, state, cpu_millis AS cpu, free_cpu_millis AS free FROM node ORDER BY name')

test('an unchanged configuration keeps nodes that were changed at run time; a changed configuration overrides them', async () => {
  await database.db.sql.query("UPDATE node SET state = 'CORDONED'")
  await apply(pool())
  expect(await nodes()).toEqual([{ name: 'n1', state: 'CORDONED', cpu: 16_000, free: 16_000 }])
  await apply(pool({ nodes: [{ ...simNode, cpuMillis: 8_000 }] }))
  expect(await nodes()).toEqual([{ name: 'n1', state: 'READY', cpu: 8_000, free: 8_000 }])
})

test('running jobs keep their resources when their node shrinks; a removed node is drained while it is in use', async () => {
  await it.submit({ resources: { cpu: 6 } })
  expect(await leader.tick()).toMatchObject({ started: 1 })
  await apply(pool({ nodes: [{ ...simNode, cpuMillis: 4_000 }] }))
  expect(await nodes()).toEqual([{ name: 'n1', state: 'READY', cpu: 6_000, free: 0 }])
  await apply(pool({ nodes: [{ ...simNode, name: 'n2' }] }))
  expect(await nodes()).toMatchObject([
    { name: 'n1', state: 'DRAINING' },
    { name: 'n2', state: 'READY' },
  ])
})

test('a pool that is no longer configured but has jobs is logged as a warning at each start', async () => {
  await using world = await createTestDomain()
  const there = world.it
  const { lines, destination } = recordLines()
  const domain = { ...there.domain, log: createLog('warn', { destination }) }
  const declare = (name: string) =>
    applyPools(domain, { pools: [pool({ name })], queues: [{ name: 'default', pool: name, native: {} }] })
  await declare('other')
  expect(lines).toEqual([])
  await declare('sim')
  await there.submit()
  await declare('other')
  expect(lines).toMatchObject([{ level: 40, pool: 'sim', jobs: 1 }])
})

test('a node added, cordoned or removed at run time stays so while its configuration is unchanged', async () => {
  const [n1, n2, n3] = ['n1', 'n2', 'n3'].map((name) => ({ ...simNode, name }))
  await using world = await createTestDomain({ nodes: [n1, n2, n3].flatMap((node) => node ?? []) })
  const { database: other, it: there } = world
  const state = () => other.db.sql.query('SELECT name, state FROM node ORDER BY name')
  const idOf = async (name: string) =>
    (await other.db.sql.query<{ id: string }>('SELECT id FROM node WHERE name = $1', [name]))[0]?.id ?? ''
  await addNode(there.domain, there.admin, { pool: 'sim', name: 'n4', cpu: 1, memoryBytes: 1 * 2 ** 30 })
  await updateNode(there.domain, there.admin, { id: await idOf('n1'), state: 'CORDONED' })
  await deleteNode(there.domain, there.admin, { id: await idOf('n2') })
  const declare = (nodes: readonly (typeof simNode | undefined)[], more: Partial<DeclaredPool> = {}) =>
    applyPools(there.domain, { pools: [pool({ nodes: nodes.flatMap((node) => node ?? []), ...more })], queues })

  await declare([n1, n2, n3], { relaxReplicas: false })
  const asLeft = [
    { name: 'n1', state: 'CORDONED' },
    { name: 'n3', state: 'READY' },
    { name: 'n4', state: 'READY' },
  ]
  expect(await state()).toEqual(asLeft)
  await declare([n1, n2])
  expect(await state()).toEqual(asLeft.filter(({ name }) => name !== 'n3'))
  await declare([n1, n2 && { ...n2, cpuMillis: 8_000 }, n3])
  expect(await state()).toEqual([asLeft[0], { name: 'n2', state: 'READY' }, ...asLeft.slice(1)])

  await other.db.sql.query("UPDATE node SET state = 'LOST', state_before = 'CORDONED' WHERE name = 'n1'")
  await declare([n1 && { ...n1, cpuMillis: 8_000 }, n2, n3])
  const lost = "SELECT state, state_before AS before FROM node WHERE name = 'n1'"
  expect(await other.db.sql.query(lost)).toEqual([{ state: 'LOST', before: 'READY' }])
})

test('the GPUs of a node follow the configuration', async () => {
  const device = { model: 'x', memoryGib: 16, tensorCores: false, cuda: ['9.0', '11.8'] }
  await apply(pool({ nodes: [{ ...simNode, name: 'n2', devices: [0, 1].map((index) => ({ ...device, index })) }] }))
  expect(await database.db.sql.query('SELECT device, model, cuda FROM device ORDER BY device')).toEqual([
    { device: 0, model: 'x', cuda: ['9.0', '11.8'] },
    { device: 1, model: 'x', cuda: ['9.0', '11.8'] },
  ])
})

const directory = (id: string, more: object = {}) => ({
  id,
  holdsDatabase: false,
  ...more,
})

test('a pool is bound to the first data directory that requests it', async () => {
  const { domain } = it
  expect(await bindPoolToDirectory(domain, 'sim', directory('a'))).toBe(true)
  expect(await bindPoolToDirectory(domain, 'sim', directory('b'))).toBe(false)
  expect(await bindPoolToDirectory(domain, 'sim', directory('a'))).toBe(true)
  expect(await bindPoolToDirectory(domain, 'sim', directory('c', { holdsDatabase: true }))).toBe(true)
})
