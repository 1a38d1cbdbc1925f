import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { adoptRestoredRows } from '../domain/restored.ts'
import { forgetContents } from '../domain/snapshots/removal.ts'
import { advisoryLocks } from '../platform/advisory-locks.ts'
import type { Address } from '../platform/connection.ts'
import type { Log } from '../platform/log.ts'
import { listShippedMigrations, migrate, refuseUnfitServer, replayMigrations } from '../platform/migrate.ts'
import { pgSql } from '../platform/tx.ts'
import { type ArchiveFile, checkArchive, readFiles } from './archive-reader.ts'
import { findObject, quote, readRebuilds, readTables } from './catalog.ts'
import { withConnection } from './database.ts'
import { BackupRefused, type Manifest, type PartEntry, type TableEntry } from './manifest.ts'
import type { Progress } from './progress-line.ts'

/**
 * Restores a backup into an empty database, in one transaction: afterwards the database has all rows or is empty. The
 * steps are: verify the checksums of the whole file, check the database, create the schema by the migrations of the
 * backup, copy rows, create indexes and constraints, adapt rows to the database, commit, run newer migrations.
 */

export interface RestoreOptions {
  file: string
  address: Address
  log: Log
  /** Ends the restore and leaves the database empty. The restore throws the reason of the signal. */
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

/** `maintenance_work_mem` while indexes are created. */
const indexMemory = '256MB'

export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const { file, address, log, signal } = options
  const manifest = await checkArchive(file)
  await refuseOtherMigrations(file, manifest)
  await withConnection({ address, name: 'berth restore', signal }, async (client) => {
    await refuseUnfitServer(client)
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1, 0)', [advisoryLocks.migration])
    await refuseOtherDatabase(client)
    await fill(client, manifest, options)
    await client.query('COMMIT')
    await client.query('ANALYZE')
  })
  await migrate(address.url, log)
  return manifest
}

/** An older backup is restored with its own migrations; a newer one has migrations that this version lacks. */
async function refuseOtherMigrations(file: string, { berthVersion, migrations }: Manifest) {
  const shipped = new Map((await listShippedMigrations()).map(({ name, checksum }) => [name, checksum]))
  for (const { name, checksum } of migrations) {
    const known = shipped.get(name)
    if (known === undefined)
      throw new BackupRefused(
        `${file} was made by a newer version of Berth (${berthVersion}, migration ${name}): restore it with that one`,
      )
    if (known !== checksum)
      throw new BackupRefused(
        `${file} was made by another build of Berth (${berthVersion}), whose migration ${name} differs: restore it with that one`,
      )
  }
}

async function refuseOtherDatabase(client: pg.Client) {
  const found = await findObject(client)
  if (found !== null)
    throw new BackupRefused(`the database is not empty: it has ${found}; restore into a new database or data directory`)
  const { rows } = await client.query<{ encoding: string; mayCreate: boolean; role: string; database: string }>(
    `SELECT current_setting('server_encoding') AS encoding, has_schema_privilege('public', 'CREATE') AS "mayCreate",
       current_user AS role, current_database() AS database`,
  )
  const [{ encoding, mayCreate, role, database } = { encoding: '', mayCreate: false, role: '', database: '' }] = rows
  if (encoding !== 'UTF8')
    throw new BackupRefused(`the database ${database} has the encoding ${encoding}: create it with ENCODING 'UTF8'`)
  if (!mayCreate)
    throw new BackupRefused(`${role} may not create tables in ${database}: ALTER DATABASE ${database} OWNER TO ${role}`)
}

async function fill(client: pg.Client, manifest: Manifest, options: RestoreOptions) {
  await client.query(`SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL datestyle = 'ISO'; SET LOCAL maintenance_work_mem = '${indexMemory}'`)
  await replayMigrations(
    client,
    manifest.migrations.map(({ name }) => name),
  )
  const tables = (await readTables(client)).map(({ name }) => quote(name))
  const rebuilds = await readRebuilds(client)
  for (const { drop } of rebuilds) await client.query(drop)
  await client.query(`TRUNCATE ${tables.join(', ')}`)
  for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
  await copyRows(client, manifest, options)
  for (const { add } of rebuilds.toReversed()) await client.query(add)
  for (const table of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
  for (const { name, lastValue, isCalled } of manifest.sequences)
    await client.query('SELECT setval($1::regclass, $2, $3)', [quote(name), lastValue, isCalled])
  await adoptRestoredRows(pgSql(client))
  if (!manifest.withFiles) await forgetContents(pgSql(client))
}

async function copyRows(client: pg.Client, { tables }: Manifest, { file, onProgress }: RestoreOptions) {
  const targets = new Map(tables.flatMap((table) => table.parts.map((part) => [part.name, { table, part }] as const)))
  let bytes = 0
  for await (const found of readFiles(file)) {
    const target = targets.get(found.name)
    if (target) {
      await copyPart(client, found, target)
      targets.delete(found.name)
      bytes += target.part.bytes
      onProgress({ table: target.table.name, bytes })
    } else for await (const _ of found.body);
  }
  const [missing] = targets.keys()
  if (missing !== undefined) throw changedWhileRead(missing)
}

/** FREEZE avoids that PostgreSQL later rewrites every row to freeze it. */
async function copyPart(
  client: pg.Client,
  { body }: ArchiveFile,
  { table, part }: { table: TableEntry; part: PartEntry },
) {
  const hash = createHash('sha256')
  const stream = client.query(
    copyFrom(`COPY ${quote(table.name)} (${table.columns.map(quote).join(', ')}) FROM STDIN (FREEZE)`),
  )
  await pipeline(
    body,
    async function* (source: AsyncIterable<Uint8Array>) {
      for await (const chunk of source) {
        hash.update(chunk)
        yield chunk
      }
    },
    stream,
  )
  if (hash.digest('hex') !== part.sha256 || stream.rowCount !== part.rows) throw changedWhileRead(part.name)
}

const changedWhileRead = (name: string) => new BackupRefused(`${name} was changed while the backup was read`)
