import { afterEach, beforeEach, expect, test } from 'vitest'
import { applyPools } from '../../src/domain/pools.ts'
import { processQueue } from '../../src/domain/process-queue.ts'
import { findings } from '../../src/domain/selfcheck.ts'
import { Unavailable } from '../../src/platform/tx.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { createTestDomain, simNode, type TestDomain } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let it: TestDomain

beforeEach(async () => {
  database = await createDatabase()
  it = await createTestDomain(database.db, { pool: { scheduling: { automatic: false } } })
})
afterEach(async () => {
  expect(await findings(database.db.sql)).toEqual([])
  await it[Symbol.asyncDispose]()
  await database.close()
})

const states = async () =>
  (await database.db.sql.query<{ state: string }>('SELECT state FROM job ORDER BY sequence')).map(({ state }) => state)

/** While these leaders take their turns. */
async function answered<T>(asked: Promise<T>, leaders: readonly { tick(): Promise<unknown> }[]): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  void asked.then(over, over)
  await until(
    async () => {
      if (!isOver) for (const leader of leaders) await leader.tick()
      return isOver
    },
    { what: 'it is answered' },
  )
  return asked
}

test('a pool that does not plan by itself starts nothing until it is asked, and then all that it can', async () => {
  const leader = await createLeader(it.domain, 'sim')
  for (let i = 0; i < 120; i++) await it.submit({ resources: { cpu: 0.1, memoryBytes: 1 } })
  await leader.tick()
  expect(new Set(await states())).toEqual(new Set(['QUEUED']))
  expect(await answered(processQueue(it.domain, it.admin), [leader])).toEqual({
    considered: 120,
    started: 120,
    preempted: 0,
  })
  expect(new Set(await states())).toEqual(new Set(['STARTING']))
  expect(
    await database.db.sql.query("SELECT actor_name, object_id FROM audit_entry WHERE action = 'queue.process'"),
  ).toEqual([{ actor_name: 'local', object_id: 'pool_sim' }])
})

test('every pool that is led is asked, and the answer is the sum', async () => {
  const pool = { policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes: [simNode] } as const
  await applyPools(it.domain, {
    pools: [{ ...pool, name: 'other' }],
    queues: [
      { name: 'default', pool: 'sim', native: {} },
      { name: 'other', pool: 'other', native: {} },
    ],
  })
  const leaders = [await createLeader(it.domain, 'sim'), await createLeader(it.domain, 'other')]
  await it.submit()
  await it.submit({ queue: 'other' })
  expect(await answered(processQueue(it.domain, it.admin), leaders)).toMatchObject({ started: 2 })
})

test('without a leader it is UNAVAILABLE; only who may asks', async () => {
  await expect(processQueue(it.domain, it.admin)).rejects.toThrow(Unavailable)
  await expect(processQueue(it.domain, await it.user('vera', 'VIEWER'))).rejects.toThrow('queue.process')
})
