import { stoppable } from '../platform/stoppable.ts'
import { type FeedPosition, feedRange } from './event.ts'
import { createFactsCache } from './facts.ts'
import { type JobStatusMessage, type JobStatusOptions, JobStatusReader, openJob } from './job-status.ts'
import { type JobUpdatesMessage, type JobUpdatesOptions, JobUpdatesReader } from './job-updates.ts'
import { createMoments } from './moments.ts'
import { createEventRing, type EventRing, type RingOptions } from './ring.ts'
import { createJobRows } from './rows.ts'

/**
 * Events after a cursor, as streams: stored ones first, then live ones, in order, without a gap. Streams end by
 * themselves or by `return()`, and outlive a database that does not answer. Nothing is written here: positions are given
 * by the sequencer of the domain. The ring and its loops exist while a stream is open.
 */

export interface Feed {
  /** Throws NotFound when there is no such job for this viewer. */
  jobStatus(options: JobStatusOptions): Promise<AsyncGenerator<JobStatusMessage, void, void>>
  jobUpdates(options: JobUpdatesOptions): AsyncGenerator<JobUpdatesMessage, void, void>
  /** Newest position: read before a snapshot, it is where `jobUpdates` goes on from that snapshot. */
  head(): Promise<FeedPosition>
  /** Streams that are open. */
  openReaders(): number
}

interface Reader<T> {
  /** `left` is called when it is over. */
  messages(left: () => void): AsyncGenerator<T, void, void>
}

export function createFeed(options: Omit<RingOptions, 'rows'>): Feed {
  const facts = createFactsCache(options.db)
  const moments = createMoments(options.db)
  const rows = createJobRows(options.db)
  let ring: EventRing | undefined
  let readers = 0

  const stream = <T>(open: (shared: EventRing, signal: AbortSignal) => Reader<T>) =>
    stoppable<T>((signal) => {
      readers += 1
      ring ??= createEventRing({ ...options, rows })
      return open(ring, signal).messages(leave)
    })

  function leave() {
    readers -= 1
    if (readers > 0) return
    ring?.stop()
    ring = undefined
  }

  return {
    async jobStatus(status) {
      const job = await openJob(options.db, status)
      const { after, mark } = status
      return stream(
        (shared, signal) => new JobStatusReader({ ...options, rows, ring: shared }, job, { after, mark, signal }),
      )
    },
    jobUpdates: (updates) =>
      stream(
        (shared, signal) => new JobUpdatesReader({ ...options, rows, facts, moments, ring: shared }, updates, signal),
      ),
    async head() {
      const { head, mark } = await feedRange(options.db.sql)
      return { position: head, mark }
    },
    openReaders: () => readers,
  }
}
