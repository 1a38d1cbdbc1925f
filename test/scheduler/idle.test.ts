import { expect, test } from 'vitest'
import { createChainer } from '../../src/domain/audit/audit-chain.ts'
import { createSequencer } from '../../src/domain/jobs/sequence.ts'
import { watchSingleUser } from '../../src/domain/people/access-mode.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { createApprovalExpiry } from '../../src/scheduler/approval-expiry-loop.ts'
import { createFakeClock } from '../support/clock.ts'
import { countQueries, passTime } from '../support/counting.ts'
import { createDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { createTestDomainOver } from '../support/domain.ts'
import { startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

const seconds = 60

/** Expected queries per second: polls for missed notifications every second, and others every two or three seconds. */
const perSecondMax = 7

test('an idle server sends a few queries a second to the database, without transactions', async () => {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createDatabase())
  const clock = createFakeClock()
  const { db, asked, isAsking } = countQueries(database.db)
  const it = opened.use(await createTestDomainOver(db, { clock }))
  const dataDir = makeDirectory()
  const executor = await createSimulatedExecutor({ dataDir, clock, time: it.time, log: it.domain.log })
  opened.defer(() => executor.close())
  const loops = [createSequencer, createChainer, createApprovalExpiry].map((create) => create(it.domain))
  for (const loop of [...loops, watchSingleUser(it.domain, () => undefined)]) {
    loop.start()
    opened.defer(() => loop.stop())
  }
  const scheduler = startScheduler(it.domain, { simulated: executor })
  opened.defer(() => scheduler.stop())
  await until(() => asked.has('holding_runs'), { what: 'it leads' })
  await passTime(clock, { isAsking, seconds: 10 })
  asked.clear()
  await passTime(clock, { isAsking, seconds })

  const times = [...asked.values()].reduce((sum, each) => sum + each, 0)
  expect(times / seconds, JSON.stringify([...asked])).toBeLessThanOrEqual(perSecondMax)
  // In each minute, all gates are checked (stored/hearing.ts) and the node is marked as seen.
  expect(asked.get('transaction') ?? 0).toBeLessThanOrEqual(4)
})
