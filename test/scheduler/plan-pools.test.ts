import { expect, test } from 'vitest'
import { applyPools } from '../../src/domain/machines/pools.ts'
import { planPools } from '../../src/domain/queue/plan-pools.ts'
import { askMsMax, passMsMax, readOpenQuestions } from '../../src/domain/queue/questions.ts'
import { Unavailable } from '../../src/platform/tx.ts'
import { openTestDomainForEach, simNode } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

const { database, it, sql } = openTestDomainForEach({ pool: { scheduling: { automatic: false } } })

const states = async () =>
  (await database.db.sql.query<{ state: string }>('SELECT state FROM job ORDER BY sequence')).map(({ state }) => state)

/** Runs `work` while these leaders tick. */
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

test('a pool without automatic scheduling starts jobs only after planPools, and then all jobs that fit', async () => {
  const leader = await createLeader(it.domain, 'sim')
  for (let i = 0; i < 120; i++) await it.submit({ resources: { cpu: 0.1, memoryBytes: 1 } })
  await leader.tick()
  expect(new Set(await states())).toEqual(new Set(['QUEUED']))
  expect(await answered(planPools(it.domain, it.admin), [leader])).toEqual({
    considered: 120,
    started: 120,
    preempted: 0,
  })
  expect(new Set(await states())).toEqual(new Set(['STARTING']))
  expect(
    await database.db.sql.query("SELECT actor_name, object_id FROM audit_entry WHERE action = 'pool.plan'"),
  ).toEqual([{ actor_name: 'local', object_id: 'pool_sim' }])
})

/** The leaders of two pools; each pool has one job. */
async function leadTwoPools() {
  const pool = { policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes: [simNode] } as const
  await applyPools(it.domain, {
    pools: [{ ...pool, name: 'other', scheduling: { automatic: false } }],
    queues: [
      { name: 'default', pool: 'sim', native: {} },
      { name: 'other', pool: 'other', native: {} },
    ],
  })
  const leaders = [await createLeader(it.domain, 'sim'), await createLeader(it.domain, 'other')]
  await it.submit()
  await it.submit({ queue: 'other' })
  return leaders
}

test('planPools asks the leader of every pool and returns the sum of their starts', async () => {
  const leaders = await leadTwoPools()
  expect(await answered(planPools(it.domain, it.admin), leaders)).toMatchObject({ started: 2 })
})

test('planPools for one pool asks only its leader; an unknown pool is not found', async () => {
  const leaders = await leadTwoPools()
  expect(await answered(planPools(it.domain, it.admin, { pool: 'other' }), leaders)).toMatchObject({ started: 1 })
  expect(await states()).toEqual(['QUEUED', 'STARTING'])
  await expect(planPools(it.domain, it.admin, { pool: 'moon' })).rejects.toThrow('Pool moon not found')
})

/** Requests a pass from a leader that is busy with a long pass, and advances the clock. */
async function askedFor(ms: number, whoLeads = async () => {}) {
  const leader = await createLeader(it.domain, 'sim')
  await it.submit()
  const asked = planPools(it.domain, it.admin)
  asked.catch(() => {})
  await until(async () => (await readOpenQuestions(it.domain, 'sim')).length > 0, { what: 'the leader is asked' })
  await whoLeads()
  await database.moveTime(ms)
  return { asked, leader }
}

test('planPools waits for a leader that is busy with a long pass', async () => {
  const { asked, leader } = await askedFor(askMsMax + 1_000)
  await leader.tick()
  expect(await asked).toMatchObject({ started: 1 })
})

test('planPools reports a timeout if a pass takes long, and the pass continues', async () => {
  const { asked } = await askedFor(passMsMax + 1)
  await expect(asked).rejects.toThrow('The scheduler of pool sim is busy and did not answer within 25 s')
})

test('planPools fails early if the leader is gone', async () => {
  const gone = () => sql('UPDATE scheduler_leader SET holder = NULL')
  const { asked } = await askedFor(askMsMax + 1, async () => void (await gone()))
  await expect(asked).rejects.toThrow('Pool sim has no scheduler right now')
  expect(await sql('SELECT id FROM question')).toEqual([])
})

test('planPools fails as UNAVAILABLE without a leader, and requires the permission pool.plan', async () => {
  await expect(planPools(it.domain, it.admin)).rejects.toThrow(Unavailable)
  await expect(planPools(it.domain, await it.user('vera', 'VIEWER'))).rejects.toThrow('pool.plan')
})
