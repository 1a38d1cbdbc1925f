import { EventEmitter } from 'node:events'
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import {
  brokenConstraint,
  endingTransaction,
  inTransaction,
  isUnavailable,
  readSqlState,
  type Sql,
  Unavailable,
  withDatabaseRetries,
} from '../../src/platform/tx.ts'
import { openDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const database = await openDatabase()
beforeAll(() => database.db.sql.query('CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL)'))
beforeEach(() => database.db.sql.query('TRUNCATE counter'))

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('readSqlState', () => {
  test('returns the code of an error of pg', async () => {
    const error = await failure(database.db.sql.query('SELECT 1 / 0'))
    expect(readSqlState(error)).toBe('22012')
  })

  test('returns undefined for other errors', () => {
    for (const other of [undefined, null, 'text', new Error('x'), { code: 'ENOENT' }, { code: 'P2025' }])
      expect(readSqlState(other)).toBeUndefined()
  })
})

describe('isUnavailable', () => {
  test('is true for a missing socket, and false for a missing file', () => {
    const missing = (syscall: string) => Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall })
    expect(isUnavailable(missing('connect'))).toBe(true)
    expect(isUnavailable(missing('scandir'))).toBe(false)
  })
})

describe('brokenConstraint', () => {
  const insert = 'INSERT INTO counter VALUES (7, 0), (7, 1)'

  test('returns the constraint of an error of pg', async () => {
    expect(brokenConstraint(await failure(database.db.sql.query(insert)))).toBe('counter_pkey')
  })

  test('returns undefined for an error without a constraint', () => {
    for (const other of [undefined, null, 'text', new Error('x'), { code: '40001' }])
      expect(brokenConstraint(other)).toBeUndefined()
  })
})

test('settings of a transaction end with the transaction', async () => {
  const db = openDb({
    address: { url: database.url },
    connectionsMax: 1,
    log: createLog('silent'),
    applicationName: 'berth test',
  })
  const read = (sql: Sql) => sql.query("SELECT current_setting('work_mem') AS memory")
  const before = await read(db.sql)
  expect(await db.transaction(read, { settings: { work_mem: '64kB' } })).toEqual([{ memory: '64kB' }])
  expect(await read(db.sql)).toEqual(before)
  await db.close()
})

describe('isUnavailable over a lost connection', () => {
  const unreachable = () =>
    openDb({
      address: { url: 'postgresql://nobody:x@127.0.0.1:1/none' },
      connectionsMax: 1,
      log: createLog('silent'),
      applicationName: 'berth test',
    })

  test('is true for an unreachable server, through pg and through Prisma', async () => {
    const db = unreachable()
    expect(isUnavailable(await failure(db.sql.query('SELECT 1')))).toBe(true)
    expect(isUnavailable(await failure(db.prisma.user.count()))).toBe(true)
    await db.close()
  })

  test('is true for a terminated session', async () => {
    const ended = failure(database.db.sql.query('SELECT pg_terminate_backend(pg_backend_pid())'))
    expect(isUnavailable(await ended)).toBe(true)
  })

  test('is true for a pool closed during a request', async () => {
    const db = unreachable()
    await db.close()
    expect(isUnavailable(await failure(db.sql.query('SELECT 1')))).toBe(true)
  })

  test('is true for a broken pipe, although its code looks like an SQLSTATE', () => {
    expect(isUnavailable(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))).toBe(true)
  })

  test('is false for an error in the statement', async () => {
    expect(isUnavailable(await failure(database.db.sql.query('SELECT nothing')))).toBe(false)
    expect(isUnavailable(new TypeError('x'))).toBe(false)
  })
})

describe('withDatabaseRetries', () => {
  const serialization = Object.assign(new Error('could not serialize'), { code: '40001' })

  test('retries errors that PostgreSQL defines as retryable', async () => {
    let tries = 0
    const work = async () => {
      tries += 1
      if (tries < 3) throw serialization
      return tries
    }
    expect(await withDatabaseRetries(8, work)).toBe(3)
  })

  test('throws the reason after the last attempt', async () => {
    let tries = 0
    const error = await failure(
      withDatabaseRetries(3, async () => {
        tries += 1
        throw serialization
      }),
    )
    expect(tries).toBe(3)
    expect(error).toBeInstanceOf(Unavailable)
    expect(error).toMatchObject({ cause: serialization })
  })

  test('does not retry other errors', async () => {
    const mistake = new TypeError('x')
    let tries = 0
    const work = async () => {
      tries += 1
      throw mistake
    }
    expect(await failure(withDatabaseRetries(3, work))).toBe(mistake)
    expect(tries).toBe(1)
  })

  test('retries errors that its caller chooses', async () => {
    let tries = 0
    const work = async () => {
      tries += 1
      if (tries === 1) throw new TypeError('x')
    }
    await withDatabaseRetries(3, work, (error) => error instanceof TypeError)
    expect(tries).toBe(2)
  })
})

