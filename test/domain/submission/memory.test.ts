import { describe, expect, test } from 'vitest'
import { addNode } from '../../../src/domain/machines/node-changes.ts'
import type { JobSpec } from '../../../src/domain/spec.ts'
import { openTestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const gib = 2 ** 30
/** One node of 16 cores and 64 GiB. */
const { database, it } = await openTestDomain()

async function specOf(resources: Record<string, unknown>) {
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'], resources } }])
  if (!outcome || outcome instanceof Error) throw outcome
  expect(outcome.warnings).toEqual([])
  const [job] = await database.db.sql.query<{ spec: JobSpec }>('SELECT spec FROM job WHERE id = $1', [outcome.jobId])
  return job?.spec.resources
}

const memoryOf = async (resources: Record<string, unknown>) => ((await specOf(resources))?.memoryBytes ?? 0) / gib

describe('a job without an amount of memory', () => {
  test('gets memory in proportion to its share of the cores of the node', async () => {
    expect(await memoryOf({})).toBe(4)
    expect(await memoryOf({ cpu: 2.5 })).toBe(10)
    expect(await memoryOf({ cpu: 16 })).toBe(64)
    expect(await memoryOf({ cpuCoresPerProcess: 2, processCount: 3 })).toBe(24)
  })

  test('gets at least 1 GiB', async () => {
    expect(await memoryOf({ cpu: 0.1 })).toBe(1)
  })

  test('gets an amount that fits on each node on which the job can run', async () => {
    await addNode(it.domain, it.admin, { pool: 'sim', name: 'small', cpu: 4, memoryBytes: 8 * 2 ** 30 })
    expect(await memoryOf({})).toBe(2)
    expect(await memoryOf({ cpu: 8 })).toBe(32)
    const gpus = [{ model: 'T4', memoryBytes: 16 * 2 ** 30, count: 4 }]
    await addNode(it.domain, it.admin, { pool: 'sim', name: 'gpus', cpu: 32, memoryBytes: 256 * 2 ** 30, gpus })
    expect(await memoryOf({ gpu: 1 })).toBe(8)
  })
})

test('a job with an amount of memory keeps it', async () => {
  expect(await memoryOf({ memoryBytes: 3 * 2 ** 30 })).toBe(3)
  expect(await memoryOf({ memoryBytes: 5 * gib })).toBe(5)
})
