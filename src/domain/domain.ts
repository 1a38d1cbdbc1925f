import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { ObjectStore } from '../platform/object-store.ts'
import type { Wakeups } from '../platform/wakeup.ts'
import type { CheckEngine } from './engine-check.ts'
import type { SecretKeys } from './secret-keys.ts'

/**
 * Dependencies of the domain functions. `time` gives ids and displayed times; rules use berth_now(). `clock` measures
 * waits.
 */
export interface Domain {
  readonly db: Db
  readonly wakeups: Wakeups<Topic>
  readonly clock: Clock
  readonly time: Time
  readonly log: Log
  /** Single-user mode has no login, and unset limits do not apply. The mode is decided at start. */
  readonly singleUser: boolean
  /** The file to which this process copies heads of the audit log; absent: heads are only logged. */
  readonly auditHeadFile?: string | null
  /** Absent: the process neither stores nor reads secrets. */
  readonly secretKeys?: SecretKeys
  /** Where contents of large files are stored; absent: in the database. */
  readonly objects?: ObjectStore
  /** Absent: the process reaches no machines. */
  readonly checkEngine?: CheckEngine
  /** The domain whose connections this one uses within the limit of a user; absent: it has no limit. */
  readonly whole?: Domain
}

/** Returns a function that calls `make` once per domain (or other key) and caches the value. */
export function perDomain<T, Key extends object = Domain>(make: (key: Key) => T): (key: Key) => T {
  const made = new WeakMap<Key, { value: T }>()
  return (given) => {
    const key = (given as { whole?: Key }).whole ?? given
    const known = made.get(key) ?? { value: make(key) }
    made.set(key, known)
    return known.value
  }
}

/**
 * Topics of wake-ups. `event`: a stored event needs a position. `feed`: events got positions. `queue`: a job may be
 * able to start. `question`, `answer`: a question or its answer was stored. `view`: a leader published changes.
 * `start`: a run must be started; `run`: a run must be stopped or preempted. `log`: output was stored, or a log was
 * sealed or closed. `access`: a user or token lost a permission. `schema`: the database was migrated.
 */
export const topics = [
  'event',
  'feed',
  'queue',
  'question',
  'answer',
  'view',
  'start',
  'run',
  'log',
  'access',
  'schema',
] as const
/** Topics that are not sent to other processes. */
export const localTopics: readonly Topic[] = ['event']
export type Topic = (typeof topics)[number]
