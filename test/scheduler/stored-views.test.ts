import { afterEach, expect, test } from 'vitest'
import { planPools } from '../../src/domain/queue/plan-pools.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { createStoredPool } from '../../src/scheduler/stored-pool.ts'
import { createTicker, type Ticker } from '../../src/scheduler/ticker.ts'
import { createFakeClock } from '../support/clock.ts'
import { openDatabaseForEach } from '../support/database.ts'
import { createTestDomainOver, type TestDomain, type TestDomainOverOptions } from '../support/domain.ts'
import { until } from '../support/until.ts'

/** When changes are published to readers. */
const leader = { pool: 'sim', epoch: 1, holder: 'test' }

const database = openDatabaseForEach()
let it: TestDomain

afterEach(async () => {
  expect(await findViolations(database.db.sql)).toEqual([])
  await it[Symbol.asyncDispose]()
})

async function begin(options: TestDomainOverOptions): Promise<Ticker> {
  it = await createTestDomainOver(database.db, options)
  await sql("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ('sim', 1, 'test', 'test')")
  await sql("INSERT INTO scheduler_lease (pool, renewed_at) VALUES ('sim', 'infinity')")
  return createTicker({ domain: it.domain, leader, store: createStoredPool(it.domain, leader), answerForecasts() {} })
}

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)
const tooLarge = { resources: { cpu: 10_000 } }
const shown = async () =>
  (await sql<{ code: string }>("SELECT reason->>'code' AS code FROM lane_view")).map(({ code }) => code)

test('views are published at once, or after 250 ms if others were published just before, even without further changes', async () => {
  const clock = createFakeClock()
  const ticker = await begin({ clock })
  await it.submit(tooLarge)
  await ticker.tick()
  expect(await shown()).toEqual(['UNSATISFIABLE'])
  expect(ticker.pauseMs()).toBe(1_000)
  await it.submit({ ...tooLarge, account: 'other' })
  await ticker.tick()
  expect(await shown()).toHaveLength(1)
  expect(ticker.pauseMs()).toBe(250)
  await clock.advance(250)
  await ticker.tick()
  expect(await shown()).toHaveLength(2)
  expect(ticker.pauseMs()).toBe(1_000)
})

test('a tick without changes does not delay the next publication', async () => {
  const clock = createFakeClock()
  const ticker = await begin({ clock })
  await ticker.tick()
  await clock.advance(250)
  await ticker.tick()
  await it.submit(tooLarge)
  await ticker.tick()
  expect(await shown()).toEqual(['UNSATISFIABLE'])
})

test('a client that requested a pass reads the result of the pass', async () => {
  const ticker = await begin({ clock: createFakeClock(), pool: { scheduling: { automatic: false } } })
  await it.submit(tooLarge)
  await ticker.tick()
  await it.submit({ ...tooLarge, account: 'other' })
  let isOver = false
  const asked = planPools(it.domain, it.admin).then((processed) => {
    isOver = true
    return processed
  })
  await until(
    async () => {
      if (!isOver) await ticker.tick()
      return isOver
    },
    { what: 'it is answered' },
  )
  expect(await asked).toMatchObject({ started: 0 })
  expect(await shown()).toEqual(['UNSATISFIABLE', 'UNSATISFIABLE'])
})

test('a replaced leader waits without work until its leadership ends', async () => {
  const ticker = await begin({ clock: createFakeClock() })
  await ticker.tick()
  await sql('UPDATE scheduler_leader SET epoch = 2')
  await ticker.tick()
  expect(ticker.pauseMs()).toBe(1_000)
})
