import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, inject } from 'vitest'
import { type Db, openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'

/**
 * The names of helpers for databases, domains and servers say who closes what they answer. `createX`, `startX`: the
 * caller (`await using`). `openX`: it closes after the file. `openXForEach`: a new one for each test.
 */

export interface TestDatabase extends AsyncDisposable {
  readonly db: Db
  readonly url: string
  /** Further connections, as a server has for streams and for lists. They end with the others. */
  more(name: string, connectionsMax: number): Db
  /** Moves database time (`berth_now()`) on; moves add up. */
  moveTime(ms: number): Promise<void>
  /** Ends the connections and removes all rows. */
  close(): Promise<void>
}

/** Each connection fills caches of its own: with ten, tests of the schema use an eighth more processor time. */
const connectionsMax = 4

/** A database that is not in use, as the migrations left it. Its connections stay open: new ones plan all statements again. */
interface Kept {
  readonly name: string
  readonly url: string
  /** Names say what the connections are for. */
  readonly dbs: Map<string, Db>
  /** The state of the schema: it changes with every DDL statement. */
  readonly catalog: string
  /** Whether its `berth_now()` can be moved. */
  canMove: boolean
}

const unused: Kept[] = []

export interface TestDatabaseOptions {
  /** A copy of the template that no test has used, for tests of query plans. Default: a used, emptied database. */
  isNew?: boolean
}

/**
 * A migrated database for a test file or a test: one that an earlier test of this worker has closed, or a copy of the
 * template. It is used again unless it is new, or the test has changed the schema, or has left connections or
 * transactions open.
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
  // A loop that a test forgot to stop must not write into the database of the next test.
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

/** Database time is ahead by the last value of a sequence: a new function would invalidate all plans at each move. */
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

/** Numbers of objects that initdb did not make begin here. */
const firstOid = 16_384

/**
 * The sessions of the database, and the state of its schema. Vacuum changes rows of the catalog in place, so a row has
 * another xmin only after DDL.
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
 * Deletes all rows, adds those that the migrations add, and returns how many bytes the tables have. DELETE takes a
 * twentieth of the time of TRUNCATE, and a function keeps its plans.
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
    `RETURN (SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relkind IN ('r', 't') AND oid >= ${firstOid})`,
  ]
  await sql.query(
    `CREATE FUNCTION test.empty() RETURNS bigint LANGUAGE plpgsql AS $empty$ BEGIN ${statements.join(';\n')}; END $empty$`,
  )
}

/**
 * The connection that empties a database, without triggers and foreign keys. On a connection of the tests this setting
 * would remove the plans of all statements, each time that it is changed.
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

/**
 * Whether the schema is unchanged and all other connections end: PostgreSQL notices a moment later that a client has
 * closed one.
 */
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

/** Uses a session in the maintenance database: a template must not have sessions while it is copied. */
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
