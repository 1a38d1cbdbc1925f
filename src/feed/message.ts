import type { JobRow } from '../domain/submission/stored-job.ts'
import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { getHeartbeatDueMs, getHeartbeatTime } from '../platform/heartbeat.ts'
import type { Log } from '../platform/log.ts'
import type { FeedEvent } from './event.ts'
import type { FactsCache } from './facts.ts'
import type { Moments } from './moments.ts'
import type { EventRing } from './ring.ts'
import type { JobRows } from './rows.ts'

export const messageEventsMax = 200

/** Consecutive events of one job. `cursor` is the last seq in `jobStatus`, the last position in `jobUpdates`. */
export interface Transitions {
  kind: 'transitions'
  jobId: string
  /** Empty if only progress or stateInfo changed, or if the replay has no events. */
  events: readonly FeedEvent[]
  cursor: number
  mark?: string | undefined
  /** Time of the newest sent change without an event. Only `jobUpdates` with progress sets this field. */
  toldMs?: number | undefined
  phase: 'REPLAY' | 'LIVE'
  isFinal: boolean
  /** The job's row, at least as new as the events. */
  job: JobRow
  /** Whether the reader's filter admits the current state of the job. */
  matches: boolean
  /** The message to send if the job is deleted before its fields are read. */
  instead: Reset | Heartbeat
  /** Replayed messages of the same read. Their fields are read together. */
  page?: readonly Transitions[]
}

/**
 * Tells the reader that the stream does not continue the previous messages: events in between were removed, or the
 * database lacks events that were sent (both RETENTION), or jobs were DELETED.
 */
export interface Reset {
  kind: 'reset'
  reason: 'RETENTION' | 'DELETED'
  jobIds: readonly string[]
  cursor: number
  mark?: string | undefined
  toldMs?: number | undefined
}

export interface Heartbeat {
  kind: 'heartbeat'
  cursor: number
  mark?: string | undefined
  toldMs?: number | undefined
  at: Date
}

type Place = Pick<Heartbeat, 'cursor' | 'mark' | 'toldMs'>

/** Caches that all readers share. They belong to one ring, and so to one database. */
export interface SharedReads {
  readonly ring: EventRing
  readonly rows: JobRows
  readonly facts: FactsCache
  readonly moments: Moments
}

export interface FeedRooms {
  db: Db
  clock: Clock
  time: Time
  log: Log
  /** Returns the current shared reads, which change when the ring is replaced. */
  join(): SharedReads
}

export function makeHeartbeatIfDue(
  { clock, time }: Pick<FeedRooms, 'clock' | 'time'>,
  lastSent: number,
  place: Place,
): Heartbeat | undefined {
  return clock.monotonicMs() < getHeartbeatDueMs(lastSent) ? undefined : heartbeat(time, place)
}

export const heartbeat = (time: Time, place: Place): Heartbeat => ({
  kind: 'heartbeat',
  ...place,
  at: getHeartbeatTime(time.nowMs()),
})
