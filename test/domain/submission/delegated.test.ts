import { expect, test } from 'vitest'
import { setScopeLimit } from '../../../src/domain/limits/limits.ts'
import { submitJobs } from '../../../src/domain/submission/submit.ts'
import { openTestDomain } from '../../support/domain.ts'

const { it } = await openTestDomain()

test('what a pool cannot keep whose backend chooses the GPUs is refused', async () => {
  await it.domain.db.sql.query("UPDATE pool SET executors = '{kubernetes}'")
  const [outcome] = await submitJobs(it.domain, it.admin, [
    { spec: { command: ['true'], resources: { gpu: 1, gpuIds: [0] } } },
  ]).catch((error: unknown) => [error])
  expect(outcome).toMatchObject({
    violations: [
      {
        path: ['spec', 'resources', 'gpuIds'],
        message: 'Executor kubernetes chooses the GPUs itself; leave gpuIds out, or ask for a gpuModel',
      },
    ],
  })
  const limit = { scope: 'USER' as const, name: it.admin.userName, maxGpus: 1 }
  await expect(setScopeLimit(it.domain, it.admin, { ...limit, gpuModel: 'h100' })).rejects.toThrow(/chooses the GPUs/)
  await setScopeLimit(it.domain, it.admin, limit)
})