describe('a transaction', () => {
  const increment = () =>
    database.db.transaction(
      async (sql) => {
        const [row] = await sql.query<{ n: number }>('SELECT n FROM counter WHERE id = 1')
        await sql.query('UPDATE counter SET n = $1 WHERE id = 1', [(row?.n ?? 0) + 1])
      },
      { isolation: 'SERIALIZABLE', tries: 50 },
    )

  test('loses no update under contention', async () => {
    await database.db.sql.query('INSERT INTO counter VALUES (1, 0)')
    await Promise.all(Array.from({ length: 8 }, increment))
    expect(await database.db.sql.query('SELECT n FROM counter')).toEqual([{ n: 8 }])
  })

  test('that throws leaves no rows', async () => {
    const mistake = new Error('changed my mind')
    const work = database.db.transaction(async (sql) => {
      await sql.query('INSERT INTO counter VALUES (1, 0)')
      throw mistake
    })
    expect(await failure(work)).toBe(mistake)
    expect(await database.db.sql.query('SELECT n FROM counter')).toEqual([])
  })

  test('whose session ends between two statements fails as unavailable, and the pool stays usable', async () => {
    const error = await failure(
      database.db.transaction(async (sql) => {
        const [row] = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
        const sessions = () =>
          database.db.sql.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1', [row?.pid])
        await until(async () => (await sessions()).length === 0, { what: 'the session is gone' })
        await sql.query('SELECT 1')
      }),
    )
    expect(error).toBeInstanceOf(Unavailable)
    expect(await database.db.sql.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('whose last write fails leaves no rows, and throws the error of that write', async () => {
    const work = database.db.endingTransaction(async (sql) => ({
      result: 'taken',
      writes: Promise.all([
        sql.query('INSERT INTO counter VALUES (1, 0)'),
        sql.query('INSERT INTO counter VALUES (1, 0)'),
        sql.query('INSERT INTO counter VALUES (2, 0)'),
      ]),
    }))
    expect(readSqlState(await failure(work))).toBe('23505')
    expect(await database.db.sql.query('SELECT n FROM counter')).toEqual([])
  })

  test('throws the first of several errors', async () => {
    const work = database.db.transaction(async (sql) => {
      await Promise.all([sql.query('SELECT 1 / 0'), sql.query('SELECT 1')])
    })
    expect(readSqlState(await failure(work))).toBe('22012')
  })

  test('whose connection breaks at BEGIN causes no unhandled rejection', async () => {
    const lost = new Error('Connection terminated unexpectedly')
    const query = () => new Promise((_, reject) => setImmediate(reject, lost))
    const client = Object.assign(new EventEmitter(), { query, release: () => undefined })
    const pool = { connect: async () => client } as unknown as pg.Pool
    const unheard: unknown[] = []
    const hear = (error: unknown) => unheard.push(error)
    process.on('unhandledRejection', hear)
    const work = endingTransaction(pool, async (sql) => ({ result: 1, writes: sql.query('SELECT 1') }), { tries: 1 })
    expect(await failure(work)).toBeInstanceOf(Error)
    await new Promise(setImmediate)
    process.off('unhandledRejection', hear)
    expect(unheard).toEqual([])
  })

  test('whose BEGIN fails waits for its work, and the work writes no rows afterwards', async () => {
    const pause = new Promise((resolve) => setTimeout(resolve, 100))
    const work = async (sql: Sql) => {
      await pause
      return sql.query('INSERT INTO counter VALUES (1, 0)')
    }
    const refused = { settings: { statement_timeout: 'not a time' } }
    expect(readSqlState(await failure(inTransaction(database.db.pool, work, refused)))).toBe('22023')
    await pause
    expect(await database.db.sql.query('SELECT n FROM counter')).toEqual([])
  })

  test('reads 64-bit integers as numbers', async () => {
    expect(await inTransaction(database.db.pool, (sql) => sql.query('SELECT 1::int8 AS n'))).toEqual([{ n: 1 }])
  })
})
