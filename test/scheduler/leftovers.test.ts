import { expect, test } from 'vitest'
import type { Executor } from '../../src/executors/executor.ts'
import { createLeftoverLoop } from '../../src/scheduler/leftovers.ts'
import { createTestDomain } from '../support/domain.ts'
import { carrierOptions, createLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

test('the data of other runs is deleted although the data of one run cannot be deleted', async () => {
  await using opened = new AsyncDisposableStack()
  const { domain } = opened.use(await createTestDomain()).it
  const removed: string[] = []
  const kept = ['closed', 'open', 'other'].map((handle) => ({ runId: `run_${handle}`, handle }))
  const executor = {
    name: 'simulated',
    list: async () => kept,
    inspect: async (handles: readonly string[]) => handles.map(() => ({ state: 'gone' as const })),
    async forget(handle: string) {
      if (handle === 'closed') throw new Error('EACCES: permission denied')
      removed.push(handle)
    },
  } satisfies Partial<Executor>
  const leader = await createLeader(domain, 'sim')
  const leftovers = createLeftoverLoop(
    carrierOptions(domain, leader),
    new Map([['simulated', executor as unknown as Executor]]),
  )
  opened.defer(() => leftovers.stop())
  leftovers.start()
  await until(() => removed.length === 2, { what: 'the others are removed' })
  expect(removed).toEqual(['open', 'other'])
})
