import { expect, test } from 'vitest'
import { addNode, deleteNode, updateNode } from '../../../src/domain/machines/node-changes.ts'
import { applyPools } from '../../../src/domain/machines/pools.ts'
import { createCapacityReservation } from '../../../src/domain/machines/reservations.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'
import { nodeIds } from '../../support/node-ids.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

/** One node of 16 cores and 64 GiB. */
const { database, it } = await openTestDomain()

async function warnings(resources: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'], resources, ...more } }])
  if (!outcome || outcome instanceof Error) throw outcome
  return outcome.warnings
}

const never = (asks: string, of = 'the pool') => [
  `No node of ${of} can ever provide ${asks}; the job waits until the pool changes`,
]

test('a job that no node could ever run causes a warning that names its request', async () => {
  expect(await warnings({ cpu: 17 })).toEqual(never('17 cpu, 1 GiB'))
  expect(await warnings({ gpu: 1, gpuModel: ['a100'] })).toEqual(never('1 cpu, 1 GiB, 1 GPU (model a100) on one node'))
})

test('a job that only waits for other jobs or for a drained node causes no warning', async () => {
  await database.db.sql.query('UPDATE node SET free_cpu_millis = 0')
  expect(await warnings({ cpu: 16 })).toEqual([])
  const [node] = await database.db.sql.query<{ id: string }>('SELECT id FROM node')
  await updateNode(it.domain, it.admin, { id: node?.id, state: 'CORDONED' })
  expect(await warnings({ cpu: 16 })).toEqual([])
})

test('the warning of the next submission considers added and removed nodes', async () => {
  const { id } = await addNode(it.domain, it.admin, { pool: 'sim', name: 'big', cpu: 32, memoryBytes: 64 * 2 ** 30 })
  expect(await warnings({ cpu: 17 })).toEqual([])
  await deleteNode(it.domain, it.admin, { id })
  expect(await warnings({ cpu: 17 })).toEqual(never('17 cpu, 1 GiB'))
})

test('the warning of the next submission considers the nodes of a changed configuration', async () => {
  const pool = { name: 'sim', policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true } as const
  const queues = [{ name: 'default', pool: 'sim', native: {} }]
  const apply = (nodes: readonly (typeof simNode)[]) => applyPools(it.domain, { pools: [{ ...pool, nodes }], queues })
  await apply([simNode, { ...simNode, name: 'big', cpuMillis: 32_000 }])
  expect(await warnings({ cpu: 17 })).toEqual([])
  await apply([simNode])
  expect(await warnings({ cpu: 17 })).toEqual(never('17 cpu, 1 GiB'))
})

test('for a job of a capacity reservation, the warning considers only the reserved nodes', async () => {
  await addNode(it.domain, it.admin, { pool: 'sim', name: 'big', cpu: 32, memoryBytes: 64 * 2 ** 30 })
  const { id } = await createCapacityReservation(it.domain, it.admin, {
    name: 'small',
    pool: 'sim',
    project: 'p',
    nodeIds: await nodeIds(database.db, 'n1'),
    startsAt: new Date(it.time.nowMs() + 60_000).toISOString(),
    endsAt: new Date(it.time.nowMs() + 120_000).toISOString(),
  })
  expect(await warnings({ cpu: 17 }, { project: 'p', capacityReservationId: id })).toEqual(
    never('17 cpu, 34 GiB', `reservation ${id}`),
  )
})
