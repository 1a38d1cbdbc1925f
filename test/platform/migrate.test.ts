import { createHash, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSchemaEngine } from '../../prisma/schema-engine.ts'
import { type Db, openDb } from '../../src/platform/db.ts'
import { Prisma } from '../../src/platform/generated/client.ts'
import { createLog } from '../../src/platform/log.ts'
import { MigrationRefused, migrate } from '../../src/platform/migrate.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { killMigration } from '../support/killed-migration.ts'
import { createDoor } from '../support/outage.ts'
import { until } from '../support/until.ts'

const log = createLog('silent')
const shipped = join(import.meta.dirname, '../../prisma/migrations')
const names = readdirSync(shipped)
  .filter((name) => /^\d/.test(name))
  .sort()
/** Copies the shipped migrations, so that a test may change them. */
let directory: string
let db: Db

const server = await openDatabase()

beforeEach(async () => {
  const name = `empty_${randomUUID().replaceAll('-', '')}`
  await server.db.sql.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  const url = Object.assign(new URL(server.url), { pathname: name }).href
  db = openDb({ address: { url }, connectionsMax: 4, log, applicationName: 'berth test' })
  directory = makeDirectory()
  await cp(shipped, directory, { recursive: true })
})
afterEach(async () => {
  await db.close()
  await server.db.sql.query(`DROP DATABASE ${new URL(db.url).pathname.slice(1)} WITH (FORCE)`)
})

async function addMigration(name: string, script: string) {
  await mkdir(join(directory, name), { recursive: true })
  await writeFile(join(directory, name, 'migration.sql'), script)
}

const record = () =>
  db.sql.query(
    'SELECT migration_name, checksum, applied_steps_count FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY migration_name',
  )

describe('an empty database', () => {
  test('is refused and stays unchanged if its search_path leads to another schema', async () => {
    await db.sql.query('CREATE SCHEMA elsewhere')
    for (const [path, leads] of [
      ['elsewhere,public', 'schema elsewhere'],
      ['absent', 'no schema'],
    ] as const) {
      const url = new URL(db.url)
      url.searchParams.set('options', `-c search_path=${path}`)
      const refused = migrate(url.href, log)
      await expect(refused).rejects.toThrow(MigrationRefused)
      await expect(refused).rejects.toThrow(new RegExp(`leads to ${leads}, .*: ALTER ROLE .* SET search_path = public`))
    }
    const tables = await db.sql.query("SELECT 1 FROM pg_tables WHERE schemaname IN ('elsewhere', 'public')")
    expect(tables).toEqual([])
  })

  test('gets the schema that the Prisma client expects, model by model', async () => {
    await migrate(db.url, log)
    for (const name of Object.values(Prisma.ModelName)) {
      const delegate = `${name[0]?.toLowerCase()}${name.slice(1)}` as 'job'
      expect(await db.prisma[delegate].findMany({ take: 1 }), name).toBeInstanceOf(Array)
    }
  })

  test('has the migration records that Prisma writes', async () => {
    await migrate(db.url, log)
    const expected = await Promise.all(
      names.map(async (name) => {
        const script = await readFile(join(shipped, name, 'migration.sql'))
        const checksum = createHash('sha256').update(script).digest('hex')
        return { migration_name: name, checksum, applied_steps_count: 1 }
      }),
    )
    expect(await record()).toEqual(expected)
  })

  test('is migrated once by processes that start together', async () => {
    await Promise.all([migrate(db.url, log), migrate(db.url, log), migrate(db.url, log)])
    expect(await record()).toHaveLength(names.length)
  })
})

describe('a migrated database', () => {
  beforeEach(() => migrate(db.url, log, directory))

  test('gets only the new migrations', async () => {
    await addMigration('20990101000000_more', 'CREATE TABLE more (n int); -- a; b\nINSERT INTO more VALUES (1);')
    await migrate(db.url, log, directory)
    await migrate(db.url, log, directory)
    expect(await db.sql.query('SELECT n FROM more')).toEqual([{ n: 1 }])
    expect(await record()).toHaveLength(names.length + 1)
  })

  test('of a newer version is refused', async () => {
    await addMigration('20990101000000_more', 'CREATE TABLE more (n int)')
    await migrate(db.url, log, directory)
    await expect(migrate(db.url, log, shipped)).rejects.toThrow(
      new MigrationRefused(
        'The database was used by a newer version of Berth (migration 20990101000000_more): start that one',
      ),
    )
  })

  test('of another build of the same version is refused', async () => {
    await addMigration('20261124000000_berth', 'SELECT 1')
    await expect(migrate(db.url, log, directory)).rejects.toThrow(
      /differs from the one that another build of Berth applied to this database: start that build$/,
    )
  })

  test('accepts a migration that ends with a comment', async () => {
    await addMigration('20990101000000_more', 'CREATE TABLE more (n int) -- the end')
    await migrate(db.url, log, directory)
    expect(await record()).toHaveLength(names.length + 1)
  })

  test('is unchanged after a failed migration, and migrates once the migration is corrected', async () => {
    await addMigration('20990101000000_more', 'CREATE TABLE more (n int); SELECT 1 / 0')
    await expect(migrate(db.url, log, directory)).rejects.toMatchObject({ cause: { message: 'division by zero' } })
    expect(await db.sql.query("SELECT to_regclass('more') AS found")).toEqual([{ found: null }])
    await addMigration('20990101000000_more', 'CREATE TABLE more (n int)')
    await migrate(db.url, log, directory)
    expect(await record()).toHaveLength(names.length + 1)
  })
})

