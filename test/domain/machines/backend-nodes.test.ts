import { expect, test } from 'vitest'
import { storeReport } from '../../../src/domain/machines/backend-nodes.ts'
import { readNodes } from '../../../src/domain/machines/nodes.ts'
import { couldEverFit } from '../../../src/domain/machines/placement.ts'
import { toShape } from '../../../src/domain/shape.ts'
import { makeResources } from '../../executors/runs.ts'
import { openTestDomain } from '../../support/domain.ts'
import { backendNode } from '../../support/fake-backend.ts'

const { database, it } = await openTestDomain({ nodes: [] })
const { sql } = database.db
await sql.query("INSERT INTO scheduler_leader (pool, epoch, holder) VALUES ('sim', 1, 'test')")

const known = { model: 'H100', memoryBytes: 80 * 2 ** 30, tensorCores: true, cudaVersion: '12.2' }
const unknown = { ...known, tensorCores: false, cudaVersion: null }

async function report(...gpus: (typeof known | typeof unknown)[]) {
  const leader = { pool: 'sim', epoch: 1, holder: 'test' }
  const changed = await storeReport(it.domain, leader, [backendNode('n1', { gpus })])
  const nodes = await readNodes(sql, 'sim')
  const fits = (resources: Parameters<typeof makeResources>[0]) =>
    couldEverFit(toShape(makeResources({ gpu: 1, ...resources })), nodes)
  return { changed, fits }
}

test('a job is placed by the tensor cores and the CUDA version that the backend reports for GPUs', async () => {
  const { fits: fitsUnknown } = await report(unknown)
  expect(fitsUnknown({})).toBe(true)
  expect(fitsUnknown({ gpuTensorCores: true })).toBe(false)
  expect(fitsUnknown({ cudaVersion: '11.0' })).toBe(false)
  const { changed, fits } = await report(known)
  expect(changed).toMatchObject({ changed: ['n1'] })
  expect(fits({ gpuTensorCores: true, cudaVersion: '11.0' })).toBe(true)
  expect(fits({ cudaVersion: '12.2' })).toBe(true)
  expect(fits({ cudaVersion: '99.0' })).toBe(false)
  expect((await report(known)).changed).toBeNull()
  expect(await sql.query('SELECT tensor_cores AS "tensorCores", cuda FROM device')).toEqual([
    { tensorCores: true, cuda: ['1.0', '12.2'] },
  ])
})
