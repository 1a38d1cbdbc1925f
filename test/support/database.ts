import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, inject } from 'vitest'
import { type Db, openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'

/**
 * Names of helpers for databases, domains and servers show who closes the result. `createX`, `startX`: the caller
 * (`await using`). `openX`: closed after the file. `openXForEach`: a new one for each test, closed after it.
 */

export interface TestDatabase extends AsyncDisposable {
  readonly db: Db
  readonly url: string
  /** Opens further connections, as a server does for streams and lists. They are closed with the others. */
  more(name: string, connectionsMax: number): Db
  /** Advances database time (`berth_now()`); advances add up. */
  moveTime(ms: number): Promise<void>
  /** Closes the connections and removes all rows. */
  close(): Promise<void>
}

/** Each connection fills its own caches: with ten, tests of the schema use an eighth more processor time. */
const connectionsMax = 4

/**
 * An unused database in the state after the migrations. Its connections stay open, because new ones would plan all
 * statements again.
 */
interface Kept {
  readonly name: string
  readonly url: string
  /** Connections by purpose. */
  readonly dbs: Map<string, Db>
  /** Identifies the state of the schema, which changes with every DDL statement on it. */
  readonly catalog: string
  /** true: its `berth_now()` can be advanced. */
  canMove: boolean
}

const unused: Kept[] = []

export interface TestDatabaseOptions {
  /** true: an unused copy of the template, for tests of query plans. Default: a used, emptied database. */
  isNew?: boolean
}

/**
 * Opens a migrated database: one that an earlier test of this worker has closed, or a copy of the template. It is used
 * again unless it was opened as new, or the test changed the schema or left connections or transactions open.
 */
export async function createDatabase({ isNew = false }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  if (isNew) return lend(await copyTemplate(), null)
  return lend(unused.pop() ?? (await copyTemplate()), unused)
}

export async function openDatabase(options?: TestDatabaseOptions): Promise<TestDatabase> {
  const database = await createDatabase(options)
  afterAll(database.close)
  return database
}

/** A proxy to the database of the current test: read its fields inside a test. It closes after later `afterEach`s. */
export function openDatabaseForEach(options?: TestDatabaseOptions): TestDatabase {
  let current: TestDatabase | undefined
  beforeEach(async () => {
    current = await createDatabase(options)
  })
  afterEach(() => current?.close())
  return proxyTo(() => current)
}

export const proxyTo = <Target extends object>(current: () => Target | undefined): Target =>
  new Proxy({} as Target, { get: (_, field) => Reflect.get(current() ?? {}, field) })

function lend(kept: Kept, to: Kept[] | null): TestDatabase {
  const revokes: (() => void)[] = []
  let movedMs = 0
  let closed: Promise<void> | undefined
  // A loop that a test did not stop must not write to the database of the next test.
  const more = (name: string, max: number) => {
    const { proxy, revoke } = Proxy.revocable(open(kept, name, max), { get: keepOpen })
    revokes.push(revoke)
    return proxy
  }
  async function end() {
    for (const revoke of revokes) revoke()
    if (to && (await empty(kept).catch(() => false))) to.push(kept)
    else await drop(kept)
  }
  const db = more('test', connectionsMax)
  const close = () => {
    closed ??= end()
    return closed
  }
  return {
    db,
    url: kept.url,
    more,
    async moveTime(ms) {
      if (!kept.canMove) await db.sql.query(movableNow)
      kept.canMove = true
      movedMs += Math.round(ms)
      await db.sql.query(`SELECT setval('test.moved_ms', ${movedMs})`)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const keepOpen = (db: Db, key: string | symbol) => (key === 'close' ? async () => undefined : Reflect.get(db, key))

function open({ url, dbs }: Pick<Kept, 'url' | 'dbs'>, name: string, max: number): Db {
  const known = dbs.get(name)
  if (known) return known
  const db = openDb({ address: { url }, connectionsMax: max, log: createLog('error'), applicationName: 'berth test' })
  dbs.set(name, db)
  return db
}

/**
 * Database time is ahead by the last value of a sequence. Replacing the function at each advance would invalidate all
 * plans.
 */
const movableNow = `CREATE OR REPLACE FUNCTION berth_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT date_trunc('milliseconds', clock_timestamp()
    + coalesce(pg_sequence_last_value('test.moved_ms'), 0) * interval '1 millisecond') $$`

async function copyTemplate(): Promise<Kept> {
  const template = new URL(inject('templateUrl'))
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // Copying files takes half the processor time of copying pages through the WAL.
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)} STRATEGY file_copy`)
  const url = Object.assign(new URL(template), { pathname: name }).href
  const dbs = new Map<string, Db>()
  const db = open({ url, dbs }, 'test', connectionsMax)
  await db.sql.query('CREATE SCHEMA test')
  await db.sql.query('CREATE SEQUENCE test.moved_ms MINVALUE -1000000000000 START 1')
  await createEmptying(db)
  const { catalog } = await readState(db)
  return { name, url, dbs, catalog, canMove: false }
}

async function drop({ dbs, name }: Kept) {
  await Promise.all([...dbs.values()].map((db) => db.close()))
  await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

/** Objects that initdb did not create have numbers from here on. */
const firstOid = 16_384

/**
 * Number of sessions of the database, and the state of its schema. Vacuum updates catalog rows in place, so the xmin of
 * a row changes only with DDL.
 */
const stateSql = (() => {
  const catalogs = [
    `pg_class WHERE oid >= ${firstOid}`,
    `pg_attribute WHERE attrelid >= ${firstOid}`,
    `pg_constraint WHERE oid >= ${firstOid}`,
    `pg_index WHERE indexrelid >= ${firstOid}`,
    `pg_trigger WHERE oid >= ${firstOid}`,
    `pg_proc WHERE oid >= ${firstOid} AND proname <> 'berth_now'`, // `moveTime` replaces it
    'pg_db_role_setting',
    'pg_database WHERE datname = current_database()',
  ]
  const states = catalogs.map((rows) => `(SELECT count(*) || ' ' || sum(xmin::text::bigint) FROM ${rows})`)
  return `SELECT concat_ws(',', ${states.join(', ')}) AS catalog, (SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend') AS sessions`
})()

interface State {
  catalog: string
  sessions: number
}

async function readState({ sql }: Pick<Db, 'sql'>): Promise<State> {
  const [state] = await sql.query<State>(stateSql, [], 'state')
  if (!state) throw new Error('The database returned no row for its state')
  return state
}

/**
 * Creates the function that deletes all rows, inserts those of the migrations, and returns the total size of the
 * tables. DELETE takes a twentieth of the time of TRUNCATE, and a function keeps its plans.
 */
async function createEmptying({ sql }: Db): Promise<void> {
  const tables = await sql.query<{ name: string }>(
    "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  )
  const names = tables.map(({ name }) => name).filter((name) => name !== '_prisma_migrations')
  const seeds = await Promise.all(
    names.map(async (name) => {
      const [row] = await sql.query<{ rows: string | null }>(`SELECT json_agg(t)::text AS rows FROM ${name} t`)
      if (!row?.rows) return []
      return [`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${pg.escapeLiteral(row.rows)})`]
    }),
  )
  const statements = [
    ...names.map((name) => `DELETE FROM ${name}`),
    ...seeds.flat(),
    "PERFORM setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'",
    `RETURN (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND oid >= ${firstOid})`,
  ]
  await sql.query(
    `CREATE FUNCTION test.empty() RETURNS bigint LANGUAGE plpgsql AS $empty$ BEGIN ${statements.join(';\n')}; END $empty$`,
  )
}

/**
 * The connection that empties a database, without triggers and foreign keys. On a connection of the tests, changing
 * this setting would remove the plans of all statements.
 */
function openKeeper(kept: Kept): Db {
  const url = new URL(kept.url)
  url.searchParams.set('options', '-c session_replication_role=replica')
  return open({ url: url.href, dbs: kept.dbs }, 'keeper', 1)
}

/** false: the database cannot be used again. */
async function empty(kept: Kept): Promise<boolean> {
  const pools = [...kept.dbs].flatMap(([name, { pool }]) => (name === 'keeper' ? [] : [pool]))
  if (pools.some((each) => each.ended || each.idleCount < each.totalCount)) return false
  const count = pools.reduce((sum, { totalCount }) => sum + totalCount, 0)
  const keeper = openKeeper(kept)
  if (!(await isLeft(kept, keeper, count + 1))) return false
  const clients = await Promise.all(
    pools.flatMap((each) => Array.from({ length: each.totalCount }, () => each.connect())),
  )
  await Promise.all(clients.map((client) => client.query('RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all()')))
  for (const client of clients) client.release()
  const [row] = await keeper.sql.query<{ bytes: number }>('SELECT test.empty() AS bytes', [], 'empty')
  return row !== undefined && row.bytes < bytesMax
}

/** Deleted rows keep their space, because autovacuum is off. */
const bytesMax = 12e6

const leaveMsMax = 1_000
const leavePollMs = 5

/** Whether the schema is unchanged and all other connections end, which PostgreSQL notices after a moment. */
async function isLeft({ catalog }: Kept, keeper: Db, sessions: number): Promise<boolean> {
  const endMs = performance.now() + leaveMsMax
  for (;;) {
    const state = await readState(keeper)
    if (state.catalog !== catalog) return false
    if (state.sessions <= sessions) return true
    if (performance.now() > endMs) return false
    await setTimeout(leavePollMs)
  }
}

/** Connects to the maintenance database, because a template must not have sessions while it is copied. */
async function administer(statement: string) {
  const address = Object.assign(new URL(inject('templateUrl')), { pathname: 'postgres' }).href
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
