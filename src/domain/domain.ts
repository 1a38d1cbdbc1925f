import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Wakeups } from '../platform/wakeup.ts'

/**
 * Dependencies of the verbs of the domain. `time` gives ids and displayed moments; rules use berth_now(). `clock`
 * measures waits.
 */
export interface Domain {
  readonly db: Db
  readonly wakeups: Wakeups<Topic>
  readonly clock: Clock
  readonly time: Time
  readonly log: Log
  /** Single-user mode: no log-in, and limits without a value do not apply. Decided at start. */
  readonly singleUser: boolean
  /** The file to which this process copies heads of the audit log; absent: none. */
  readonly auditHeadFile?: string | null
}

/** Values that are created once per domain, on first use, and live as long as the domain. */
export function perDomain<T>(make: (domain: Domain) => T): (domain: Domain) => T {
  const made = new WeakMap<Domain, { value: T }>()
  return (domain) => {
    const known = made.get(domain) ?? { value: make(domain) }
    made.set(domain, known)
    return known.value
  }
}

/**
 * Topics of wake-ups. `event`: an event has no position yet (for the sequencer of the same process). `feed`: events got
 * positions. `queue`: a job may be able to start. `question`: the leader of a pool has a question to answer. `answer`:
 * it has answered. `view`: a leader changed what it shows of its pool. `start`: a run is to be started. `run`: a run is
 * to be stopped or to leave. `log`: bytes were stored, or a log was sealed or closed. `access`: a person or a token
 * lost a right. `schema`: the database was migrated.
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
/** Topics that stay in the process: the one that writes events also numbers them. */
export const localTopics: readonly Topic[] = ['event']
export type Topic = (typeof topics)[number]
