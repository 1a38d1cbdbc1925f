import { stoppable } from '../platform/stoppable.ts'
import { type FeedPosition, readFeedRange } from './event.ts'
import { createFactsCache } from './facts.ts'
import { type JobStatusMessage, type JobStatusOptions, JobStatusReader, openJob } from './job-status.ts'
import { type JobUpdatesMessage, type JobUpdatesOptions, JobUpdatesReader } from './job-updates.ts'
import type { SharedReads } from './message.ts'
import { createMoments } from './moments.ts'
import { EventRing, type RingOptions } from './ring.ts'
import { createJobRows } from './rows.ts'

/**
 * Streams of events after a cursor: first stored events, then live ones, in order, without a gap. The ring, its loops
 * and the rows read for it exist while a stream is open. They are replaced when the database does not continue the
 * ring.
 */

export type Feed = ReturnType<typeof createFeed>

interface Reader<T> {
  /** Calls `left` when the stream ends. */
  messages(left: () => void): AsyncGenerator<T, void, void>
}

export function createFeed(options: RingOptions) {
  const { db, log } = options
  let shared: SharedReads | undefined
  let readers = 0

  const rooms = { ...options, join: () => (shared ??= open()) }

  function open(): SharedReads {
    const rows = createJobRows(db)
    const onReplaced = () => {
      log.warn('the database does not continue the feed: it lost transactions in a failover, or was restored')
      if (shared === opened) shared = undefined
    }
    const ring = new EventRing({ ...options, rows, onReplaced })
    const opened: SharedReads = { ring, rows, facts: createFactsCache(db), moments: createMoments(db) }
    return opened
  }

  const stream = <T>(begin: (signal: AbortSignal) => Reader<T>) =>
    stoppable<T>((signal) => {
      readers += 1
      return begin(signal).messages(leave)
    })

  function leave() {
    readers -= 1
    if (readers > 0) return
    shared?.ring.stop()
    shared = undefined
  }

  return {
    /** Throws NotFound if the viewer may not see the job. */
    async jobStatus(status: JobStatusOptions): Promise<AsyncGenerator<JobStatusMessage, void, void>> {
      const job = await openJob(db, status)
      const { after, mark } = status
      return stream((signal) => new JobStatusReader(rooms, job, { after, mark, signal }))
    },
    jobUpdates: (updates: JobUpdatesOptions): AsyncGenerator<JobUpdatesMessage, void, void> =>
      stream((signal) => new JobUpdatesReader(rooms, updates, signal)),
    /** Returns the newest position. If it is read before a snapshot, `jobUpdates` continues there without a gap. */
    async head(): Promise<FeedPosition> {
      const { head, mark } = await readFeedRange(db.sql)
      return { position: head, mark }
    },
    openReaders: () => readers,
  }
}
