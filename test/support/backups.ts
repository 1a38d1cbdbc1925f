import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import type { Manifest } from '../../src/backup/manifest.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { type Backup, type BackupOptions, takeBackup } from '../../src/backup/take-backup.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type Db, openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import type { TestDatabase } from './database.ts'

/** Backs a database up to a file. */
export const backUpTo = (path: string, url: string, options: Partial<BackupOptions> = {}): Promise<Backup> =>
  takeBackup({
    address: { url },
    destination: createWriteStream(path),
    end: true,
    berthVersion: '0.1.0',
    directoryId: null,
    clock: systemClock,
    withLogs: true,
    withFiles: true,
    bytesPerSecondMax: null,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...options,
  })

export const restoreTo = (url: string, file: string): Promise<Manifest> =>
  restoreBackup({
    file,
    address: { url },
    log: createLog('silent'),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  })

export interface EmptyDatabase extends AsyncDisposable {
  readonly db: Db
  readonly url: string
}

/** A database without any object, on the server of another one. */
export async function createEmptyDatabase(server: Pick<TestDatabase, 'db' | 'url'>): Promise<EmptyDatabase> {
  const name = `empty_${randomUUID().replaceAll('-', '')}`
  await server.db.sql.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  const url = Object.assign(new URL(server.url), { pathname: name }).href
  const db = openDb({ address: { url }, connectionsMax: 2, log: createLog('silent'), applicationName: 'berth test' })
  return {
    db,
    url,
    async [Symbol.asyncDispose]() {
      await db.close()
      await server.db.sql.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}
