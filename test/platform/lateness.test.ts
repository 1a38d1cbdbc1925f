import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReadiness } from '../../src/graphql/transport/health.ts'
import { openDb } from '../../src/platform/db.ts'
import { createLateness, watchLateness } from '../../src/platform/lateness.ts'
import { createLog } from '../../src/platform/log.ts'
import { explainOverload, explainUnavailability, Unavailable } from '../../src/platform/tx.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { createTestDomainOver } from '../support/domain.ts'

/** An overloaded server does not report a healthy database as unavailable. */

describe('the lateness of the event loop', () => {
  it('is reported while a tick is overdue, and for some time afterwards', () => {
    let nowMs = 0
    const lateness = createLateness(() => nowMs)
    nowMs = 300
    lateness.tick()
    expect(lateness.isLate()).toBe(false)
    nowMs += 2_000
    expect(lateness.isLate()).toBe(true)
    lateness.tick()
    expect(lateness.isLate()).toBe(true)
    for (let i = 0; i < 41; i++) {
      nowMs += 250
      lateness.tick()
    }
    expect(lateness.isLate()).toBe(false)
  })
})

describe('an overloaded server', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase()
  })
  afterAll(() => database.close())

  it('reports that all of its database connections are in use, in responses and in /readyz', async () => {
    const log = createLog('silent')
    const db = openDb({ address: { url: database.url }, connectionsMax: 1, log, applicationName: 'berth test' })
    const { domain } = await createTestDomainOver(database.db)
    const held = await db.pool.connect()
    const error: unknown = await db.transaction((sql) => sql.query('SELECT 1')).catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(Unavailable)
    expect((error as Error).message).toBe('This server is overloaded: all of its database connections are in use')
    const readiness = createReadiness({ ...domain, db }, { disk: { findProblem: async () => null } })
    expect(await readiness()).toEqual({
      ready: false,
      database: 'unknown',
      migrations: 'unknown',
      warnings: ['This server is overloaded: all of its database connections are in use'],
    })
    held.release()
    expect(await readiness()).toMatchObject({ database: 'ok' })
    await db.close()
  })

  it('reports that it runs late, unless PostgreSQL refused the statement', () => {
    expect(explainUnavailability(new Error('Query read timeout'))).toBe('The database did not answer')
    using _watch = watchLateness()
    const beganMs = performance.now()
    while (performance.now() - beganMs < 1_000) Math.random()
    expect(explainUnavailability(new Error('Query read timeout'))).toMatch(/^This server is overloaded and runs late/)
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    expect(explainUnavailability(refused)).toBe('The database is not available')
    const cancelled = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
    expect(explainUnavailability(cancelled)).toBe('The database takes too long for a statement')
    expect(explainOverload(new Unavailable('away', { cause: refused }))).toBeNull()
  })
})
