import { type Bell, createBell } from '../platform/bell.ts'
import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { createLoop } from '../platform/loop.ts'
import type { Wakeups } from '../platform/wakeup.ts'
import { entriesAfter, type FeedEntry, type FeedEvent, feedRange, isDeletion } from './event.ts'
import type { JobRows } from './rows.ts'

/**
 * The newest events and deletions, read once per process. One loop reads what has a position beyond the last one, at every
 * wake-up `feed` and every `pollMs`; a second one looks once a second which jobs have a new `told_at`: a change without an
 * event, of the progress or of the reason why a run does not begin. What either costs does not depend on the number of
 * readers or of watched jobs. Readers pull from the ring by cursor, and read pages of their own when they are behind it.
 * The ring begins at the feed's head once the database has told it (`start`): what a reader read before that may lack
 * events that the ring does not have either, so it reads once more.
 */

export interface EventRing {
  /** The ring has the events after this position; undefined: the head of the feed is not read yet. */
  readonly start: number | undefined
  /** Rung for every new event. */
  readonly bell: Bell
  /** At most `limit` events after a position; null: the ring does not reach back to it. */
  after(position: number, limit: number): readonly FeedEntry[] | null
  watch(jobId: string): WatchedJob
  unwatch(job: WatchedJob): void
  stop(): void
}

/** What the readers of one job share. */
export interface WatchedJob {
  readonly jobId: string
  /** Rung for a new event, a new `toldAt`, and the deletion of the job. */
  readonly bell: Bell
  /** Its newest events since the first reader came, by seq. */
  readonly events: FeedEvent[]
  /** Time of the newest change without an event, as of the last look. */
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
  rows: JobRows
}

const pollMs = 1_000
/** Events that the ring keeps, and that one read fetches. */
const ringEventsMax = 4_096
const readEventsMax = 1_000
/** Between two reads at least. */
const readGapMs = 5
/** A change may become visible so much later than its `told_at`, which is taken before the commit. */
const toldLateMsMax = 5_000
/** Jobs that one look reads, newest `told_at` first. */
const toldRowsMax = 10_000
/** Events of a watched job that are kept for its readers. */
const jobEventsMax = 64

export function createEventRing(options: RingOptions): EventRing {
  const { db, wakeups, clock, log, rows } = options
  const entries: FeedEntry[] = []
  const jobs = new Map<string, WatchedJob>()
  const bell = createBell(clock)
  /** Positions of the event before the first one here, and of the last one. */
  let range: { start: number; end: number } | undefined

  async function read(signal: AbortSignal) {
    range ??= await begin()
    for (let count = readEventsMax; count === readEventsMax; ) {
      const fresh = await entriesAfter(db.sql, range.end, readEventsMax)
      count = fresh.length
      add(fresh, range)
    }
    await clock.sleep(readGapMs, signal)
  }

  async function begin() {
    const { head } = await feedRange(db.sql)
    range = { start: head, end: head }
    for (const job of jobs.values()) job.bell.ring()
    bell.ring()
    return range
  }

  function add(fresh: readonly FeedEntry[], reach: { start: number; end: number }) {
    if (fresh.length === 0) return
    entries.push(...fresh)
    reach.end = fresh.at(-1)?.position ?? reach.end
    const over = entries.splice(0, Math.max(0, entries.length - ringEventsMax))
    reach.start = over.at(-1)?.position ?? reach.start
    for (const { jobId } of fresh.filter(isDeletion)) rows.forget(jobId)
    const watched = new Set(fresh.flatMap((entry) => hand(entry, jobs.get(entry.jobId)) ?? []))
    for (const job of watched) job.bell.ring()
    bell.ring()
  }

  const reading = createLoop({ name: 'feed', pollMs, runOnce: read, clock, log })
  const watching = createLoop({ name: 'feed told', pollMs, runOnce: toldLook(options, jobs), clock, log })
  const unlisten = wakeups.on('feed', reading.wake)
  reading.start()
  watching.start()

  return {
    get start() {
      return range?.start
    },
    bell,
    after(position, limit) {
      if (!range || position < range.start) return null
      const first = entries.findLastIndex((entry) => (entry.position ?? 0) <= position) + 1
      return entries.slice(first, first + limit)
    },
    watch(jobId) {
      const job = jobs.get(jobId) ?? {
        jobId,
        bell: createBell(clock),
        events: [],
        toldAt: null,
        gone: false,
        readers: 0,
      }
      job.readers += 1
      jobs.set(jobId, job)
      return job
    },
    unwatch(job) {
      job.readers -= 1
      if (job.readers === 0) jobs.delete(job.jobId)
    },
    stop() {
      unlisten()
      void reading.stop()
      void watching.stop()
    },
  }
}

/** Gives an entry to the readers of its job, if there are any. */
function hand(entry: FeedEntry, job: WatchedJob | undefined): WatchedJob | undefined {
  if (!job) return undefined
  if (isDeletion(entry)) job.gone = true
  else job.events.push(entry)
  if (job.events.length > jobEventsMax) job.events.shift()
  return job
}

function toldLook({ db, time }: RingOptions, jobs: ReadonlyMap<string, WatchedJob>): () => Promise<void> {
  let lookedMs = time.nowMs()
  return async () => {
    const nowMs = time.nowMs()
    // The clock of the database may have been set back.
    const since = new Date(Math.min(lookedMs, nowMs) - toldLateMsMax)
    if (jobs.size > 0)
      for (const { id, toldAt } of await readTold(db, since)) {
        const job = jobs.get(id)
        if (!job || job.toldAt?.getTime() === toldAt.getTime()) continue
        job.toldAt = toldAt
        job.bell.ring()
      }
    lookedMs = nowMs
  }
}

const readTold = (db: Db, since: Date) =>
  db.sql.query<{ id: string; toldAt: Date }>(
    `SELECT id, told_at AS "toldAt" FROM job
     WHERE told_at > $1 AND told_at IS NOT NULL ORDER BY told_at DESC LIMIT $2`,
    [since, toldRowsMax],
    'feed_told',
  )
