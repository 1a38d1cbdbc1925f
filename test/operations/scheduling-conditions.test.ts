import { expect, test } from 'vitest'
import { approveJob } from '../../src/domain/control/approve.ts'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { readLedPools } from '../../src/domain/leadership.ts'
import { deleteNode } from '../../src/domain/machines/node-changes.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Db } from '../../src/platform/db.ts'
import { submitBlocked } from '../support/approvals.ts'
import { createConditionWorld, watchConditions } from '../support/conditions.ts'
import { createTestDomain, simNode } from '../support/domain.ts'
import { createLeader, startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** Each test causes a condition by its fault, and then ends the fault. */

const isLed = (db: Db) => async () => (await readLedPools(db.sql)).length === 1
const lookMs = 10_000

test('NO_LEADER: begins when the only scheduler has stopped, and ends when another one leads', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  let isStopped = false
  const led = () => until(isLed(database.db), { what: 'a process leads' })
  const conditions = watchConditions({ domain: it.domain, database, beforeLook: async () => isStopped || led() })
  const first = startScheduler(it.domain, {})
  await led()
  for (let looks = 0; looks < 3; looks++) await conditions.look()
  expect(await conditions.find('NO_LEADER')).toBeUndefined()
  await first.stop()
  isStopped = true
  expect(await conditions.begins('NO_LEADER')).toMatchObject({ severity: 'PAGE', evidence: ['pool sim'] })
  const second = startScheduler(it.domain, {})
  isStopped = false
  await conditions.ends('NO_LEADER')
  await second.stop()
})

test('QUEUE_STANDS: begins when a transaction locks a table that the scheduler needs, and ends with the lock', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  let movedMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + movedMs }
  const scheduler = startScheduler({ ...it.domain, clock }, {})
  const beforeLook = async () => {
    movedMs += lookMs
    // While no lock is held, the next pass completes within a second.
    if (!isLocked) await until(() => (scheduler.readStalledMs() ?? lookMs) < lookMs, { what: 'a pass completes' })
  }
  let isLocked = false
  const conditions = watchConditions({
    domain: it.domain,
    database,
    stalled: new Map([['sim', scheduler]]),
    beforeLook,
  })
  await conditions.look()
  expect(await conditions.find('QUEUE_STANDS')).toBeUndefined()
  const blocker = await database.db.pool.connect()
  await blocker.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout TO 0')
  await blocker.query('LOCK TABLE pool_change IN ACCESS EXCLUSIVE MODE')
  isLocked = true
  expect(await conditions.begins('QUEUE_STANDS')).toMatchObject({
    severity: 'PAGE',
    evidence: [expect.stringMatching(/^server host0 \(pid 1\): pool sim: last pass \d+ s ago$/)],
  })
  await blocker.query('ROLLBACK')
  blocker.release()
  isLocked = false
  await conditions.ends('QUEUE_STANDS')
  await scheduler.stop()
})

test('UNSATISFIABLE_JOBS: begins when the only node that is large enough leaves the pool', async () => {
  const large = { ...simNode, name: 'large', cpuMillis: 64_000 }
  await using world = await createConditionWorld({ nodes: [simNode, large] })
  const { it, database } = world
  const leader = await createLeader(it.domain, 'sim')
  await database.db.sql.query(`UPDATE node SET state = 'CORDONED' WHERE name = 'large'`)
  const waiting = await it.submit({ resources: { cpu: 60 } })
  await leader.tick()
  await world.look()
  expect(await world.find('UNSATISFIABLE_JOBS')).toBeUndefined()
  const [node] = await database.db.sql.query<{ id: string; version: number }>(
    `SELECT id, version FROM node WHERE name = 'large'`,
  )
  await deleteNode(it.domain, it.admin, { id: node?.id ?? '', expectedVersion: node?.version ?? 0 })
  await leader.tick()
  expect(await world.begins('UNSATISFIABLE_JOBS')).toMatchObject({
    severity: 'INFO',
    evidence: [expect.stringContaining('pool sim: 1 jobs; No node of the pool can ever provide')],
  })
  await cancelJob(it.domain, it.admin, { jobId: waiting })
  await leader.tick()
  await world.ends('UNSATISFIABLE_JOBS')
})

test('STARVING: begins when a job has waited for three hours behind a job without an end', async () => {
  await using world = await createConditionWorld()
  const { it, database } = world
  const leader = await createLeader(it.domain, 'sim')
  await it.submit({ resources: { cpu: 16 } })
  await leader.tick()
  const waiting = await it.submit({ resources: { cpu: 16 } })
  await leader.tick()
  await database.moveTime(2.9 * 3_600_000)
  await leader.tick()
  await world.look()
  expect(await world.find('STARVING')).toBeUndefined()
  await database.moveTime(0.1 * 3_600_000)
  await leader.tick()
  expect(await world.begins('STARVING')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^pool sim: 1 kinds of jobs; the first waits since \d{4}-/)],
  })
  await cancelJob(it.domain, it.admin, { jobId: waiting })
  await leader.tick()
  await world.ends('STARVING')
})

test('APPROVALS_WAIT: begins when a request has waited for four hours, and ends with its approval', async () => {
  await using world = await createConditionWorld({ singleUser: false })
  const { it, database } = world
  const jobId = await submitBlocked(it, await it.user('ada', 'RESEARCHER'))
  await database.moveTime(3.9 * 3_600_000)
  await world.look()
  expect(await world.find('APPROVALS_WAIT')).toBeUndefined()
  await database.moveTime(0.1 * 3_600_000)
  expect(await world.begins('APPROVALS_WAIT')).toMatchObject({
    severity: 'INFO',
    evidence: [expect.stringMatching(/^1 approvals; the first was requested at \d{4}-/)],
  })
  await approveJob(it.domain, it.admin, { jobId, expectedVersion: 2 })
  await world.ends('APPROVALS_WAIT')
})
