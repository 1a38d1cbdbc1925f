import { expect, test } from 'vitest'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { allocate, readNodes } from '../../../src/domain/machines/nodes.ts'
import type { Placement } from '../../../src/domain/machines/placement.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()
await database.db.sql.query("UPDATE node SET infiniband = true WHERE pool = 'sim'")

const node = async () => (await readNodes(database.db.sql, 'sim'))[0]

async function start(takes: Partial<Placement>, spec: Record<string, unknown> = {}) {
  const jobId = await it.submit(spec)
  const now = it.domain.time.nowMs()
  const [moved] = await transition(
    database.db.sql,
    [{ jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null }],
    now,
  )
  const free = await node()
  const placement: Placement = {
    nodeId: free?.id ?? '',
    node: free?.name ?? '',
    replica: 0,
    cpuMillis: 1,
    memoryBytes: 1,
    gpuIds: [],
    infiniband: false,
    interactive: false,
    ...takes,
  }
  await allocate(database.db.sql, [{ runId: moved?.runId ?? '', placements: [placement] }])
  return () =>
    transition(database.db.sql, [{ jobId, run: 1, from: 'STARTING', to: 'INTERRUPTED', reason: 'NODE_LOST' }], now)
}

test('the InfiniBand of a node is allocated to one run, and is released when the run ends', async () => {
  expect(await node()).toMatchObject({ infiniband: true, infinibandFree: true })
  const end = await start({ infiniband: true })
  expect(await node()).toMatchObject({ infiniband: true, infinibandFree: false })
  await expect(start({ infiniband: true })).rejects.toMatchObject({ code: '23505' })
  await end()
  expect(await node()).toMatchObject({ infinibandFree: true })
})

test('a node counts its running interactive jobs', async () => {
  expect(await node()).toMatchObject({ interactive: 0 })
  const end = await start({ interactive: true }, { interactive: true })
  expect(await node()).toMatchObject({ interactive: 1 })
  await end()
  expect(await node()).toMatchObject({ interactive: 0 })
})
