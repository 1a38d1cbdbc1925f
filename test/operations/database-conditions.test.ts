import pg from 'pg'
import { expect, test } from 'vitest'
import { createChainer } from '../../src/domain/audit/audit-chain.ts'
import { readConditions } from '../../src/domain/conditions/active-conditions.ts'
import { createSequencer } from '../../src/domain/jobs/sequence.ts'
import { advisoryLocks } from '../../src/platform/advisory-locks.ts'
import { openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import { createConditionWorld, watchConditions } from '../support/conditions.ts'
import { createDatabase } from '../support/database.ts'
import { createTestDomainOver } from '../support/domain.ts'
import { createDoor } from '../support/outage.ts'
import { until } from '../support/until.ts'

/** Each test causes a condition by its fault, and then ends the fault. */

const log = createLog('silent')

async function openTransaction(url: string, statement: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, application_name: 'a person' })
  await client.connect()
  await client.query('BEGIN')
  await client.query(statement)
  return { [Symbol.asyncDispose]: () => client.end() }
}

test('SELF_CHECK: begins when a row was changed by hand, and ends when it is repaired', async () => {
  await using world = await createConditionWorld()
  const { sql } = world.database.db
  await world.look()
  expect(await world.find('SELF_CHECK')).toBeUndefined()
  await sql.query('UPDATE node SET free_cpu_millis = free_cpu_millis - 1')
  expect(await world.begins('SELF_CHECK')).toMatchObject({
    severity: 'PAGE',
    evidence: [expect.stringMatching(/^free resources are capacity minus .*: node_\w+, cpu 15999/)],
  })
  await sql.query('UPDATE node SET free_cpu_millis = free_cpu_millis + 1')
  await world.ends('SELF_CHECK')
})

test('AUDIT_UNCHAINED: begins when a transaction holds the lock of the audit chain, and ends when all entries are chained', async () => {
  await using world = await createConditionWorld()
  const { it, database } = world
  const chainer = createChainer(it.domain)
  chainer.start()
  const transaction = await openTransaction(
    database.url,
    `SELECT pg_advisory_xact_lock(${advisoryLocks.auditChain}, 0)`,
  )
  await it.submit()
  expect(await world.begins('AUDIT_UNCHAINED')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^\d+ entries; the first is of \d{4}-/)],
  })
  await transaction[Symbol.asyncDispose]()
  const isChained = async () =>
    (await database.db.sql.query('SELECT FROM audit_entry WHERE seq IS NULL LIMIT 1')).length === 0
  await until(isChained, { what: 'all entries are chained' })
  await world.ends('AUDIT_UNCHAINED')
  await chainer.stop()
})

test('EVENTS_UNNUMBERED: begins when a transaction holds the lock of the sequencer, and ends when all events are numbered', async () => {
  await using world = await createConditionWorld()
  const { it, database } = world
  const sequencer = createSequencer(it.domain)
  const transaction = await openTransaction(database.url, `SELECT pg_advisory_xact_lock(${advisoryLocks.sequencer}, 0)`)
  sequencer.start()
  await it.submit()
  expect(await world.begins('EVENTS_UNNUMBERED')).toMatchObject({
    severity: 'PAGE',
    evidence: [expect.stringMatching(/^1 events; the first is of \d{4}-/)],
  })
  await transaction[Symbol.asyncDispose]()
  const isNumbered = async () =>
    (await database.db.sql.query('SELECT FROM event WHERE position IS NULL LIMIT 1')).length === 0
  await until(isNumbered, { what: 'all events have positions' })
  await world.ends('EVENTS_UNNUMBERED')
  await sequencer.stop()
})

test('DATABASE_SLOW: begins when the network delays every packet to the database, and ends with the delay', async () => {
  await using database = await createDatabase()
  const door = await createDoor(database.url)
  const db = openDb({ address: { url: door.url }, connectionsMax: 4, log, applicationName: 'berth test' })
  {
    await using it = await createTestDomainOver(db)
    const conditions = watchConditions({ domain: it.domain, database })
    await conditions.look()
    door.slow(300)
    expect(await conditions.begins('DATABASE_SLOW')).toMatchObject({
      severity: 'TICKET',
      evidence: [expect.stringMatching(/^server host0 \(pid 1\): a write takes [6-9]\d\d ms$/)],
    })
    door.slow(0)
    await conditions.ends('DATABASE_SLOW')
  }
  await db.close()
  await door.shut()
})

