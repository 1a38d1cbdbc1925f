import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type pg from 'pg'
import { makeDataDirectory } from '../config/data-directory.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../platform/clock.ts'
import { type Address, createCopyClient, cutOff, disconnect } from '../platform/connection.ts'
import type { Log } from '../platform/log.ts'
import { hasCluster } from '../platform/postgres/cluster.ts'
import { findPlace, getDataDirMode } from '../platform/postgres/place.ts'
import { startPostgres } from '../platform/postgres/postgres.ts'
import { BackupRefused } from './manifest.ts'

export interface Task {
  config: Config
  file: string
  log: Log
  clock: Clock
  version: string
  /** Ends the task, which then throws the reason of the signal. */
  signal: AbortSignal
}

/** Calls `work` with the database of an installation. Starts the embedded PostgreSQL if no server runs. */
export async function withDatabase<T>(
  { config: { database, dataDir }, log, clock }: Pick<Task, 'config' | 'log' | 'clock'>,
  { make }: { make: boolean },
  work: (address: Address) => Promise<T>,
): Promise<T> {
  if (database.url !== null) return work({ url: database.url })
  if (make) makeDataDirectory(dataDir, getDataDirMode())
  else await demandCluster(dataDir, log)
  const postgres = await startPostgres({ dataDir, log, clock })
  try {
    return await work(postgres)
  } finally {
    await postgres.stop()
  }
}

interface ConnectionOptions {
  address: Address
  /** `application_name` of the connection. */
  name: string
  /** Cuts the connection; the work then throws the reason of the signal. */
  signal?: AbortSignal
}

/** Calls `work` with one connection that has no time limits. */
export async function withConnection<T>(
  { address, name, signal }: ConnectionOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = createCopyClient(address, name)
  client.on('error', () => undefined) // the running query fails with the same error
  const stop = () => cutOff(client)
  try {
    await client.connect()
    signal?.throwIfAborted()
    signal?.addEventListener('abort', stop)
    return await work(client)
  } catch (error) {
    throw signal?.aborted ? signal.reason : error
  } finally {
    signal?.removeEventListener('abort', stop)
    await disconnect(client)
  }
}

async function demandCluster(dataDir: string, log: Log) {
  if (existsSync(dataDir) && hasCluster(await findPlace({ dataDir, log }))) return
  throw new BackupRefused(
    `${resolve(dataDir)} has no database: set BERTH_DATA_DIR, DATABASE_URL or --config as for the server`,
  )
}
