import type { Sql } from '../platform/tx.ts'
import type { Domain } from './domain.ts'
import { vacate } from './leadership.ts'

/**
 * What the leader of a pool must hear to plan with what is true: rows of `pool_change`, written in the transaction of the
 * change. Entries of the queue are told by triggers, runs by `transition`; the rest by those who change it, through here.
 */
export async function tellNodes(sql: Sql, pool: string): Promise<void> {
  await sql.query("INSERT INTO pool_change (pool, kind) VALUES ($1, 'NODES')", [pool])
}

/** Policy, limits, weights, reservations: starts that were planned before are refused from here on. */
export async function tellSettings(sql: Sql, pool: string): Promise<void> {
  await sql.query(
    `WITH revised AS (UPDATE pool SET revision = revision + 1 WHERE name = $1 RETURNING name)
     INSERT INTO pool_change (pool, kind) SELECT name, 'SETTINGS' FROM revised`,
    [pool],
  )
}

/** The same, of limits and of what their defaults depend on: what was started before them exceeds none of them. */
export async function tellLimits(sql: Sql, pool: string): Promise<void> {
  await tellSettings(sql, pool)
  await sql.query('UPDATE pool SET limits_revision = revision WHERE name = $1', [pool])
}

/** A run whose standing changed other than by a move: it was asked to leave. */
export async function tellRuns(sql: Sql, pool: string, runIds: readonly string[]): Promise<void> {
  await sql.query("INSERT INTO pool_change (pool, kind, run_id) SELECT $1, 'RUN', unnest($2::text[])", [pool, runIds])
}

/** After so long without a leader nobody keeps for the next one what it will load anyway. */
const silentMs = 5 * 60_000
const forgottenPerTransaction = 10_000
const transactionsMax = 1_000

/**
 * What was told of pools that nobody leads would grow for ever. Whoever leads them next loads everything first, the gates
 * that are due among it, and a leader that has only been away has to take over again.
 */
export async function forgetUnheard({ db }: Domain, signal?: AbortSignal): Promise<void> {
  const silent = await db.sql.query<{ pool: string }>(silentSql, [silentMs])
  for (const { pool } of silent)
    for (let i = 0, more = true; more && i < transactionsMax && !signal?.aborted; i++)
      more = await db.transaction((sql) => forgetSome(sql, pool))
}

const silentSql = `
SELECT name AS pool FROM pool WHERE EXISTS (SELECT FROM pool_change c WHERE c.pool = name) AND NOT EXISTS (
  SELECT FROM scheduler_lease l WHERE l.pool = name AND l.renewed_at > berth_now() - $1 * interval '1 millisecond')`

/** Whether there may be more. */
async function forgetSome(sql: Sql, pool: string): Promise<boolean> {
  if (!(await vacate(sql, pool, silentMs))) return false
  const forgotten = await sql.query(
    'DELETE FROM pool_change WHERE id IN (SELECT id FROM pool_change WHERE pool = $1 ORDER BY id LIMIT $2) RETURNING 1',
    [pool, forgottenPerTransaction],
  )
  return forgotten.length === forgottenPerTransaction
}
