import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { advisoryLocks } from './advisory-locks.ts'
import type { Log } from './log.ts'

/**
 * Brings a database to the schema of this version, inside this process.
 *
 * The record is Prisma's `_prisma_migrations`, so `prisma migrate deploy` and this function may take turns. Processes
 * that start together take an advisory lock: one migrates, the others wait and find nothing to do. The schema engine
 * (WASM) is loaded only when there is something to apply; otherwise a start costs one connection and three statements.
 *
 * Refused, with what to do: PostgreSQL older than 15; a database that knows a migration this version does not (it was
 * used by a newer one); a migration that failed half-way; a migration whose text is not the one that was applied.
 */
export async function migrate(url: string, log: Log, directory = migrationsDirectory): Promise<void> {
  const migrations = await readMigrations(directory)
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'berth migrate',
  })
  client.on('error', (error) => log.warn({ err: error }, 'the connection of the migration broke'))
  await client.connect()
  try {
    await refuseOldServer(client)
    await client.query(`SET lock_timeout = ${migrationWaitMsMax}`)
    await client.query('SELECT pg_advisory_lock($1, 0)', [advisoryLocks.migration])
    const missing = unapplied(migrations, await readApplied(client))
    if (missing.length > 0) await apply({ url, log, directory, migrations })
    for (const name of missing) log.info({ migration: name }, 'migrated the database')
  } finally {
    await client.end()
  }
}

/** The database cannot be used by this version; the message says what to do. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

interface Migration {
  name: string
  script: string
  /** SHA-256 of the script, as Prisma writes it. */
  checksum: string
}

interface Applied {
  migration_name: string
  checksum: string
  finished_at: Date | null
}

const migrationsDirectory = join(import.meta.dirname, '../../prisma/migrations')
const serverVersionMin = 150_000
/** How long a process waits for another one that migrates. */
const migrationWaitMsMax = 600_000

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(join(directory, name, 'migration.sql'), 'utf8')
      return { name, script, checksum: createHash('sha256').update(script).digest('hex') }
    }),
  )
}

async function refuseOldServer(client: pg.Client) {
  const { rows } = await client.query<{ version: string; number: number }>(
    "SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number",
  )
  const server = rows[0]
  if (server && server.number >= serverVersionMin) return
  throw new MigrationRefused(`PostgreSQL ${server?.version} is too old: Berth needs 15 or newer`)
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  const { rows } = await client.query<{ found: string | null }>("SELECT to_regclass('_prisma_migrations') AS found")
  if (!rows[0]?.found) return []
  const applied = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  return applied.rows
}

/** Names of the migrations still to be applied. */
function unapplied(migrations: readonly Migration[], applied: readonly Applied[]): string[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { migration_name: name, checksum, finished_at: finishedAt } of applied) {
    const migration = known.get(name)
    if (!migration)
      throw new MigrationRefused(
        `The database was used by a newer version of Berth (migration ${name}): start that one`,
      )
    if (finishedAt === null)
      throw new MigrationRefused(
        `Migration ${name} failed half-way: restore the backup, or repair by hand and mark it with \`prisma migrate resolve\``,
      )
    if (migration.checksum !== checksum)
      throw new MigrationRefused(
        `Migration ${name} is not the one that was applied to this database: it belongs to another build of Berth`,
      )
  }
  const done = new Set(applied.map((row) => row.migration_name))
  return migrations.map((migration) => migration.name).filter((name) => !done.has(name))
}

interface ApplyOptions {
  url: string
  log: Log
  directory: string
  migrations: readonly Migration[]
}

async function apply({ url, log, directory, migrations }: ApplyOptions) {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'berth migrate' })
  const scripts = wholeScripts(pool)
  const { openSchemaEngine } = await import('./schema-engine.ts')
  const engine = await openSchemaEngine(scripts.adapter, log)
  try {
    await engine.applyMigrations({ migrationsList: await listForEngine(directory, migrations), filters: noFilters })
  } catch (error) {
    const { failed } = scripts
    if (!failed) throw error
    // The script was undone as a whole: say so in the record, then the next start may try again.
    await pool.query(
      'UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL',
    )
    throw new Error('A migration failed; the database is as it was before', { cause: failed })
  } finally {
    engine.free()
    await pool.end()
  }
}

const noFilters = { externalTables: [], externalEnums: [] }

async function listForEngine(directory: string, migrations: readonly Migration[]): Promise<MigrationList> {
  const lockfile = 'migration_lock.toml'
  return {
    baseDir: directory,
    lockfile: { path: lockfile, content: await readFile(join(directory, lockfile), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  }
}

/**
 * adapter-pg cuts a script at every semicolon, also in comments and in bodies of functions, and sends the pieces one by
 * one. Here it is sent whole, as `prisma migrate deploy` does: PostgreSQL runs it as one transaction, so a migration
 * happens or does not (and must not contain COMMIT or CONCURRENTLY).
 */
function wholeScripts(pool: pg.Pool) {
  const factory = new PrismaPg(pool, { disposeExternalPool: false })
  const result: { adapter: SqlMigrationAwareDriverAdapterFactory; failed?: unknown } = { adapter: factory }
  const connect = factory.connect.bind(factory)
  factory.connect = async () => {
    const connection = await connect()
    connection.executeScript = async (script) => {
      await pool.query(script).catch((error: unknown) => {
        result.failed = error // the engine passes on no more than a number
        throw error
      })
    }
    return connection
  }
  return result
}
