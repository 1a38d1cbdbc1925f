import type { Bell } from '../platform/bell.ts'
import type { Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'

/**
 * The newest changes of jobs without an event: progress and `stateInfo`. `told_at` is read once a second for all
 * readers, and only while there are readers. A job has one entry, its newest.
 */

/** A job with readers that follow only this job. */
interface ToldJob {
  toldAt: Date | null
  readonly bell: Bell
}

export interface Told {
  jobId: string
  at: Date
}

/** Maximum delay between the time `told_at`, which is set before the commit, and the visibility of the change. */
const lateMsMax = 5_000
/** Maximum jobs per read of `told_at`, the newest first. */
const rowsMax = 10_000

export class ToldLog {
  readonly #rooms: { db: Db; time: Time }
  readonly #jobs: ReadonlyMap<string, ToldJob>
  readonly #bell: Bell
  readonly #readers = new Set<object>()
  /** Entry of each job; the newest is the last. */
  readonly #entries = new Map<string, { number: number; at: Date }>()
  #newest = 0
  #readMs: number

  /** `jobs` have readers of single jobs. `bell` rings for readers of all jobs. */
  constructor(rooms: { db: Db; time: Time }, jobs: ReadonlyMap<string, ToldJob>, bell: Bell) {
    this.#rooms = rooms
    this.#jobs = jobs
    this.#bell = bell
    this.#readMs = rooms.time.nowMs()
  }

  /** Number of the newest entry. */
  get newest(): number {
    return this.#newest
  }

  /** While readers of all jobs are joined, entries are kept. */
  join(reader: object): void {
    this.#readers.add(reader)
  }

  leave(reader: object): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0) this.#entries.clear()
  }

  /** Returns entries with a higher number, the oldest first. */
  after(number: number): Told[] {
    if (number === this.#newest) return []
    return [...this.#entries].flatMap(([jobId, entry]) => (entry.number > number ? [{ jobId, at: entry.at }] : []))
  }

  async read(): Promise<void> {
    const { db, time } = this.#rooms
    const nowMs = time.nowMs()
    // The clock of the database may have been set back.
    const sinceMs = Math.min(this.#readMs, nowMs)
    if (this.#jobs.size > 0 || this.#readers.size > 0) this.#take(await readTold(db, sinceMs))
    this.#readMs = nowMs
  }

  #take(rows: readonly Told[]): void {
    const before = this.#newest
    for (const { jobId, at } of rows) {
      const job = this.#jobs.get(jobId)
      if (job && job.toldAt?.getTime() !== at.getTime()) {
        job.toldAt = at
        job.bell.ring()
      }
      if (this.#readers.size > 0 && this.#entries.get(jobId)?.at.getTime() !== at.getTime()) this.#add(jobId, at)
    }
    if (this.#newest > before) this.#bell.ring()
  }

  #add(jobId: string, at: Date) {
    this.#newest += 1
    this.#entries.delete(jobId)
    this.#entries.set(jobId, { number: this.#newest, at })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= rowsMax) break
      this.#entries.delete(oldest)
    }
  }
}

/** Reads the changes since about this time, the oldest first. */
export async function readTold(db: Db, sinceMs: number): Promise<Told[]> {
  const rows = await db.sql.query<Told>(
    `SELECT id AS "jobId", told_at AS at FROM job
     WHERE told_at > $1 AND told_at IS NOT NULL ORDER BY told_at DESC LIMIT $2`,
    [new Date(sinceMs - lateMsMax), rowsMax],
    'feed_told',
  )
  return rows.reverse()
}
