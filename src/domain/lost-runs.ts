import type { Sql } from '../platform/tx.ts'
import { tellNodes, tellSettings } from './changes.ts'
import { lockPool } from './limits.ts'
import { recordLateReport } from './runs.ts'

/**
 * Nodes that do not answer. A run on such a node is given up, and may be run again elsewhere, while its old process may
 * still be there: so the node is LOST, and nothing is placed on it until it answers again and each of its old runs was
 * seen to be stopped. Verbs of the leader, in its open transaction.
 */

/**
 * Before the run's end is stored, which gives back what it holds: nothing may be started there from this moment on, and
 * starts that were planned before are refused.
 */
export async function loseNodes(sql: Sql, pool: string, runId: string): Promise<void> {
  await lockPool(sql, pool)
  await sql.query('UPDATE run SET lost_at = coalesce(lost_at, berth_now()) WHERE id = $1', [runId])
  const lost = await sql.query(
    `UPDATE node SET state_before = state, state = 'LOST'
     WHERE id IN (SELECT node_id FROM allocation WHERE run_id = $1) AND state <> 'LOST' RETURNING 1`,
    [runId],
  )
  if (lost.length > 0) await tellAll(sql, pool)
}

/** Silence is measured by the database's time, like everything that expires. */
export async function readNowMs(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ now: Date }>('SELECT berth_now() AS now', [], 'now')
  if (!row) throw new Error('A query without tables has no row')
  return row.now.getTime()
}

export interface LostRun {
  runId: string
  jobId: string
  number: number
  executor: string
  handle: string
  /** It was found again before its end was stored: it is not to be stopped. */
  alive: boolean
}

const lostMax = 1_000

export const readLostRuns = (sql: Sql, pool: string): Promise<LostRun[]> =>
  sql.query<LostRun>(
    `SELECT r.id AS "runId", r.job_id AS "jobId", r.number, j.executor, r.handle,
       r.state IN ('STARTING', 'RUNNING', 'CANCELLING') AS alive
     FROM run r JOIN job j ON j.id = r.job_id
     WHERE r.pool = $1 AND r.lost_at IS NOT NULL AND r.handle IS NOT NULL ORDER BY r.lost_at LIMIT ${lostMax}`,
    [pool],
    'lost_runs',
  )

/** They are stopped, or were never lost: nodes without further ones are what they were before. */
export async function findRuns(sql: Sql, pool: string, runs: readonly LostRun[]): Promise<void> {
  await lockPool(sql, pool)
  const runIds = runs.map(({ runId }) => runId)
  await sql.query('UPDATE run SET lost_at = NULL WHERE id = ANY($1::text[])', [runIds])
  for (const { jobId, number, alive } of runs)
    if (!alive)
      await recordLateReport(sql, { jobId, run: number, message: `Run ${number} is stopped on the lost node` })
  const back = await sql.query(
    `UPDATE node SET state = state_before, state_before = NULL WHERE pool = $1 AND state = 'LOST'
       AND NOT EXISTS (SELECT FROM run r WHERE r.pool = $1 AND r.lost_at IS NOT NULL AND node.name = ANY(r.nodes)) RETURNING 1`,
    [pool],
  )
  if (back.length > 0) await tellAll(sql, pool)
}

async function tellAll(sql: Sql, pool: string): Promise<void> {
  await tellSettings(sql, pool)
  await tellNodes(sql, pool)
}
