import { type Bell, createBell } from '../platform/bell.ts'
import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { Wakeups } from '../platform/wakeup.ts'
import {
  type FeedEntry,
  type FeedEvent,
  type FeedPage,
  type FeedPosition,
  isDeletion,
  markEntry,
  readFeedRange,
  readPage,
} from './event.ts'
import type { JobRows } from './rows.ts'
import { ToldLog } from './told.ts'

/**
 * The newest events and deletions, read once per process for all readers. Readers pull entries after their cursor from
 * the ring, and read pages of the database if they are behind it. A second loop polls `told_at`: changes of a job
 * without an event. The ring begins at the feed's head (`start`). A reader that read the database before may lack
 * events that the ring lacks as well, so it reads once more.
 *
 * After a failover that lost transactions, or a restore, positions are assigned a second time. So each read also
 * returns the head and the entry at the last known position. If they differ from the ring, the ring `isReplaced` and
 * stops; its readers send a reset and continue with a new ring (feed.ts).
 */

export interface WatchedJob {
  readonly jobId: string
  readonly bell: Bell
  /** Newest events since the first reader joined, by seq. */
  readonly events: FeedEvent[]
  toldAt: Date | null
  gone: boolean
  readers: number
}

export interface RingOptions {
  db: Db
  wakeups: Pick<Wakeups<'feed'>, 'on'>
  clock: Clock
  time: Time
  log: Log
}

interface RingRooms extends RingOptions {
  rows: JobRows
  /** Called once, when the database lacks entries that the ring has. */
  onReplaced(): void
}

const pollMs = 1_000
const ringEventsMax = 4_096
const readEventsMax = 1_000
const readGapMs = 5
const jobEventsMax = 64

export class EventRing {
  readonly #rooms: RingRooms
  readonly #entries: FeedEntry[] = []
  readonly #jobs = new Map<string, WatchedJob>()
  readonly #told: ToldLog
  readonly #reading: Loop
  readonly #loops: readonly Loop[]
  readonly #unlisten: () => void
  /** `start`: position before the first entry of the ring. `end`: position of its last entry. */
  #range: { start: number; end: number } | undefined
  #last: FeedPosition | undefined
  /** `begun`: number of started reads. `done`: number of the newest read that compared the ring with the database. */
  #begun = 0
  #done = 0
  readonly #doneBell: Bell
  /** Rings at every new event, and when the ring is replaced. */
  readonly bell: Bell
  /** Whether the database has other or fewer events at the ring's positions. If so, the ring stops reading. */
  isReplaced = false

  constructor(rooms: RingRooms) {
    const { clock, log, wakeups } = rooms
    this.#rooms = rooms
    this.bell = createBell(clock)
    this.#doneBell = createBell(clock)
    const runOnce = (signal: AbortSignal) => this.#read(signal)
    this.#reading = createLoop({ name: 'feed', pollMs, runOnce, clock, log })
    this.#told = new ToldLog(rooms, this.#jobs, this.bell)
    const watching = createLoop({ name: 'feed told', pollMs, runOnce: () => this.#told.read(), clock, log })
    this.#loops = [this.#reading, watching]
    this.#unlisten = wakeups.on('feed', this.#reading.wake)
    for (const loop of this.#loops) loop.start()
  }

  /** The ring has the events after this position; undefined: the head of the feed is not read yet. */
  get start(): number | undefined {
    return this.#range?.start
  }

  /** Returns at most `limit` entries after a position, or null if the ring begins after it. */
  after(position: number, limit: number): readonly FeedEntry[] | null {
    if (!this.#range || position < this.#range.start) return null
    const first = this.#entries.findLastIndex((entry) => (entry.position ?? 0) <= position) + 1
    return this.#entries.slice(first, first + limit)
  }

  /**
   * Waits until a read that starts now has compared the ring with the database, or replaced the ring. A reader calls it
   * before it takes entries that it did not wait for, because a failover that no read has noticed may have lost them.
   */
  async compare(signal: AbortSignal): Promise<void> {
    const begun = this.#begun
    while (this.#done <= begun && !this.isReplaced && !signal.aborted) {
      this.#reading.wake()
      await this.#doneBell.wait(pollMs, signal)
    }
  }

  watch(jobId: string): WatchedJob {
    const bell = createBell(this.#rooms.clock)
    const job = this.#jobs.get(jobId) ?? { jobId, bell, events: [], toldAt: null, gone: false, readers: 0 }
    job.readers += 1
    this.#jobs.set(jobId, job)
    return job
  }

  unwatch(job: WatchedJob): void {
    job.readers -= 1
    if (job.readers === 0) this.#jobs.delete(job.jobId)
  }

  /** Changes without an event. The reader must call `leave`. */
  get told(): ToldLog {
    return this.#told
  }

  stop(): void {
    this.#unlisten()
    for (const loop of this.#loops) void loop.stop()
  }

  /** Readers also call this, when a page of the database does not continue the ring. */
  replace(): void {
    if (this.isReplaced) return
    this.isReplaced = true
    this.stop()
    this.#rooms.onReplaced()
    this.#doneBell.ring()
    this.#ringAll()
  }

  async #read(signal: AbortSignal) {
    const number = ++this.#begun
    this.#range ??= await this.#begin()
    for (let count = readEventsMax; count === readEventsMax; ) {
      const page = await readPage(this.#rooms.db.sql, this.#range.end, readEventsMax)
      if (!this.#continues(page, this.#range.end)) return this.replace()
      count = page.entries.length
      this.#add(page.entries, this.#range)
    }
    this.#done = number
    this.#doneBell.ring()
    return this.#rooms.clock.sleep(readGapMs, signal)
  }

  async #begin() {
    const { head, mark } = await readFeedRange(this.#rooms.db.sql)
    if (mark !== undefined) this.#last = { position: head, mark }
    this.#ringAll()
    return { start: head, end: head }
  }

  #continues({ head, before }: FeedPage, end: number): boolean {
    if (head < end || (before?.position ?? 0) > (this.#last?.position ?? end)) return false
    const known = this.#markAt(before?.position)
    this.#last ??= before
    return known === undefined || known === before?.mark
  }

  #markAt(position: number | undefined): string | undefined {
    if (position === this.#last?.position) return this.#last?.mark
    const known = this.#entries.findLast((entry) => entry.position === position)
    return known && markEntry(known)
  }

  #add(fresh: readonly FeedEntry[], range: { start: number; end: number }) {
    const last = fresh.at(-1)
    if (!last) return
    this.#entries.push(...fresh)
    range.end = last.position ?? range.end
    this.#last = { position: range.end, mark: markEntry(last) }
    const over = this.#entries.splice(0, Math.max(0, this.#entries.length - ringEventsMax))
    range.start = over.at(-1)?.position ?? range.start
    for (const { jobId } of fresh.filter(isDeletion)) this.#rooms.rows.forget(jobId)
    const watched = new Set(fresh.flatMap((entry) => hand(entry, this.#jobs.get(entry.jobId)) ?? []))
    for (const job of watched) job.bell.ring()
    this.bell.ring()
  }

  #ringAll() {
    for (const job of this.#jobs.values()) job.bell.ring()
    this.bell.ring()
  }
}

function hand(entry: FeedEntry, job: WatchedJob | undefined): WatchedJob | undefined {
  if (!job) return undefined
  if (isDeletion(entry)) job.gone = true
  else job.events.push(entry)
  if (job.events.length > jobEventsMax) job.events.shift()
  return job
}
