import { expect, test } from 'vitest'
import { reportPool } from '../../../src/domain/machines/pool-report.ts'
import { submitJobs } from '../../../src/domain/submission/submit.ts'
import { openTestDomain } from '../../support/domain.ts'

const { it } = await openTestDomain()

async function warnings(resources: Record<string, unknown>) {
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'], resources } }])
  if (!outcome || outcome instanceof Error) throw outcome
  return outcome.warnings
}

test('a limit that the executor cannot keep has a warning where the job asks for it', async () => {
  expect(await warnings({ cpu: 1, memoryGib: 1 })).toEqual([])
  const simulated = { version: null, available: true, message: null, unenforced: ['memory', 'cpu', 'pids'] }
  await reportPool(it.domain, 'sim', { executors: { simulated }, unixUserRequired: false, reservedUnixUsers: [] })
  const told = (what: string) => `${what} is planned with, not enforced: executor simulated of pool sim cannot limit it`
  expect(await warnings({ memoryGib: 1 })).toEqual([told('memory')])
  expect(await warnings({ cpu: 1, memoryGib: 1 })).toEqual([told('memory'), told('cpu')])
  expect(await warnings({})).toEqual([])
})
