import { afterAll, beforeAll, expect, it } from 'vitest'
import { addNode } from '../../../src/domain/machines/node-changes.ts'
import { applyPools } from '../../../src/domain/machines/pools.ts'
import { type Api, connectApi } from '../../support/api.ts'
import { simNode } from '../../support/domain.ts'
import { createLeader } from '../../support/leader.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** GPU indexes are meaningful only on one machine. */
let server: TestServer
let api: Api

const device = (index: number) => ({ index, model: 'V100', memoryGib: 32, tensorCores: true, cuda: [] })

beforeAll(async () => {
  server = await startServer({ pool: { nodes: [{ ...simNode, devices: [device(0), device(1)] }] } })
  api = connectApi(server.url)
  await server.submit({ resources: { gpu: 1 } })
  await (await createLeader(server.domain, 'sim')).tick()
})
afterAll(async () => {
  await api?.close()
  await server?.[Symbol.asyncDispose]()
})

async function allocation() {
  const query = '{ system { gpuAllocation { allocatedGpus availableGpus devices { index } } } }'
  const { system } = await api.ask<{ system: { gpuAllocation: Record<string, unknown[]> } }>(query)
  const { allocatedGpus, availableGpus, devices } = system.gpuAllocation
  return { allocatedGpus, availableGpus, count: devices?.length }
}

it('gpuAllocation shows GPU indexes of the local machine, or of the only node with GPUs, else none', async () => {
  expect(await allocation()).toEqual({ allocatedGpus: [0], availableGpus: [1], count: 2 })

  const gpus = [{ model: 'V100', memoryGib: 32, count: 3 }]
  await addNode(server.domain, server.admin, { pool: 'sim', name: 'n2', cpu: 1, memoryGib: 1, gpus })
  expect(await allocation()).toEqual({ allocatedGpus: [], availableGpus: [], count: 5 })

  const pool = { policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes: [] } as const
  await applyPools(server.domain, {
    pools: [
      { ...pool, name: 'sim' },
      { ...pool, name: 'here', executors: ['local'], nodes: [{ ...simNode, name: 'me', devices: [device(4)] }] },
    ],
    queues: [{ name: 'default', pool: 'sim', native: {} }],
  })
  await server.domain.db.sql.query("UPDATE pool SET directory = 'here' WHERE name = 'here'")
  expect(await allocation()).toMatchObject({ allocatedGpus: [], availableGpus: [4] })
})
