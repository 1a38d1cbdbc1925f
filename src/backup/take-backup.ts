import type { Writable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Clock } from '../platform/clock.ts'
import type { Address } from '../platform/connection.ts'
import { readAppliedMigrations } from '../platform/migrate.ts'
import { ArchiveWriter } from './archive-writer.ts'
import { quote, readSequences, readTables } from './catalog.ts'
import { withConnection } from './database.ts'
import { hashLogs } from './log-hashes.ts'
import {
  BackupRefused,
  formatVersion,
  type Manifest,
  manifestName,
  type PartEntry,
  type TableEntry,
} from './manifest.ts'
import type { Progress } from './progress-line.ts'

/**
 * Copies every table in one snapshot while servers work. The snapshot begins after the tables are locked against
 * changes of the schema, so migrations wait until the backup has ended.
 */

export interface BackupOptions {
  address: Address
  destination: Writable
  /** Whether to close the destination at the end. */
  end: boolean
  berthVersion: string
  directoryId: string | null
  clock: Clock
  withLogs: boolean
  withFiles: boolean
  /** null: no limit. */
  bytesPerSecondMax: number | null
  /** Ends the backup, which then throws the reason of the signal. */
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

export interface Backup {
  manifest: Manifest
  rows: number
  parts: number
  bytes: number
  tookMs: number
}

/** A part ends with the row that exceeds this size. A row has at most a few MiB. */
const partBytes = 16 * 1024 * 1024
/** Timers are inexact for shorter pauses. */
const pauseMsMin = 20
/** Maximum wait for a running migration. */
const lockMsMax = 60_000
const newline = 0x0a
const logTables = ['log_chunk']
const fileTables = ['blob_chunk']
const limits = [
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'transaction_timeout', // PostgreSQL 17
]

export const takeBackup = (options: BackupOptions): Promise<Backup> =>
  withConnection({ ...options, name: 'berth backup' }, async (client) =>
    new Taking(client, options).run(await openSnapshot(client)),
  )

type Tables = Awaited<ReturnType<typeof readTables>>

/** Locks the tables first. LOCK takes no snapshot, so the next query sees the schema that the locks protect. */
async function openSnapshot(client: pg.Client): Promise<Tables> {
  const known = await readTables(client)
  if (!known.some(({ name }) => name === 'audit_head'))
    throw new BackupRefused('the database has no tables of Berth: no server has migrated it')
  const { rows: settings } = await client.query<{ name: string }>(
    'SELECT name FROM pg_settings WHERE name = ANY ($1)',
    [limits],
  )
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  for (const { name } of settings) await client.query(`SET LOCAL ${name} = 0`)
  await client.query(`SET LOCAL lock_timeout = ${lockMsMax}; SET LOCAL datestyle = 'ISO'; SET LOCAL timezone = 'UTC';
    SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1`)
  const names = [...known.map(({ name }) => name), '_prisma_migrations']
  await client.query(`LOCK TABLE ${names.map(quote).join(', ')} IN ACCESS SHARE MODE`)
  const tables = await readTables(client)
  if (tables.map(({ name }) => name).join() !== known.map(({ name }) => name).join())
    throw new BackupRefused('the database was migrated while the backup began: begin it again')
  return tables
}

class Taking {
  readonly #client: pg.Client
  readonly #options: BackupOptions
  readonly #beganMs: number
  #bytes = 0

  constructor(client: pg.Client, options: BackupOptions) {
    this.#client = client
    this.#options = options
    this.#beganMs = options.clock.monotonicMs()
  }

