import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createPgClient, disconnect } from '../../src/platform/connection.ts'
import { type Db, openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import { isUnavailable, Unavailable } from '../../src/platform/tx.ts'
import { openDatabase } from '../support/database.ts'
import { createDoor, type Door } from '../support/outage.ts'
import { until } from '../support/until.ts'

/** A database that does not respond: every wait for it ends, and no late response is used. */
let door: Door
let opened: Db[] = []

const database = await openDatabase()
beforeAll(async () => {
  door = await createDoor(database.url)
  await database.db.sql.query('CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL)')
  await database.db.sql.query('INSERT INTO counter VALUES (1, 0)')
})
afterEach(async () => {
  door.thaw()
  await Promise.all(opened.map((db) => db.close()))
  opened = []
})
afterAll(() => door.shut())

function open(connectionsMax = 4): Db {
  const db = openDb({ address: door, connectionsMax, log: createLog('silent'), applicationName: 'berth silent' })
  opened.push(db)
  return db
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('statements on lost connections fail within their timeout, which also closes the idle connections', async () => {
  const db = open()
  await Promise.all(Array.from({ length: 4 }, () => db.sql.query('SELECT pg_sleep(0.05)')))
  door.strand()
  const count = () =>
    db.transaction(
      async (sql) => {
        await sql.query('UPDATE counter SET n = n + 1')
        await sql.query('SELECT 1')
      },
      { statementMsMax: 700 },
    )
  const failures = await Promise.all([failure(count()), failure(count())])
  for (const error of failures) expect(error).toBeInstanceOf(Unavailable)
  // The other two connections were idle, so no further failure occurs before the database is used again.
  expect(await db.sql.query('SELECT n FROM counter')).toEqual([{ n: 0 }])
  expect(await db.prisma.user.count()).toBe(0)
})

test('the connection of a timed-out statement is closed, so that its response is not read as that of another one', async () => {
  const db = open(1)
  const [before] = await db.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const given = failure(db.transaction((sql) => sql.query("SELECT 'late'", [], 'late'), { statementMsMax: 700 }))
  door.freeze()
  expect(isUnavailable(((await given) as Error).cause)).toBe(true)
  door.thaw()
  const [after] = await db.sql.query<{ pid: number; text: string }>("SELECT pg_backend_pid() AS pid, 'own' AS text")
  expect(after?.text).toBe('own')
  expect(after?.pid).not.toBe(before?.pid)
})

test('a connection to a database that does not respond times out, while connecting and afterwards', async () => {
  const own = () => createPgClient({ address: door, name: 'berth own', statementMsMax: 700, direct: true })
  const [open, late] = [own(), own()]
  for (const client of [open, late]) client.on('error', () => undefined)
  await open.connect()
  door.freeze()
  const [statement, connection] = await Promise.all([failure(open.query('SELECT 1')), failure(late.connect())])
  expect([statement, connection].map(isUnavailable)).toEqual([true, true])
  door.thaw()
  await Promise.all([open, late].map(disconnect))
})

test('the database cancels a slow statement before the client times out, unless the statement has a longer limit', async () => {
  const db = open(1)
  const pidOf = async () => (await db.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid
  const before = await pidOf()
  const slow = (statementMsMax: number) =>
    failure(db.transaction((sql) => sql.query('SELECT pg_sleep(0.4)'), { statementMsMax }))
  expect(((await slow(600)) as Error).cause).toMatchObject({ code: '57014' })
  expect(await slow(5_000)).toBeUndefined()
  expect(await pidOf()).toBe(before)
})

test('a session sets its own timeouts and keepalives, and turns off JIT', async () => {
  const limits = {
    statement_timeout: '6s',
    lock_timeout: '5s',
    idle_in_transaction_session_timeout: '3s',
    tcp_keepalives_idle: '5',
    tcp_user_timeout: '10000',
    jit: 'off',
  }
  const shown = Object.keys(limits).map((name) => `current_setting('${name}') AS ${name}`)
  expect(await open(1).sql.query(`SELECT ${shown.join(', ')}`)).toEqual([limits])
})

/** Lists TCP timers of Linux for connections to this port: which timer, and in how many hundredths of a second. */
async function timersTo(port: number) {
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  const isThere = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16) === port
  return rows.flatMap(([, , remote, , , timer = '']) =>
    isThere(remote) ? [timer.split(':').map((part) => Number.parseInt(part, 16))] : [],
  )
}

const keepAliveTimer = 2

test.runIf(process.platform === 'linux')('the client probes a database that was silent for 5 s', async () => {
  await open(1).sql.query('SELECT 1')
  const isProbed = async () => {
    const timers = await timersTo(Number(new URL(door.url).port))
    return timers.some(([timer, inHundredths = Number.NaN]) => timer === keepAliveTimer && inHundredths <= 500)
  }
  await until(isProbed, { what: 'a timer of probes runs' })
})

test('options in the database URL override the defaults', async () => {
  const url = `${door.url}?options=-c%20tcp_keepalives_idle%3D77`
  const db = openDb({ address: { url }, connectionsMax: 1, log: createLog('silent'), applicationName: 'berth silent' })
  opened.push(db)
  const [row] = await db.sql.query(
    "SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_user_timeout') AS sent",
  )
  expect(row).toEqual({ idle: '77', sent: '10000' })
})

test('the pool connects again if the database restarts at another address', async () => {
  const second = await createDoor(database.url)
  let now: Door = door
  const address = {
    get url() {
      return now.url
    },
  }
  const db = openDb({ address, connectionsMax: 2, log: createLog('silent'), applicationName: 'berth silent' })
  opened.push(db)
  await db.sql.query('SELECT 1')
  now = second
  door.reset()
  await until(() => db.sql.query('SELECT 1').catch(() => null), { what: 'it is found' })
  expect(await db.prisma.user.count()).toBe(0)
  await db.close()
  opened = []
  await second.shut()
})

test.each([true, false])('prepared statements have names only on direct connections (direct: %s)', async (direct) => {
  const log = createLog('silent')
  const db = openDb({ address: door, connectionsMax: 1, log, applicationName: 'berth names', direct })
  opened.push(db)
  await db.sql.query('SELECT 1', [], 'of_the_pool')
  await db.transaction((sql) => sql.query('SELECT 2', [], 'of_a_transaction'))
  const named = await db.sql.query("SELECT name FROM pg_prepared_statements WHERE name LIKE 'of_%' ORDER BY name")
  expect(named).toEqual(direct ? [{ name: 'of_a_transaction' }, { name: 'of_the_pool' }] : [])
})
