import { open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { readDirectoryId } from '../platform/data-directory.ts'
import { type Task, withDatabase } from './database.ts'
import { BackupRefused } from './manifest.ts'
import { createProgressLine, formatBytes, formatSeconds } from './progress-line.ts'
import { type Backup, type BackupOptions, takeBackup } from './take-backup.ts'

export interface BackUpOptions {
  withLogs: boolean
  mibPerSecondMax: number | null
  minutesMax: number | null
}

const mibBytes = 1024 * 1024

/** `berth backup FILE`; `-` is stdout. */
export async function backUp(task: Task, { withLogs, mibPerSecondMax, minutesMax }: BackUpOptions): Promise<void> {
  const { config, file, clock, version } = task
  const directoryId = await readDirectoryId(config.dataDir)
  const line = createProgressLine(clock)
  const backup = await withDatabase(task, { make: false }, (address) => {
    const take = (destination: Writable, end: boolean) =>
      takeBackup({
        address,
        destination,
        end,
        berthVersion: version,
        directoryId,
        clock,
        withLogs,
        bytesPerSecondMax: mibPerSecondMax === null ? null : mibPerSecondMax * mibBytes,
        msMax: minutesMax === null ? null : minutesMax * 60_000,
        onProgress: ({ table, bytes }) => line.show(`${formatBytes(bytes)}, table ${table}`),
      } satisfies BackupOptions)
    return file === '-' ? take(process.stdout, false) : writeFile(resolve(file), (stream) => take(stream, true))
  }).finally(line.clear)
  const summary = describe(file, backup)
  if (file === '-') process.stderr.write(summary)
  else process.stdout.write(summary)
}

function describe(file: string, { manifest, rows, parts, bytes, tookMs }: Backup): string {
  const { feedHead, auditHead } = manifest
  const size = `${rows} rows, ${parts} parts, ${formatBytes(bytes)}, ${formatSeconds(tookMs)}`
  return `${file === '-' ? 'backup' : file}: ${size}; feed ${feedHead}, audit log ${auditHead.seq}\n`
}

/** The file appears under its name when it is complete and on the disk. */
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
    await file.close().catch(() => undefined) // the stream has closed it
    await remove()
    throw error
  }
}

/** Files of backups to this name whose process was killed. */
async function removeAbandoned(folder: string, name: string) {
  const names = await readdir(folder).catch((): string[] => [])
  for (const found of names) {
    const pid = found.startsWith(`${name}.unfinished-`) ? Number(found.slice(name.length + 12)) : 0
    if (pid > 0 && !isAlive(pid)) await rm(join(folder, found), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
