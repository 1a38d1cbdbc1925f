import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { createApprovalRule } from '../../../src/domain/control/approval-rule-changes.ts'
import { listModelsFor } from '../../../src/domain/machines/machines.ts'
import { updateNode } from '../../../src/domain/machines/node-changes.ts'
import { place } from '../../../src/domain/machines/placement.ts'
import { createCapacityReservation } from '../../../src/domain/machines/reservations.ts'
import { GiB } from '../../../src/domain/shape.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'
import { gpus, h100, node, p100, shape, v100 } from '../../support/machines.ts'
import { nodeIds } from '../../support/node-ids.ts'

/** A rule on hardware applies to the machines and devices that a job may get, not to the words of its spec. */
const device = { memoryGib: 32, tensorCores: true, cuda: ['9.0', '11.8'] }
const two = (model: string, more: Record<string, unknown> = {}) =>
  [0, 1].map((index) => ({ index, model, ...device, ...more }))
const a100 = {
  ...simNode,
  name: 'a',
  cpuModel: 'amd epyc 7763',
  devices: two('NVIDIA A100-SXM4-80GB', { memoryGib: 80 }),
}
const old = {
  ...simNode,
  name: 'v',
  devices: [0, 1, 2, 3].map((index) => ({ index, model: 'Tesla V100-SXM2', ...device })),
}
const { database, it: at } = await openTestDomain({ nodes: [a100, old, { ...simNode, name: 'c' }] })
const { sql } = database.db

beforeEach(() => sql.query('DELETE FROM approval_rule'))

async function reasonOf(spec: Record<string, unknown>): Promise<string | null> {
  const id = await at.submit(spec)
  const [row] = await sql.query<{ reason: string }>('SELECT reason FROM approval WHERE job_id = $1', [id])
  return row?.reason ?? null
}
const rule = (hardware: string) => createApprovalRule(at.domain, at.admin, { name: 'big', condition: { hardware } })
const given = 'May be placed on the hardware NVIDIA A100-SXM4-80GB (rule big)'

describe('an approval rule on the hardware *a100*', () => {
  test.each<[Record<string, unknown>, string | null]>([
    [{ gpu: 1, gpuModel: ['a100'] }, 'Requests the hardware a100 (rule big)'],
    [{ gpu: 1, gpuModel: ['a10'] }, given],
    [{ gpu: 1, gpuModel: ['!v100'] }, given],
    [{ gpu: 1, gpuMemoryGib: 80 }, given],
    [{ gpu: 3 }, given],
    [{ gpu: 1 }, given],
    [{ gpu: 2, gpuIds: [0, 1] }, given],
    [{ gpu: 2, gpuIds: [2, 3] }, null],
    [{ gpu: 1, gpuIds: [2], anyGpu: true }, given],
    [{ gpu: 1, gpuModel: ['!a100'] }, null],
    [{ gpu: 1, gpuModel: ['v100'] }, null],
    [{ gpu: 1, gpuMemoryGib: 81 }, null],
    [{ gpu: 1, cpuModel: ['!epyc'] }, null],
    [{ cpu: 1 }, null],
  ])('gives a job with the resources %j the reason: %s', async (resources, reason) => {
    await rule('*a100*')
    expect(await reasonOf({ resources })).toBe(reason)
  })

  test('considers cordoned nodes too, and for a job of a capacity reservation only the reserved nodes', async () => {
    await rule('*A100*')
    const [row] = await sql.query<{ id: string }>("SELECT id FROM node WHERE name = 'a'")
    await updateNode(at.domain, at.admin, { id: row?.id, state: 'CORDONED' })
    expect(await reasonOf({ resources: { gpu: 1 } })).toBe(given)
    await updateNode(at.domain, at.admin, { id: row?.id, state: 'READY' })
    const startsAt = new Date(Date.now() + 3_600_000).toISOString()
    const endsAt = new Date(Date.now() + 7_200_000).toISOString()
    const reserved = async (name: string) => {
      const reservation = {
        name,
        pool: 'sim',
        project: 'x',
        nodeIds: await nodeIds(database.db, name),
        startsAt,
        endsAt,
      }
      return (await createCapacityReservation(at.domain, at.admin, reservation)).id
    }
    const spec = { resources: { gpu: 1 }, project: 'x' }
    expect(await reasonOf({ ...spec, capacityReservationId: await reserved('v') })).toBeNull()
    expect(await reasonOf({ ...spec, capacityReservationId: await reserved('a') })).toBe(given)
    expect(await reasonOf({ ...spec, capacityReservationId: null })).toBe(given)
  })
})

test('an approval rule on a processor model applies to jobs that can run on that processor', async () => {
  await rule('*epyc*')
  expect(await reasonOf({})).toBe('May be placed on the hardware amd epyc 7763 (rule big)')
  expect(await reasonOf({ resources: { cpuModel: ['!epyc'] } })).toBeNull()
  expect(await reasonOf({ resources: { gpu: 1, gpuModel: ['v100'] } })).toBeNull()
})

test('an approval rule on hardware applies to a job that can be placed on any node with that hardware', () => {
  const models = [p100, v100, h100]
  const anyNode = fc.record({
    devices: fc.constantFrom(...models).chain((model) => fc.integer({ min: 0, max: 3 }).map((n) => gpus(model, n))),
    cpuModel: fc.constantFrom(null, 'intel xeon', 'amd epyc'),
    infiniband: fc.boolean(),
  })
  const asks = fc.record({
    gpu: fc.integer({ min: 0, max: 2 }),
    gpuMemoryBytes: fc.constantFrom(null, 16 * GiB, 32 * GiB, 80 * GiB),
    gpuTensorCores: fc.boolean(),
    cudaVersion: fc.constantFrom(null, '9.1', '11.8', '12.1'),
    gpuModel: fc.subarray(['tesla', '!v100', '100', '!nvidia']),
    cpuModel: fc.subarray(['!xeon', 'amd']),
    infiniband: fc.boolean(),
    gpuIds: fc.constantFrom(null, [1, 0], [2]),
    anyGpu: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(anyNode, { maxLength: 4 }), asks, (machines, asked) => {
      const nodes = machines.map((one, index) => node(`n${index}`, one))
      const may = listModelsFor(shape(asked), nodes)
      for (const { nodeId, gpuIds } of place(shape(asked), nodes) ?? []) {
        const on = nodes.find(({ id }) => id === nodeId)
        const got = gpuIds.map((id) => on?.devices[id]?.model ?? '')
        expect(may).toEqual(expect.arrayContaining([...got, ...(on?.cpuModel ? [on.cpuModel] : [])]))
      }
    }),
  )
})