const moreRows = 'CREATE TABLE more (n int);\nINSERT INTO more VALUES (1);'
const addMore = () => addMigration('20990101000000_more', moreRows)
const newest = () =>
  db.sql.query(
    'SELECT finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL AND migration_name LIKE $1',
    ['%_more'],
  )

describe('an interrupted migration', () => {
  beforeEach(async () => {
    await migrate(db.url, log, directory)
    await addMore()
  })

  test.each([
    ['before its script was sent', 'CREATE TABLE more', { delivered: false }],
    ['while its script runs', 'CREATE TABLE more', { delivered: true }],
  ])('that broke off %s is completed by the next start', async (_, at, { delivered }) => {
    expect(await killMigration({ url: db.url, directory, at, delivered })).toBe('killed')
    await Promise.all([migrate(db.url, log, directory), migrate(db.url, log, directory)])
    expect(await db.sql.query('SELECT n FROM more')).toEqual([{ n: 1 }])
    expect(await record()).toHaveLength(names.length + 1)
    expect(await prismaHasToDo()).toEqual([])
  })

  test('is awaited by the next start while PostgreSQL still runs its script', async () => {
    await using gate = await db.pool.connect().then((client) => ({
      client,
      [Symbol.asyncDispose]: async () => client.release(true),
    }))
    await gate.client.query('SELECT pg_advisory_lock(42)')
    await addMigration('20990101000000_more', `${moreRows} SELECT pg_advisory_xact_lock(42);`)
    expect(await killMigration({ url: db.url, directory, at: 'CREATE TABLE more', delivered: true })).toBe('killed')
    const again = migrate(db.url, log, directory)
    await until(() => waiting(2), { what: 'the script and the next start wait' })
    await gate.client.query('SELECT pg_advisory_unlock(42)')
    await again
    expect(await db.sql.query('SELECT n FROM more')).toEqual([{ n: 1 }])
  })

  test('is not reported as undone if its connection broke, because PostgreSQL continues', async () => {
    await addMigration('20990101000000_more', `${moreRows} SELECT pg_sleep(1);`)
    const door = await createDoor(db.url)
    const migrating = migrate(door.url, log, directory)
    const failed = expect(migrating).rejects.toThrow('20990101000000_more was cut off')
    const running = () => db.sql.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    await until(async () => (await running()).length > 0, { what: 'its script runs' })
    await door.shut()
    await failed
    await migrate(db.url, log, directory)
    expect(await db.sql.query('SELECT n FROM more')).toEqual([{ n: 1 }])
  })

  const left = (logs: string | null) =>
    db.sql.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs) VALUES ('cut', $1, '20990101000000_more', $2)`,
      [createHash('sha256').update(moreRows).digest('hex'), logs],
    )

  test.each([
    ['before its script', null],
    ['with the failure of its script', 'division by zero'],
  ])('that prisma migrate deploy broke off %s is applied', async (_, logs) => {
    await left(logs)
    await migrate(db.url, log, directory)
    expect(await db.sql.query('SELECT n FROM more')).toEqual([{ n: 1 }])
    expect(await newest()).toEqual([{ finished: true }])
    expect(await prismaHasToDo()).toEqual([])
  })
})

const waiting = async (count: number) =>
  (await db.sql.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).length >= count

/** Lists the migrations that Prisma's own engine would apply. Throws if the engine does not understand the record. */
async function prismaHasToDo(): Promise<string[]> {
  const engine = await openSchemaEngine(new PrismaPg(db.pool, { disposeExternalPool: false }), log)
  const migrationDirectories = await Promise.all(
    readdirSync(directory)
      .filter((name) => /^\d/.test(name))
      .map(async (name) => {
        const value = await readFile(join(directory, name, 'migration.sql'), 'utf8')
        return { path: name, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } }
      }),
  )
  const lockfile = { path: 'migration_lock.toml', content: 'provider = "postgresql"' }
  try {
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: { baseDir: directory, lockfile, shadowDbInitScript: '', migrationDirectories },
      filters: { externalTables: [], externalEnums: [] },
    })
    return appliedMigrationNames
  } finally {
    engine.free()
  }
}
