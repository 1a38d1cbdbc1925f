import { createHash, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Db, openDb } from '../../src/platform/db.ts'
import { Prisma } from '../../src/platform/generated/client.ts'
import { createLog } from '../../src/platform/log.ts'
import { MigrationRefused, migrate } from '../../src/platform/migrate.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

const log = createLog('silent')
const shipped = join(import.meta.dirname, '../../prisma/migrations')
const names = readdirSync(shipped)
  .filter((name) => /^\d/.test(name))
  .sort()
let server: TestDatabase
/** A copy of the shipped migrations that a test may change. */
let directory: string
let db: Db

beforeAll(async () => {
  server = await createDatabase()
})
afterAll(() => server.close())

beforeEach(async () => {
  const name = `empty_${randomUUID().replaceAll('-', '')}`
  await server.db.sql.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  const url = Object.assign(new URL(server.url), { pathname: name }).href
  db = openDb({ url, connectionsMax: 4, log, applicationName: 'berth test' })
  directory = await mkdtemp(join(tmpdir(), 'berth-migrations-'))
  await cp(shipped, directory, { recursive: true })
})
afterEach(async () => {
  await db.close()
  await server.db.sql.query(`DROP DATABASE ${new URL(db.url).pathname.slice(1)} WITH (FORCE)`)
  await rm(directory, { recursive: true, force: true })
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
  test('gets the schema that the client reads, model by model', async () => {
    await migrate(db.url, log)
    for (const name of Object.values(Prisma.ModelName)) {
      const delegate = `${name[0]?.toLowerCase()}${name.slice(1)}` as 'job'
      expect(await db.prisma[delegate].findMany({ take: 1 }), name).toBeInstanceOf(Array)
    }
  })

  test('keeps the record that Prisma keeps', async () => {
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

  test('gets the migrations that are new, and no other', async () => {
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

  test('of another build is refused', async () => {
    await addMigration('20261121000000_foundation', 'SELECT 1')
    await expect(migrate(db.url, log, directory)).rejects.toThrow(/not the one that was applied/)
  })

  test('is as before when a migration fails, and migrates once that is repaired', async () => {
    await addMigration('20990101000000_more', 'CREATE TABLE more (n int); SELECT 1 / 0')
    await expect(migrate(db.url, log, directory)).rejects.toMatchObject({ cause: { message: 'division by zero' } })
    expect(await db.sql.query("SELECT to_regclass('more') AS found")).toEqual([{ found: null }])
    await addMigration('20990101000000_more', 'CREATE TABLE more (n int)')
    await migrate(db.url, log, directory)
    expect(await record()).toHaveLength(names.length + 1)
  })

  test('whose migration was cut off is refused: nobody knows what happened', async () => {
    await db.sql.query('UPDATE _prisma_migrations SET finished_at = NULL')
    await expect(migrate(db.url, log, directory)).rejects.toThrow(/failed half-way/)
  })
})
