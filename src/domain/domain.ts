import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Wakeups } from '../platform/wakeup.ts'

/** What every verb of the domain needs. `time` is for ids and for moments that are told; rules ask berth_now(). `clock` is for waits. */
export interface Domain {
  readonly db: Db
  readonly wakeups: Wakeups<Topic>
  readonly clock: Clock
  readonly time: Time
  readonly log: Log
  /** One person, known without a log-in: limits that nobody set do not hold. Decided at start. */
  readonly singleUser: boolean
  /** Where this process tells heads of the audit log outside the database. Absent: nowhere. */
  readonly auditHeadFile?: string | null
}

/**
 * What can be looked at again. `event`: an event has no position yet (for the sequencer of the same process). `feed`:
 * positions were given. `queue`: something may start. `question`: the leader of a pool is asked something. `answer`:
 * it has answered. `view`: a leader shows something else of its pool. `run`: a run is to be started or stopped. `log`:
 * bytes were stored, or a log was sealed or closed. `progress`: a job reported progress. `access`: a person or a token
 * lost something.
 */
export const topics = [
  'event',
  'feed',
  'queue',
  'question',
  'answer',
  'view',
  'run',
  'log',
  'progress',
  'access',
] as const
/** Every process numbers events; the one that wrote some does it for them. */
export const localTopics: readonly Topic[] = ['event']
export type Topic = (typeof topics)[number]
