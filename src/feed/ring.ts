import { type Bell, createBell } from '../platform/bell.ts'
import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { createLoop } from '../platform/loop.ts'
import type { Wakeups } from '../platform/wakeup.ts'
import { eventsAfter, type FeedEvent, feedRange } from './event.ts'

/**
 * The newest events, read once per process. One loop reads what has a position beyond the last one, at every wake-up
 * `feed` and every `pollMs`; a second one looks once a second at the rows of watched jobs, for progress and
 * deletion. Readers pull from the ring by cursor, and read pages of their own when they are behind it. The ring begins
 * at the feed's head once the database has told it (`start`): what a reader read before that may lack events that the
 * ring does not have either, so it reads once more.
 */

export interface EventRing {
  /** The ring has the events after this position; undefined: the head of the feed is not read yet. */
  readonly start: number | undefined
  /** Rung for every new event. */
  readonly bell: Bell
  /** At most `limit` events after a position; null: the ring does not reach back to it. */
  after(position: number, limit: number): readonly FeedEvent[] | null
  watch(jobId: string): WatchedJob
  unwatch(job: WatchedJob): void
  stop(): void
}

/** What the readers of one job share. */
export interface WatchedJob {
  readonly jobId: string
  /** Rung for a new event, for progress, for its deletion. */
  readonly bell: Bell
  /** Its newest events since the first reader came, by seq. */
  readonly events: FeedEvent[]
  /** When progress was last reported, as of the last look. */
  progressAt: Date | null
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

const pollMs = 1_000
/** Events that the ring keeps, and that one read fetches. */
const ringEventsMax = 4_096
const readEventsMax = 1_000
/** Between two reads at least. */
const readGapMs = 5
/** Events of a watched job that are kept for its readers. */
const jobEventsMax = 64

export function createEventRing({ db, wakeups, clock, log }: Omit<RingOptions, 'time'>): EventRing {
  const events: FeedEvent[] = []
  const jobs = new Map<string, WatchedJob>()
  const bell = createBell(clock)
  /** Positions of the event before the first one here, and of the last one. */
  let range: { start: number; end: number } | undefined

  async function read(signal: AbortSignal) {
    range ??= await begin()
    for (let count = readEventsMax; count === readEventsMax; ) {
      const fresh = await eventsAfter(db.sql, range.end, readEventsMax)
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

  function add(fresh: readonly FeedEvent[], reach: { start: number; end: number }) {
    if (fresh.length === 0) return
    events.push(...fresh)
    reach.end = fresh.at(-1)?.position ?? reach.end
    const over = events.splice(0, Math.max(0, events.length - ringEventsMax))
    reach.start = over.at(-1)?.position ?? reach.start
    const touched = new Set<WatchedJob>()
    for (const event of fresh) {
      const job = jobs.get(event.jobId)
      if (!job) continue
      job.events.push(event)
      if (job.events.length > jobEventsMax) job.events.shift()
      touched.add(job)
    }
    for (const job of touched) job.bell.ring()
    bell.ring()
  }

  const reading = createLoop({ name: 'feed', pollMs, runOnce: read, clock, log })
  const watching = createLoop({ name: 'feed jobs', pollMs, runOnce: () => lookAtJobs(db, jobs), clock, log })
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
      const first = events.findLastIndex((event) => (event.position ?? 0) <= position) + 1
      return events.slice(first, first + limit)
    },
    watch(jobId) {
      const job = jobs.get(jobId) ?? {
        jobId,
        bell: createBell(clock),
        events: [],
        progressAt: null,
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

async function lookAtJobs(db: Db, jobs: ReadonlyMap<string, WatchedJob>): Promise<void> {
  const watched = [...jobs.values()]
  if (watched.length === 0) return
  const rows = await db.sql.query<{ id: string; progressAt: Date | null }>(
    'SELECT id, progress_at AS "progressAt" FROM job WHERE id = ANY($1)',
    [watched.map(({ jobId }) => jobId)],
    'feed_watched_jobs',
  )
  const found = new Map(rows.map(({ id, progressAt }) => [id, progressAt]))
  for (const job of watched) {
    const progressAt = found.get(job.jobId)
    const before = job.progressAt
    if (progressAt === undefined) job.gone = true
    else job.progressAt = progressAt
    if (job.gone || job.progressAt?.getTime() !== before?.getTime()) job.bell.ring()
  }
}
