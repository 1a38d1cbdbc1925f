import { expect, test } from 'vitest'
import { applyPools, type DeclaredPool } from '../../../src/domain/machines/pools.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

const sql = <Row>(text: string) => database.db.sql.query<Row>(text)
const declare = (more: Partial<DeclaredPool>) =>
  applyPools(it.domain, {
    pools: [
      { name: 'sim', policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes: [simNode], ...more },
    ],
    queues: [{ name: 'default', pool: 'sim', native: {} }],
  })
const revision = async () => (await sql<{ revision: number }>('SELECT revision FROM pool'))[0]?.revision ?? 0
const told = async () =>
  (await sql<{ kind: string }>('DELETE FROM pool_change RETURNING kind::text AS kind')).map(({ kind }) => kind)

test('settings and weights are stored with the pool and sent to the leader once; an unchanged file has no effect', async () => {
  await told()
  const before = await revision()
  const planning = { scheduling: { automatic: false, minRunBeforePreemptMs: 5_000 }, weights: { a: 2 } }
  await declare(planning)
  expect(await sql('SELECT scheduling, weights FROM pool')).toEqual([planning])
  expect(await told()).toEqual(['SETTINGS'])
  expect(await revision()).toBe(before + 1)
  await declare(planning)
  expect(await told()).toEqual([])
  expect(await revision()).toBe(before + 1)
})

test('a change of the policy recomputes the bids of waiting jobs and notifies the leader', async () => {
  const bids = () => sql<{ bid: number }>('SELECT bid FROM queue_entry ORDER BY sequence')
  await it.submit({ bid: 7 })
  await it.submit()
  expect(await bids()).toEqual([{ bid: 0 }, { bid: 0 }])
  await told()
  await declare({ policy: 'FAIR_SHARE' })
  expect(await bids()).toEqual([{ bid: 7 }, { bid: 0 }])
  expect((await told()).toSorted()).toEqual(['JOINED', 'LEFT', 'SETTINGS', 'SETTINGS'])
  await declare({ policy: 'PRIORITY' })
  expect(await bids()).toEqual([{ bid: 0 }, { bid: 0 }])
})
