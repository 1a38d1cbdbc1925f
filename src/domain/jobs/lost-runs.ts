import type { Sql } from '../../platform/tx.ts'
import { announceSettingsAndNodes } from '../changes.ts'
import { lockPool } from '../limits/limits.ts'
import { recordLateReport } from './runs.ts'

/**
 * Handles unreachable nodes. A run on such a node is given up and may run again elsewhere, while its old process may
 * still exist. So the node becomes LOST and gets no runs until all of its old runs have stopped. Called by the leader
 * in its open transaction.
 */

/**
 * Call this before the resources of the run are freed, so that every planned start on the node is refused. A
 * provisional allocation is a guess, so its node is not marked.
 */
export async function markNodesLost(sql: Sql, pool: string, runId: string): Promise<void> {
  await lockPool(sql, pool)
  await markLost(sql, [runId], true)
  await setLost(sql, pool, {
    which: 'id IN (SELECT node_id FROM allocation WHERE run_id = $2 AND NOT provisional)',
    of: runId,
  })
}

async function markLost(sql: Sql, runIds: readonly string[], isLost: boolean): Promise<void> {
  await sql.query(
    'UPDATE run SET lost_at = CASE WHEN $2 THEN coalesce(lost_at, berth_now()) END WHERE id = ANY($1::text[])',
    [runIds, isLost],
  )
}

/** `which`: a condition on the nodes of the pool, with `of` as its parameter $2. */
async function setLost(sql: Sql, pool: string, { which, of }: { which: string; of: unknown }): Promise<void> {
  const lost = await sql.query(
    `UPDATE node SET state_before = state, state = 'LOST' WHERE pool = $1 AND state <> 'LOST' AND ${which} RETURNING 1`,
    [pool, of],
  )
  if (lost.length > 0) await announceSettingsAndNodes(sql, pool)
}

export interface LostRun {
  runId: string
  jobId: string
  number: number
  executor: string
  handle: string
}

const lostMax = 1_000

export const readLostRuns = (sql: Sql, pool: string): Promise<LostRun[]> =>
  sql.query<LostRun>(
    `SELECT r.id AS "runId", r.job_id AS "jobId", r.number, j.executor, r.handle
     FROM run r JOIN job j ON j.id = r.job_id
     WHERE r.pool = $1 AND r.lost_at IS NOT NULL AND r.handle IS NOT NULL ORDER BY r.lost_at LIMIT ${lostMax}`,
    [pool],
    'lost_runs',
  )

/** Records that these runs have stopped, so that their nodes can return (`returnNodes`). */
export async function markRunsFound(sql: Sql, pool: string, runs: readonly LostRun[]): Promise<void> {
  await lockPool(sql, pool)
  await markLost(
    sql,
    runs.map(({ runId }) => runId),
    false,
  )
  for (const { jobId, number } of runs)
    await recordLateReport(sql, { jobId, run: number, message: `Stopping run ${number} on the lost node` })
}

export interface SeenNode {
  name: string
  isLost: boolean
  /** true: `lastSeenAt` is older than `seenEverySeconds`. */
  isDue: boolean
}

/** A leader updates `lastSeenAt` at most this often. */
const seenEverySeconds = 10

export const readSeenNodes = (sql: Sql, pool: string): Promise<SeenNode[]> =>
  sql.query<SeenNode>(
    `SELECT name, state = 'LOST' AS "isLost",
       coalesce(last_seen_at < berth_now() - $2 * interval '1 second', true) AS "isDue"
     FROM node WHERE pool = $1 ORDER BY name`,
    [pool, seenEverySeconds],
    'seen_nodes',
  )

export async function markSeen(sql: Sql, pool: string, reachable: readonly string[]): Promise<void> {
  await sql.query(
    'UPDATE node SET last_seen_at = berth_now() WHERE pool = $1 AND name = ANY($2::text[])',
    [pool, reachable],
    'mark_seen',
  )
}

/** Marks the nodes `names` LOST, which were unreachable for too long. */
export async function markSilentNodesLost(sql: Sql, pool: string, names: readonly string[]): Promise<void> {
  await lockPool(sql, pool)
  await setLost(sql, pool, { which: 'name = ANY($2::text[])', of: names })
}

/** Restores the earlier state of lost nodes that are reachable and have no lost runs. Returns their names. */
export async function returnNodes(sql: Sql, pool: string, reachable: readonly string[]): Promise<string[]> {
  await lockPool(sql, pool)
  const back = await sql.query<{ name: string }>(
    `UPDATE node SET state = state_before, state_before = NULL
     WHERE pool = $1 AND state = 'LOST' AND name = ANY($2::text[])
       AND NOT EXISTS (SELECT FROM run r WHERE r.pool = $1 AND r.lost_at IS NOT NULL AND node.name = ANY(r.nodes)) RETURNING name`,
    [pool, reachable],
  )
  if (back.length > 0) await announceSettingsAndNodes(sql, pool)
  return back.map(({ name }) => name)
}
