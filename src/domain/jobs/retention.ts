import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { holdingSql } from '../state.ts'
import { lockSubmissions } from '../submission-lock.ts'
import { visitFinished } from './finished.ts'

/**
 * Removes old jobs, events and records. Alive jobs and the jobs that they depend on are never removed, and each job
 * keeps its newest event.
 */

export const jobsPerBatch = 500
const batchMax = jobsPerBatch

export async function expireJobs({ db }: Domain, before: Date): Promise<number> {
  return repeat(() => db.transaction((sql) => removeOldJobs(sql, before)))
}

/** Removes one batch. Returns the number of removed jobs; fewer than `jobsPerBatch`: it was the last batch. */
export async function removeOldJobs(sql: Sql, before: Date): Promise<number> {
  return removeJobs(sql, await lockOldJobs(sql, before))
}

/** Removes final jobs that the caller has locked, and the dependencies on them. Returns the number of removed jobs. */
export async function removeJobs(sql: Sql, ids: readonly string[]): Promise<number> {
  const rows = await sql.query(
    `WITH freed AS (DELETE FROM dependency WHERE on_job_id = ANY($1::text[]))
     DELETE FROM job WHERE id = ANY($1::text[]) RETURNING 1`,
    [ids],
  )
  return rows.length
}

async function lockOldJobs(sql: Sql, before: Date): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM job WHERE log_closed AND coalesce(finished_at, 'infinity') < $1
       AND NOT EXISTS (SELECT FROM dependency d JOIN job j ON j.id = d.job_id WHERE d.on_job_id = job.id AND NOT j.log_closed)
     ORDER BY coalesce(finished_at, 'infinity') LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [before, batchMax],
  )
  return rows.map(({ id }) => id)
}

/** Removes records of deleted jobs, in the order of their positions. Returns their number. */
export const expireDeletions = (domain: Domain, before: Date): Promise<number> =>
  removeFromFeed(
    domain,
    before,
    `DELETE FROM deleted_job WHERE ctid = ANY(ARRAY(
       SELECT place FROM (SELECT ctid AS place, at FROM deleted_job WHERE position IS NOT NULL ORDER BY position LIMIT $2) first
       WHERE at < $1))
     RETURNING position`,
  )

/** Removes events, except the newest one of each job. Returns their number. */
export async function expireEvents(domain: Domain, before: Date, signal?: AbortSignal): Promise<number> {
  let total = 0
  await visitFinished(domain, {
    task: 'EXPIRE_EVENTS',
    until: before,
    visit: async (jobIds) => {
      total += await removeFromFeed(domain, jobIds, expireEventsSql)
      return true
    },
    signal,
  })
  return total
}

const expireEventsSql = `
DELETE FROM event WHERE ctid = ANY(ARRAY(
  SELECT e.ctid FROM job j JOIN event e ON e.job_id = j.id
  WHERE j.id = ANY($1::text[]) AND e.seq < j.version AND e.position IS NOT NULL LIMIT $2))
RETURNING position`

/**
 * Stores the highest removed position, so that a reader that is behind it gets an error instead of skipping entries
 * silently.
 */
const removeFromFeed = ({ db }: Domain, chosen: Date | readonly string[], removeSql: string): Promise<number> =>
  repeat(async () => {
    const [row] = await db.sql.query<{ count: number }>(
      `WITH gone AS (${removeSql}),
       told AS (
         UPDATE feed_head SET forgotten = greatest(forgotten, (SELECT max(position) FROM gone)) WHERE EXISTS (SELECT FROM gone)
       )
       SELECT count(*) AS count FROM gone`,
      [chosen, batchMax],
    )
    return row?.count ?? 0
  })

/** Reads the ids of jobs with an alive run that started before `before`. */
export async function readJobsRunningSince(sql: Sql, before: Date): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT job_id AS id FROM run WHERE state IN ${holdingSql} AND scheduled_at < $1`,
    [before],
  )
  return rows.map(({ id }) => id)
}

const slotDaysKept = 31

export const expireSlots = ({ db }: Domain): Promise<number> => removeInBatches(db.sql, expireSlotsSql, [slotDaysKept])

const expireSlotsSql = `
DELETE FROM slot_reservation WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM slot_reservation WHERE created_at < (SELECT berth_now()) - $2 * interval '1 day' ORDER BY created_at LIMIT $1))
RETURNING 1`

/** Removes lanes that no job can return to; if a later job needs such a lane, it is created again. */
export async function expireLanes(domain: Domain): Promise<number> {
  return repeat(async () => removeUnusedLanes(domain, await readUnusedLanes(domain.db.sql)))
}

export async function readUnusedLanes(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(`SELECT l.id FROM lane l WHERE ${unusedSql} LIMIT $1`, [batchMax])
  return rows.map(({ id }) => id)
}

/**
 * Takes the submission lock, as every transaction that moves a job to another lane does, so that lane is not removed
 * meanwhile.
 */
export async function removeUnusedLanes({ db }: Domain, laneIds: readonly string[]): Promise<number> {
  if (laneIds.length === 0) return 0
  return db.transaction(async (sql) => {
    await lockSubmissions(sql)
    const gone = await sql.query(`DELETE FROM lane l WHERE l.id = ANY($1::uuid[]) AND ${unusedSql} RETURNING 1`, [
      laneIds,
    ])
    return gone.length
  })
}

/**
 * SQL condition: no job uses the lane. Reads only its first entry, by the index. A lane with unread changes is in use:
 * a leader will read them.
 */
const unusedSql = `(SELECT q.lane_id FROM queue_entry q WHERE q.lane_id = l.id LIMIT 1) IS NULL AND NOT EXISTS (
  SELECT FROM (
    SELECT j.lane_id FROM run r JOIN job j ON j.id = r.job_id WHERE r.state IN ${holdingSql}
    UNION ALL
    SELECT j.lane_id FROM approval a JOIN job j ON j.id = a.job_id WHERE a.status = 'PENDING'
    UNION ALL
    SELECT c.lane_id FROM pool_change c
  ) used WHERE used.lane_id = l.id)`

async function repeat(work: () => Promise<number>): Promise<number> {
  let total = 0
  for (let count = batchMax; count === batchMax; ) {
    count = await work()
    total += count
  }
  return total
}