test('DATABASE_READ_ONLY: begins when the database accepts no writes, and ends when it accepts them again', async () => {
  await using world = await createConditionWorld()
  const { database, watches } = world
  await world.look()
  const name = new URL(database.url).pathname.slice(1)
  const setReadOnly = async (value: string) => {
    const sessions = `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`
    const client = await database.db.pool.connect()
    await client.query('SET default_transaction_read_only TO off')
    await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only TO ${value}`)
    await client.query(sessions)
    client.release(true)
    // Otherwise the pool may return a connection whose session has ended.
    await until(() => database.db.pool.totalCount === 0, { what: 'the pool has dropped its connections' })
  }
  await setReadOnly('on')
  await expect(watches[0]?.evaluateIfDue()).rejects.toMatchObject({ code: '25006' })
  const { active, evaluatedAt } = await readConditions(database.db.sql)
  expect(active.find(({ name: condition }) => condition === 'DATABASE_READ_ONLY')).toMatchObject({
    severity: 'PAGE',
    since: evaluatedAt,
    evidence: ['transaction_read_only is on'],
  })
  await setReadOnly('off')
  await world.ends('DATABASE_READ_ONLY')
})

test('LONG_TRANSACTION: begins when a transaction has been open for 15 minutes, and ends with it', async () => {
  await using world = await createConditionWorld()
  const { database } = world
  const transaction = await openTransaction(database.url, 'SELECT count(*) FROM job')
  await database.moveTime(14 * 60_000)
  await world.look()
  expect(await world.find('LONG_TRANSACTION')).toBeUndefined()
  await database.moveTime(60_000)
  expect(await world.begins('LONG_TRANSACTION')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^pid \d+ \(a person\), since \d{4}-/)],
  })
  await transaction[Symbol.asyncDispose]()
  await world.ends('LONG_TRANSACTION')
})

test('DEAD_ROWS: begins when a table has many dead rows because its autovacuum is off, and ends after a vacuum', async () => {
  await using world = await createConditionWorld()
  const { sql } = world.database.db
  await sql.query('ALTER TABLE question SET (autovacuum_enabled = off)')
  const longer = { statementMsMax: 60_000 }
  await world.database.db.transaction(async (slow) => {
    await slow.query(`INSERT INTO question (id, pool, kind, payload, deadline)
      SELECT 'question_' || n, 'sim', 'PASS', '{}', '2026-01-01Z' FROM generate_series(1, 510000) n`)
    await slow.query('DELETE FROM question')
  }, longer)
  const isCounted = async () =>
    (await sql.query(`SELECT FROM pg_stat_user_tables WHERE relname = 'question' AND n_dead_tup > 500000`)).length > 0
  await until(isCounted, { what: 'PostgreSQL has counted the dead rows' })
  expect(await world.begins('DEAD_ROWS')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^table question: 510000 dead rows, 0 live ones$/)],
  })
  await sql.query('VACUUM question')
  await world.ends('DEAD_ROWS')
})

test('CONNECTIONS_SHORT: begins when slow statements hold all connections of a server, and ends with them', async () => {
  await using database = await createDatabase()
  const busy = openDb({ address: { url: database.url }, connectionsMax: 2, log, applicationName: 'berth test' })
  {
    await using it = await createTestDomainOver(database.db)
    const conditions = watchConditions({ domain: it.domain, database, measuredDb: busy })
    for (let looks = 0; looks < 4; looks++) await conditions.look()
    expect(await conditions.find('CONNECTIONS_SHORT')).toBeUndefined()
    let isBusy = true
    const hold = async () => {
      while (isBusy) await busy.sql.query('SELECT pg_sleep(1.2)')
    }
    const holding = Promise.all(Array.from({ length: 4 }, hold))
    expect(await conditions.begins('CONNECTIONS_SHORT')).toMatchObject({
      severity: 'TICKET',
      evidence: [
        expect.stringMatching(/^server host0 \(pid 1\): a statement waited \d{4} ms for a connection of the server$/),
      ],
    })
    isBusy = false
    await holding
    await conditions.ends('CONNECTIONS_SHORT')
  }
  await busy.close()
})
