import { advisoryLocks } from '../../platform/advisory-locks.ts'
import { createLoop, type Loop } from '../../platform/loop.ts'
import { createRareLook } from '../../platform/rare-look.ts'
import { withoutNestedLoops } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'

/**
 * The sequencer gives every event and every deletion of a job its position in the feed. Positions have no gaps and grow
 * in commit order; events of one job follow `seq`, and its deletion comes last. A `bigserial` cannot do this: it draws
 * numbers before the commit, so event 6 could become visible after a reader has passed 7.
 *
 * Every process runs this loop. It takes the lock before the statement that reads events, so a process that waited for
 * the lock sees the positions that the other one gave.
 *
 * While a transaction is open, such as a backup, numbered events stay in the index and slow queries down. So most
 * queries skip transactions whose events are all numbered. A failover may give transactions smaller numbers, so every
 * few seconds a query includes all events.
 */

const batchMax = 5_000
const pollMs = 1_000
const readAllEveryMs = 5_000
const readAllPauseMsMax = 30_000

export function createSequencer(domain: Domain): Loop {
  const { clock, log } = domain
  let openXact = 0
  /** true: this process wrote events since the last query. */
  let hasNews = true
  const lookAtAll = createRareLook({ clock, everyMs: readAllEveryMs, pauseMsMax: readAllPauseMsMax })
  async function sequenceFrom(fromXact: number, look: typeof sequenceOnce) {
    let looked = await look(domain, fromXact)
    while (looked.found >= batchMax) looked = await sequenceOnce(domain, fromXact)
    // After a failover, events may belong to transactions with smaller numbers.
    if (looked.openXact < openXact) lookAtAll.ask()
    openXact = looked.openXact
  }
  async function runOnce() {
    const hadNews = hasNews
    hasNews = false
    if (openXact > 0 && (hadNews || !lookAtAll.isDue()))
      await sequenceFrom(openXact, hadNews ? sequenceOnce : sequenceIfAny)
    if (lookAtAll.isDue()) await lookAtAll.run(() => sequenceFrom(0, sequenceIfAny))
  }
  const loop = createLoop({ name: 'sequencer', pollMs, clock, log, runOnce })
  domain.wakeups.on('event', () => {
    hasNews = true
    loop.wake()
  })
  return loop
}

export async function sequenceAll(domain: Pick<Domain, 'db'>): Promise<void> {
  while ((await sequenceBatch(domain, 0)).found > 0);
}

interface Sequenced {
  found: number
  /**
   * The oldest transaction that was open. If less than a full batch was found, all events of older transactions have a
   * position.
   */
  openXact: number
}

/** Numbers at most one batch of events of transactions from `fromXact` on, and one batch of deletions. */
export async function sequenceOnce({ db, wakeups }: Pick<Domain, 'db' | 'wakeups'>, fromXact = 0): Promise<Sequenced> {
  const row = await sequenceBatch({ db }, fromXact)
  if (row.found > 0) wakeups.poke('feed')
  return row
}

async function sequenceBatch({ db }: Pick<Domain, 'db'>, fromXact: number): Promise<Sequenced> {
  // The statements are sent together, but each sees everything that was committed before the previous one ended.
  const looked = await db.endingTransaction(async (sql) => {
    const locked = sql.query('SELECT pg_advisory_xact_lock($1, 0)', [advisoryLocks.sequencer], 'sequence_lock')
    const numbered = sql.query<Sequenced>(sequenceSql, [batchMax, fromXact], 'sequence')
    return { result: numbered, writes: Promise.all([locked, numbered]) }
  }, withoutNestedLoops)
  return looked[0] ?? { found: 0, openXact: 0 }
}

/** Takes the lock only if a query without the lock finds an event or deletion to number. */
async function sequenceIfAny(domain: Pick<Domain, 'db' | 'wakeups'>, fromXact = 0): Promise<Sequenced> {
  const [row] = await domain.db.sql.query<{ isAny: boolean; openXact: number }>(anySql, [fromXact], 'sequence_any')
  return row && !row.isAny ? { found: 0, openXact: row.openXact } : sequenceOnce(domain, fromXact)
}

const anySql = `
SELECT EXISTS (SELECT FROM event WHERE position IS NULL AND xact >= $1)
    OR EXISTS (SELECT FROM deleted_job WHERE position IS NULL) AS "isAny",
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS "openXact"`

/**
 * A running maximum keeps events of a job in the order of `seq` even if the clock was set back. A deletion has no
 * `seq`.
 */
const sequenceSql = `
WITH open AS MATERIALIZED (
  SELECT job_id, seq, max(at) OVER (PARTITION BY job_id ORDER BY seq) AS at
  FROM (SELECT job_id, seq, at FROM event WHERE position IS NULL AND xact >= $2 ORDER BY job_id, seq LIMIT $1) e
  UNION ALL
  SELECT d.* FROM (SELECT job_id, NULL::bigint, at FROM deleted_job WHERE position IS NULL ORDER BY at, job_id LIMIT $1) d
),
numbered AS MATERIALIZED (
  SELECT job_id, seq, row_number() OVER (ORDER BY at, job_id, seq) AS n FROM open
),
head AS (
  UPDATE feed_head SET position = position + (SELECT count(*) FROM numbered)
  WHERE EXISTS (SELECT FROM numbered)
  RETURNING position - (SELECT count(*) FROM numbered) AS before
),
given AS (
  UPDATE event SET position = head.before + numbered.n FROM numbered, head
  WHERE event.job_id = numbered.job_id AND event.seq = numbered.seq AND event.position IS NULL AND event.xact >= $2
),
told AS (
  UPDATE deleted_job SET position = head.before + numbered.n FROM numbered, head
  WHERE deleted_job.job_id = numbered.job_id AND numbered.seq IS NULL AND deleted_job.position IS NULL
)
SELECT (SELECT count(*)::int FROM numbered) AS found,
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS "openXact"`
