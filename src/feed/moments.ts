import type { JobState } from '../domain/state.ts'
import type { Db } from '../platform/db.ts'
import type { Sql } from '../platform/tx.ts'
import type { FeedEvent } from './event.ts'
import type { StateMoment, StoredReason } from './facts.ts'
import { toMoment } from './filter.ts'
import { cacheReads } from './read-cache.ts'

export type Moments = ReturnType<typeof createMoments>

/** Reads the states of jobs just before events that do not change the state. Omits events of deleted jobs. */
export const createMoments = (db: Db) =>
  cacheReads<FeedEvent, StateMoment>(new WeakMap(), (events) => readMoments(db.sql, events))

async function readMoments(sql: Sql, events: readonly FeedEvent[]): Promise<Map<FeedEvent, StateMoment>> {
  const rows = await sql.query<{ place: number; state: JobState; reason: StoredReason | null; at: Date }>(
    `SELECT w.place, move.to_state AS state, given.reason, move.at
     FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w(job_id, seq, place)
     CROSS JOIN LATERAL (
       SELECT to_state, at FROM event
       WHERE job_id = w.job_id AND seq < w.seq AND to_state IS NOT NULL AND to_state IS DISTINCT FROM from_state
       ORDER BY seq DESC LIMIT 1
     ) move
     CROSS JOIN LATERAL (
       SELECT reason FROM event
       WHERE job_id = w.job_id AND seq < w.seq
         AND (to_state IS DISTINCT FROM from_state OR type IN ('PREEMPT_REQUESTED', 'PREEMPT_WITHDRAWN'))
       ORDER BY seq DESC LIMIT 1
     ) given`,
    [events.map(({ jobId }) => jobId), events.map(({ seq }) => seq)],
    'feed_moments',
  )
  return new Map(
    rows.flatMap(({ place, state, reason, at }) => {
      const event = events[place - 1]
      return event ? [[event, toMoment(state, reason, at)] as const] : []
    }),
  )
}
