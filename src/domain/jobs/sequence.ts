import { advisoryLocks } from '../../platform/advisory-locks.ts'
import { createLoop, type Loop } from '../../platform/loop.ts'
import type { Domain } from '../domain.ts'

/**
 * The sequencer: gives every event, and every deletion of a job, its position in the feed over all jobs. Positions are
 * dense and grow in commit order; within a job they follow seq, and its deletion comes last. A bare `bigserial` would not do: numbers are drawn before the commit, so 6 may
 * become visible after a reader has passed 7, and the reader would miss it.
 *
 * Every process runs this loop; the lock lets one of them number at a time. It is taken before the statement that looks
 * for events, so a process that waited for it sees what the other did.
 */

const batchMax = 5_000
const pollMs = 1_000

export function createSequencer(domain: Domain): Loop {
  const loop = createLoop({
    name: 'sequencer',
    pollMs,
    clock: domain.clock,
    log: domain.log,
    runOnce: async () => {
      while ((await sequenceOnce(domain)) >= batchMax);
    },
  })
  domain.wakeups.on('event', loop.wake)
  return loop
}

/** Numbers at most one batch of events and one of deletions without a position; returns how many. */
export async function sequenceOnce({ db, wakeups }: Pick<Domain, 'db' | 'wakeups'>): Promise<number> {
  const numbered = await db.transaction(async (sql) => {
    await sql.query('SELECT pg_advisory_xact_lock($1, 0)', [advisoryLocks.sequencer], 'sequence_lock')
    const [row] = await sql.query<{ count: number }>(sequenceSql, [batchMax], 'sequence')
    return row?.count ?? 0
  })
  if (numbered > 0) wakeups.poke('feed')
  return numbered
}

/**
 * Ordered by time over jobs; a running maximum keeps the order of seq inside a job if the clock stepped back. A deletion
 * has no seq; the events of its job went with it.
 */
const sequenceSql = `
WITH open AS MATERIALIZED (
  SELECT job_id, seq, max(at) OVER (PARTITION BY job_id ORDER BY seq) AS at
  FROM (SELECT job_id, seq, at FROM event WHERE position IS NULL ORDER BY job_id, seq LIMIT $1) e
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
  WHERE event.job_id = numbered.job_id AND event.seq = numbered.seq
  RETURNING 1
),
told AS (
  UPDATE deleted_job SET position = head.before + numbered.n FROM numbered, head
  WHERE deleted_job.job_id = numbered.job_id AND numbered.seq IS NULL
  RETURNING 1
)
SELECT ((SELECT count(*) FROM given) + (SELECT count(*) FROM told))::int AS count`