  async run(tables: Tables): Promise<Backup> {
    const { withLogs, withFiles, clock, destination, end, signal } = this.#options
    const left = [...(withLogs ? [] : logTables), ...(withFiles ? [] : fileTables)]
    const facts = await this.#readFacts()
    const archive = new ArchiveWriter(destination, { takenAt: new Date(facts.takenAt), end })
    // Aborts at once, although the destination may be blocked for a long time.
    signal.addEventListener('abort', () => archive.abort(signal.reason))
    try {
      const entries: TableEntry[] = []
      for (const { name, columns } of tables) {
        const parts = left.includes(name) ? [] : await this.#copy(archive, name, columns)
        entries.push({ name, columns, rows: countRows(parts), parts })
      }
      const manifest: Manifest = { ...facts, sequences: await readSequences(this.#client), tables: entries }
      await archive.add(manifestName, [Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)])
      await archive.finish()
      const parts = entries.reduce((sum, table) => sum + table.parts.length, 0)
      const tookMs = clock.monotonicMs() - this.#beganMs
      return { manifest, rows: countRows(entries), parts, bytes: archive.bytes, tookMs }
    } catch (error) {
      archive.abort(error)
      throw error
    }
  }

  async #readFacts(): Promise<Omit<Manifest, 'sequences' | 'tables'>> {
    const { berthVersion, withLogs, withFiles, directoryId } = this.#options
    const { rows } = await this.#client.query<{
      takenAt: Date
      postgresVersion: string
      feedHead: string
      seq: string
      hash: string
      directories: string[]
    }>(factsSql)
    const [row] = rows
    if (!row) throw new BackupRefused('the database has no heads of the feed and of the audit log')
    const migrations = await readAppliedMigrations(this.#client)
    if (migrations.length === 0) throw new BackupRefused('the database has no migration of Berth')
    const { takenAt, postgresVersion, feedHead, seq, hash, directories } = row
    return {
      format: 'berth-backup',
      formatVersion,
      berthVersion,
      takenAt: takenAt.toISOString(),
      postgresVersion,
      migrations,
      feedHead: Number(feedHead),
      auditHead: { seq: Number(seq), hash },
      directoryId: directoryId ?? (directories.length === 1 ? (directories[0] ?? null) : null),
      withLogs,
      withFiles,
      logs: withLogs ? await hashLogs(this.#client) : [],
    }
  }

  async #copy(archive: ArchiveWriter, table: string, columns: readonly string[]): Promise<PartEntry[]> {
    const parts: PartEntry[] = []
    const copied = this.#client.query(copyTo(`COPY ${quote(table)} (${columns.map(quote).join(', ')}) TO STDOUT`))
    for await (const part of splitRows(this.#keepPace(table, copied))) {
      const name = `tables/${table}/${String(parts.length + 1).padStart(6, '0')}.copy`
      const bytes = part.chunks.reduce((sum, chunk) => sum + chunk.length, 0)
      parts.push({ name, rows: part.rows, bytes, sha256: await archive.add(name, part.chunks) })
    }
    return parts
  }

  /** Limits the speed. While this waits, PostgreSQL waits too, because its socket is full. */
  async *#keepPace(table: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { clock, bytesPerSecondMax, signal, onProgress } = this.#options
    for await (const chunk of chunks) {
      this.#bytes += chunk.length
      if (bytesPerSecondMax !== null) {
        const aheadMs = (this.#bytes / bytesPerSecondMax) * 1000 - (clock.monotonicMs() - this.#beganMs)
        if (aheadMs > pauseMsMin) await clock.sleep(aheadMs, signal)
        signal.throwIfAborted()
      }
      onProgress({ table, bytes: this.#bytes })
      yield chunk
    }
  }
}

const countRows = (entries: readonly { rows: number }[]) => entries.reduce((sum, { rows }) => sum + rows, 0)

const factsSql = `SELECT berth_now() AS "takenAt", current_setting('server_version') AS "postgresVersion",
  feed_head.position::text AS "feedHead", audit_head.seq::text AS seq, audit_head.hash,
  ARRAY(SELECT DISTINCT directory FROM pool WHERE directory IS NOT NULL) AS directories
FROM feed_head, audit_head`

interface Rows {
  chunks: Uint8Array[]
  rows: number
}

/** Splits the text of COPY after whole rows. A newline always ends a row, because newlines in values are escaped. */
async function* splitRows(stream: AsyncIterable<Buffer>): AsyncGenerator<Rows> {
  let part: Rows = { chunks: [], rows: 0 }
  let bytes = 0
  for await (const chunk of stream) {
    const cut = bytes + chunk.length < partBytes ? -1 : chunk.lastIndexOf(newline)
    if (cut >= 0) {
      addChunk(part, chunk.subarray(0, cut + 1))
      yield part
      part = { chunks: [], rows: 0 }
      bytes = 0
    }
    const rest = chunk.subarray(cut + 1)
    addChunk(part, rest)
    bytes += rest.length
  }
  if (bytes > 0) yield part
}

function addChunk(part: Rows, chunk: Buffer) {
  if (chunk.length > 0) part.chunks.push(chunk)
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) part.rows += 1
}
