import { open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { recordBackup } from '../domain/backup-record.ts'
import type { Address } from '../platform/connection.ts'
import { readDirectoryId } from '../platform/data-directory.ts'
import { isProcessAlive } from '../platform/postgres/cluster.ts'
import { pgSql } from '../platform/tx.ts'
import { type Task, withConnection, withDatabase } from './database.ts'
import { BackupRefused } from './manifest.ts'
import { createProgressLine, formatBytes, formatSeconds } from './progress-line.ts'
import { type Backup, takeBackup } from './take-backup.ts'

export interface BackUpOptions {
  withLogs: boolean
  withFiles: boolean
  mibPerSecondMax: number | null
  minutesMax: number | null
}

export class TookTooLong extends Error {
  override name = 'TookTooLong'
}

const mibBytes = 1024 * 1024

/** `berth backup FILE`. `-` means stdout. */
export async function backUp(task: Task, options: BackUpOptions): Promise<void> {
  const { config, file, clock, version } = task
  const { withLogs, withFiles, mibPerSecondMax } = options
  const directoryId = await readDirectoryId(config.dataDir)
  const line = createProgressLine(clock)
  using limit = limitTime(task, options.minutesMax)
  const backup = await withDatabase(task, { make: false }, async (address) => {
    const take = (destination: Writable, end: boolean) =>
      takeBackup({
        address,
        destination,
        end,
        berthVersion: version,
        directoryId,
        clock,
        withLogs,
        withFiles,
        bytesPerSecondMax: mibPerSecondMax === null ? null : mibPerSecondMax * mibBytes,
        signal: limit.signal,
        onProgress: line.show,
      })
    const backup = await (file === '-'
      ? take(process.stdout, false)
      : writeFile(resolve(file), (stream) => take(stream, true)))
    await remember(address, backup)
    return backup
  }).finally(line.clear)
  const summary = describe(file, backup)
  if (file === '-') process.stderr.write(summary)
  else process.stdout.write(summary)
}

/** Records the backup. A standby, or a read-only account, cannot record it; the backup counts nevertheless. */
async function remember(address: Address, { manifest }: Backup) {
  try {
    await withConnection({ address, name: 'berth backup' }, (client) =>
      recordBackup(pgSql(client), new Date(manifest.takenAt)),
    )
  } catch (error) {
    process.stderr.write(
      `berth: cannot record the backup in the database: ${error instanceof Error ? error.message : error}\n`,
    )
  }
}

/** Returns a signal that fires with the given signal, or after `minutesMax`. */
function limitTime({ clock, signal }: Task, minutesMax: number | null): Disposable & { signal: AbortSignal } {
  const [late, over] = [new AbortController(), new AbortController()]
  if (minutesMax !== null)
    void clock.sleep(minutesMax * 60_000, over.signal).then(() => {
      if (!over.signal.aborted)
        late.abort(new TookTooLong(`the backup took longer than ${minutesMax} min (--max-minutes)`))
    })
  return { signal: AbortSignal.any([signal, late.signal]), [Symbol.dispose]: () => over.abort() }
}

function describe(file: string, { manifest, rows, parts, bytes, tookMs }: Backup): string {
  const { feedHead, auditHead } = manifest
  const size = `${rows} rows, ${parts} parts, ${formatBytes(bytes)}, ${formatSeconds(tookMs)}`
  return `${file === '-' ? 'backup' : file}: ${size}; feed ${feedHead}, audit log ${auditHead.seq}\n`
}

/** Writes an unfinished file, and renames it to `path` when it is complete and synced to the disk. */
async function writeFile<T>(path: string, write: (stream: Writable) => Promise<T>): Promise<T> {
  const [folder, name] = [dirname(path), basename(path)]
  await removeAbandoned(folder, name)
  const unfinished = join(folder, `${name}.unfinished-${process.pid}`)
  const file = await open(unfinished, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new BackupRefused(`cannot write ${path}: ${error.message}`)
  })
  const remove = () => rm(unfinished, { force: true })
  try {
    const result = await write(file.createWriteStream({ flush: true }))
    await rename(unfinished, path)
    const directory = await open(folder)
    await directory.sync().finally(() => directory.close())
    return result
  } catch (error) {
    await file.close().catch(() => undefined) // the stream may have closed it
    await remove()
    throw error
  }
}

/** Removes files that killed processes left when they wrote a backup of this name. */
async function removeAbandoned(folder: string, name: string) {
  const names = await readdir(folder).catch((): string[] => [])
  for (const found of names) {
    const pid = found.startsWith(`${name}.unfinished-`) ? Number(found.slice(name.length + 12)) : 0
    if (pid > 0 && !isProcessAlive(pid)) await rm(join(folder, found), { force: true })
  }
}
