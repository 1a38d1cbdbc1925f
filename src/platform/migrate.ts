import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { advisoryLocks } from './advisory-locks.ts'
import type { Clock } from './clock.ts'
import { createPgClient, disconnect } from './connection.ts'
import type { Db } from './db.ts'
import type { Log } from './log.ts'
import { createLoop, type Loop } from './loop.ts'
import { readSqlState } from './tx.ts'
import { nameChannel } from './wakeup.ts'

/**
 * Brings a database to the schema of this version, inside this process.
 *
 * The record is Prisma's `_prisma_migrations`, so `prisma migrate deploy` and this function may take turns. A script
 * and its record are one transaction, in the session that holds the advisory lock: PostgreSQL finishes a script even
 * if the process that sent it is dead, and until then no other process begins. A record that `prisma migrate deploy`
 * left unfinished is marked as rolled back, and the script runs.
 */
export async function migrate(url: string, log: Log, directory?: string): Promise<void> {
  const migrations = await (directory === undefined ? readShipped() : readMigrations(directory))
  const client = createPgClient({
    address: { url },
    name: 'berth migrate',
    statementMsMax: migrationMsMax,
    direct: false, // omits the statement and lock timeouts of ordinary connections
  })
  client.on('error', (error) => log.warn({ err: error }, 'the connection of the migration broke'))
  await client.connect()
  try {
    await refuseUnfitServer(client)
    await client.query(`SET lock_timeout = ${migrationWaitMsMax}`)
    await client.query('SELECT pg_advisory_lock($1, 0)', [advisoryLocks.migration])
    const records = await readRecords(client)
    refuseForeign(migrations, records)
    let isNew = false
    for (const migration of migrations) {
      if (records.some((record) => record.migration_name === migration.name && record.finished_at !== null)) continue
      await apply(client, migration)
      log.info({ migration: migration.name }, 'migrated the database')
      isNew = true
    }
    if (isNew) await client.query(`NOTIFY ${nameChannel('schema')}`)
  } finally {
    await disconnect(client)
  }
}

/** Throws MigrationRefused if the server is too old, or the session leads to another schema. */
export async function refuseUnfitServer(client: pg.Client): Promise<void> {
  await refuseOldServer(client)
  await refuseOtherSchema(client)
}

/** Runs the scripts of `names` in the open transaction of the client. */
export async function replayMigrations(client: pg.Client, names: readonly string[]): Promise<void> {
  await client.query(recordTable)
  for (const migration of await readShipped()) if (names.includes(migration.name)) await apply(client, migration)
}

/** The migrations of this version, oldest first. */
export const listShippedMigrations = async (): Promise<AppliedMigration[]> =>
  (await readShipped()).map(({ name, checksum }) => ({ name, checksum }))

/** The migrations of a database, oldest first. */
export async function readAppliedMigrations(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name AS name, checksum FROM _prisma_migrations
     WHERE rolled_back_at IS NULL AND finished_at IS NOT NULL ORDER BY migration_name`,
  )
  return rows
}

/** Calls `end` once, when a newer version of Berth has migrated the database. */
export async function createMigrationWatch(
  { db, clock, log }: { db: Db; clock: Clock; log: Log },
  end: () => void,
): Promise<Loop> {
  const known = (await readShipped()).map(({ name }) => name)
  let hasEnded = false
  async function look() {
    if (hasEnded) return
    const [newer] = await db.sql.query<{ name: string }>(
      'SELECT migration_name AS name FROM _prisma_migrations WHERE rolled_back_at IS NULL AND migration_name <> ALL ($1)',
      [known],
    )
    if (!newer) return
    hasEnded = true
    log.warn({ migration: newer.name }, 'a newer version of Berth has migrated the database; this server ends')
    end()
  }
  return createLoop({ name: 'migrations', pollMs: watchMs, runOnce: look, clock, log })
}

export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

export interface AppliedMigration {
  name: string
  /** SHA-256 of the script, as Prisma writes it. */
  checksum: string
}

interface Migration extends AppliedMigration {
  script: string
}

interface MigrationRecord {
  migration_name: string
  checksum: string
  finished_at: Date | null
  /** Error of the script; null: it did not fail, or was interrupted. */
  logs: string | null
}

const migrationsDirectory = join(import.meta.dirname, '../../prisma/migrations')
const recordTable = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id varchar(36) PRIMARY KEY,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`
const serverVersionMin = 150_000
/** Maximum wait while another process migrates. */
const migrationWaitMsMax = 600_000
/** Long, because a script may rewrite every table. */
const migrationMsMax = 4 * 3_600_000
/** Poll interval, in case a notification is lost. */
const watchMs = 10_000

/** Reads the scripts once, because an upgrade may replace the folder while the process runs. */
const readShipped = () => (shipped ??= readMigrations(migrationsDirectory))
let shipped: Promise<Migration[]> | undefined

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

/** Models use the schema by name, hand-written statements follow the search_path. */
async function refuseOtherSchema(client: pg.Client) {
  const { rows } = await client.query<{ schema: string | null; path: string; remedy: string }>(
    `SELECT current_schema() AS schema, current_setting('search_path') AS path,
       format('ALTER ROLE %I IN DATABASE %I SET search_path = public', current_user, current_database()) AS remedy`,
  )
  const found = rows[0]
  if (!found || found.schema === 'public') return
  throw new MigrationRefused(
    `The search_path (${found.path}) leads to ${found.schema === null ? 'no schema' : `schema ${found.schema}`}, but the tables of Berth are in schema public: ${found.remedy}`,
  )
}

async function readRecords(client: pg.Client): Promise<MigrationRecord[]> {
  await client.query(recordTable)
  const { rows } = await client.query<MigrationRecord>(
    'SELECT migration_name, checksum, finished_at, logs FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  return rows
}

function refuseForeign(migrations: readonly Migration[], records: readonly MigrationRecord[]): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { migration_name: name, checksum, logs } of records) {
    const migration = known.get(name)
    if (!migration)
      throw new MigrationRefused(
        `The database was used by a newer version of Berth (migration ${name}): start that one`,
      )
    if (logs === null && migration.checksum !== checksum)
      throw new MigrationRefused(
        `Migration ${name} differs from the one that another build of Berth applied to this database: start that build`,
      )
  }
}

/** Sends the script as one message, which PostgreSQL executes as one transaction. */
async function apply(client: pg.Client, { name, script, checksum }: Migration): Promise<void> {
  const [id, sum, of] = [randomUUID(), checksum, name].map((text) => client.escapeLiteral(text))
  const statements = [
    `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = ${of} AND rolled_back_at IS NULL`,
    script,
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES (${id}, ${sum}, ${of}, now(), clock_timestamp(), 1)`,
  ]
  // The newline ends a comment at the end of the script.
  await client.query(statements.join('\n;\n')).catch((cause: unknown) => {
    const known = readSqlState(cause) !== undefined
    const what = known
      ? 'failed; the database is as it was before'
      : 'was cut off; the next start finds out whether it was done'
    throw new Error(`Migration ${name} ${what}`, { cause })
  })
}
