import type { Sql } from '../../platform/tx.ts'
import { announceNodes, announceSettingsAndNodes } from '../changes.ts'
import { lockPool } from '../limits/limits.ts'

/**
 * Counts failed starts against the node; otherwise a bad node would fail one waiting job after the other. The node
 * backs off for 1, 2, 4 … seconds, up to five minutes. Then one run at a time is tried until a start succeeds. All
 * nodes of a delegated backend back off together. Called by the leader in its open transaction.
 */

export interface StartFailure {
  runId: string
  /** true: the executor reports the node as the cause, not the job. */
  isNodes: boolean
  message: string
}

export interface NodeTrouble {
  node: string
  failures: number
  seconds: number
  because: string
  /** true: the start before this one succeeded. */
  isFirst: boolean
}

const backOffSecondsMax = 300
/** Number of consecutive failures of unknown cause before the node backs off. */
const unknownMax = 3

/** Length of the back-off; 0: none yet. */
export function computeBackOffSeconds(failures: number, isNodes: boolean): number {
  const beyond = failures - (isNodes ? 1 : unknownMax)
  return beyond < 0 ? 0 : Math.min(backOffSecondsMax, 2 ** beyond)
}

/** Counts a failed start. Ignores failures during a back-off, because their starts were decided before it. */
export async function countStartFailure(
  sql: Sql,
  pool: string,
  { runId, isNodes, message }: StartFailure,
): Promise<NodeTrouble[]> {
  await lockPool(sql, pool)
  const counted = await sql.query<{ node: string; failures: number; isFirst: boolean }>(
    `UPDATE node SET start_failures = start_failures + 1
     WHERE pool = $1 AND (delegated OR name IN (SELECT unnest(nodes) FROM run WHERE id = $2))
       AND coalesce(backs_off_until <= berth_now(), true)
     RETURNING name AS node, start_failures AS failures, backs_off_until IS NULL AS "isFirst"`,
    [pool, runId],
  )
  const troubles = counted
    .map((one) => ({ ...one, seconds: computeBackOffSeconds(one.failures, isNodes), because: message }))
    .filter(({ seconds }) => seconds > 0)
  for (const { node, seconds } of troubles)
    await sql.query(
      `UPDATE node SET backs_off_until = berth_now() + $3 * interval '1 second', backs_off_because = $4
       WHERE pool = $1 AND name = $2`,
      [pool, node, seconds, message],
    )
  if (troubles.length > 0) await announceSettingsAndNodes(sql, pool)
  return troubles
}

/**
 * Resets the failures after a successful start. Ignores a start decided before the back-off. `well`: nodes that
 * recovered; `remain`: other nodes still have failures.
 */
export async function forgetStartFailures(
  sql: Sql,
  pool: string,
  runIds: readonly string[],
): Promise<{ well: string[]; remain: boolean }> {
  const [row] = await sql.query<{ well: string[]; remain: boolean }>(
    `WITH well AS MATERIALIZED (
       SELECT node.id, node.backs_off_until IS NOT NULL AS backed_off FROM node
       WHERE pool = $1 AND start_failures > 0 AND EXISTS (
         SELECT FROM run r WHERE r.id = ANY($2::text[]) AND (node.delegated OR node.name = ANY(r.nodes))
           AND coalesce(r.scheduled_at >= node.backs_off_until, true)) FOR UPDATE
     ),
     forgotten AS (
       UPDATE node SET start_failures = 0, backs_off_until = NULL, backs_off_because = NULL
       FROM well WHERE node.id = well.id RETURNING name, backed_off
     )
     SELECT coalesce(array_agg(name) FILTER (WHERE backed_off), '{}') AS well,
       EXISTS (SELECT FROM node WHERE pool = $1 AND start_failures > 0 AND id NOT IN (SELECT id FROM well)) AS remain
     FROM forgotten`,
    [pool, runIds],
  )
  const { well = [], remain = false } = row ?? {}
  if (well.length > 0) await announceNodes(sql, pool)
  return { well, remain }
}
