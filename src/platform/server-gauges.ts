import { statSync } from 'node:fs'
import { readdir, statfs } from 'node:fs/promises'
import type { Clock, Time } from './clock.ts'
import type { Db } from './db.ts'
import { takeWorstLatenessMs } from './lateness.ts'
import { openFilesMax } from './open-files.ts'
import { countDroppedTexts } from './output.ts'

/** Measurements of this process, for the conditions of the installation. */
export interface ServerGauges {
  /** The worst lateness of the event loop since the last report. */
  eventLoopLateMs: number
  /** null: the system does not report it. */
  openFiles: number | null
  /** null: the system does not report it. */
  openFilesMax: number | null
  /** Free bytes of the disk that has the data directory; null: the directory is missing. */
  diskFreeBytes: number | null
  /** Size of the disk that has the data directory; null: the directory is missing. */
  diskBytes: number | null
  /** Time of this machine's clock minus that of the database. */
  clockApartMs: number
  /** Median duration of the last three small writes. */
  databaseMs: number
  /** The shortest of the last three waits for a database connection of this process. */
  connectionWaitMs: number
  /** Lines of the log that were dropped in the last half minute. */
  droppedLines: number
  /** The configuration file, if it has secrets that every account of the machine can read; else null. */
  exposedFile: string | null
  /** Ids of the keys that decrypt secrets. */
  secretKeys: readonly string[]
  /** For each pool that this process leads: the time since its last completed pass. */
  stalledMs: Readonly<Record<string, number>>
}

interface MeterOptions {
  db: Pick<Db, 'pool'>
  clock: Clock
  time: Time
  dataDir: string
  /** The configuration file, if it contains a secret; else null. */
  secretsFile: string | null
  /** Ids of the keys that decrypt secrets. */
  secretKeys: readonly string[]
  /** Per pool, measures the time since the last completed pass; null: another process leads the pool. */
  stalled: ReadonlyMap<string, { readStalledMs(): number | null }>
}

const remembered = 3

export class GaugeMeter {
  readonly #options: MeterOptions
  #writesMs: readonly number[] = []
  #waitsMs: readonly number[] = []
  #dropped: readonly number[] = []
  #droppedBefore = countDroppedTexts()

  constructor(options: MeterOptions) {
    this.#options = options
  }

  /** Runs a small write and records its duration. */
  async measureWrite<T>(write: () => Promise<T>): Promise<T> {
    const { clock } = this.#options
    const beganMs = clock.monotonicMs()
    const result = await write()
    this.#writesMs = keepNewest(this.#writesMs, clock.monotonicMs() - beganMs)
    return result
  }

  async read(): Promise<ServerGauges> {
    const { time, dataDir, secretsFile, secretKeys, stalled } = this.#options
    this.#waitsMs = keepNewest(this.#waitsMs, await this.#measureWait())
    const dropped = countDroppedTexts()
    this.#dropped = keepNewest(this.#dropped, dropped - this.#droppedBefore)
    this.#droppedBefore = dropped
    return {
      eventLoopLateMs: Math.round(takeWorstLatenessMs()),
      ...(await countOpenFiles()),
      ...(await readDisk(dataDir)),
      clockApartMs: Date.now() - time.nowMs(),
      databaseMs: this.#writesMs.toSorted((a, b) => a - b)[Math.floor(this.#writesMs.length / 2)] ?? 0,
      connectionWaitMs: this.#waitsMs.length < remembered ? 0 : Math.min(...this.#waitsMs),
      droppedLines: this.#dropped.reduce((sum, count) => sum + count, 0),
      exposedFile: secretsFile !== null && isReadableToAll(secretsFile) ? secretsFile : null,
      secretKeys,
      stalledMs: Object.fromEntries(
        [...stalled].flatMap(([pool, { readStalledMs }]) => {
          const stalledMs = readStalledMs()
          return stalledMs === null ? [] : [[pool, stalledMs]]
        }),
      ),
    }
  }

  async #measureWait(): Promise<number> {
    const { db, clock } = this.#options
    const beganMs = clock.monotonicMs()
    // A timeout counts as a wait. If the database is unreachable, the report fails.
    await db.pool.connect().then(
      (client) => client.release(),
      () => undefined,
    )
    return clock.monotonicMs() - beganMs
  }
}

const keepNewest = (values: readonly number[], value: number) => [...values, value].slice(-remembered)

async function countOpenFiles(): Promise<Pick<ServerGauges, 'openFiles' | 'openFilesMax'>> {
  const max = openFilesMax()
  if (!Number.isFinite(max)) return { openFiles: null, openFilesMax: null }
  return { openFiles: (await readdir('/proc/self/fd')).length, openFilesMax: max }
}

async function readDisk(path: string): Promise<Pick<ServerGauges, 'diskFreeBytes' | 'diskBytes'>> {
  try {
    const { bavail, blocks, bsize } = await statfs(path)
    return { diskFreeBytes: bavail * bsize, diskBytes: blocks * bsize }
  } catch {
    return { diskFreeBytes: null, diskBytes: null }
  }
}

const othersRead = 0o004

/** Whether every account of the machine may read the file, regardless of the permissions of its folders. */
export const isReadableToAll = (path: string): boolean =>
  ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & othersRead) !== 0
