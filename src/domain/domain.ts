import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Wakeups } from '../platform/wakeup.ts'

/** What every verb of the domain needs. `clock` is for ids and waits; rules use database time, berth_now(). */
export interface Domain {
  readonly db: Db
  readonly wakeups: Wakeups
  readonly clock: Clock
  readonly log: Log
}

/**
 * What can be looked at again. `event`: an event has no position yet (for the sequencer of the same process). `feed`:
 * positions were given. `queue`: something may start. `run`: a run is to be started or stopped. `log`: bytes were
 * stored, or a log was sealed or closed. `progress`: a job reported progress.
 */
export const topics = ['event', 'feed', 'queue', 'run', 'log', 'progress'] as const
export type Topic = (typeof topics)[number]
