import type { PoolChangeKind } from '../platform/generated/client.ts'
import type { Sql, Tx } from '../platform/tx.ts'
import type { Domain } from './domain.ts'
import { lockVacantKey } from './leadership.ts'

/** Inserts messages for the leader of a pool (`pool_change`). Triggers and `transition` insert others. */

export const announceNodes = (sql: Sql, pool: string): Promise<void> => tell(sql, pool, 'NODES', [null])

/** Leaders refuse starts that were planned before this change. */
export const announceSettings = (sql: Sql, pool: string): Promise<void> => revise(sql, pool, ['SETTINGS'])

export const announceSettingsAndNodes = (sql: Sql, pool: string): Promise<void> =>
  revise(sql, pool, ['SETTINGS', 'NODES'])

/** Also records the revision of the limits, so that the self-check accepts runs that started under the old ones. */
export const announceLimits = (sql: Sql, pool: string): Promise<void> => revise(sql, pool, ['SETTINGS'], true)

export async function announceLimitsOfAllPools(tx: Tx): Promise<void> {
  const pools = await tx.prisma.pool.findMany({ orderBy: { name: 'asc' }, select: { name: true } })
  for (const { name } of pools) await announceLimits(tx, name)
}

async function revise(sql: Sql, pool: string, kinds: readonly PoolChangeKind[], ofLimits = false): Promise<void> {
  await sql.query(
    `WITH revised AS (
       UPDATE pool SET revision = revision + 1,
         limits_revision = CASE WHEN $3::boolean THEN revision + 1 ELSE limits_revision END
       WHERE name = $1 RETURNING name
     )
     INSERT INTO pool_change (pool, kind) SELECT name, unnest($2::pool_change_kind[]) FROM revised`,
    [pool, kinds, ofLimits],
  )
}

/** For runs whose preemption was requested, which does not change their state. */
export const announceRuns = (sql: Sql, pool: string, runIds: readonly string[]): Promise<void> =>
  tell(sql, pool, 'RUN', runIds)

async function tell(sql: Sql, pool: string, kind: PoolChangeKind, runIds: readonly (string | null)[]): Promise<void> {
  await sql.query('INSERT INTO pool_change (pool, kind, run_id) SELECT $1, $2::pool_change_kind, unnest($3::text[])', [
    pool,
    kind,
    runIds,
  ])
}

/** After this time without a leader, the changes of a pool are deleted; its next leader loads everything. */
const leaderlessMs = 5 * 60_000
const deletedPerTransaction = 10_000
const transactionsMax = 1_000

/**
 * Deletes the changes of pools that have no leader, since they would accumulate. A new leader loads everything,
 * including the gates that are due. A leader that was only unreachable must take over again first.
 */
export async function deleteUnreadChanges({ db }: Domain, signal?: AbortSignal): Promise<void> {
  const leaderless = await db.sql.query<{ pool: string }>(leaderlessPoolsSql, [leaderlessMs])
  for (const { pool } of leaderless)
    for (let i = 0, more = true; more && i < transactionsMax && !signal?.aborted; i++)
      more = await db.transaction((sql) => deleteSomeChanges(sql, pool))
}

const leaderlessPoolsSql = `
SELECT name AS pool FROM pool WHERE EXISTS (SELECT FROM pool_change c WHERE c.pool = name) AND NOT EXISTS (
  SELECT FROM scheduler_lease l WHERE l.pool = name AND l.renewed_at > berth_now() - $1 * interval '1 millisecond')`

async function deleteSomeChanges(sql: Sql, pool: string): Promise<boolean> {
  if (!(await lockVacantKey(sql, pool, leaderlessMs))) return false
  const deleted = await sql.query(
    'DELETE FROM pool_change WHERE ctid = ANY(ARRAY(SELECT ctid FROM pool_change WHERE pool = $1 ORDER BY id LIMIT $2)) RETURNING 1',
    [pool, deletedPerTransaction],
  )
  return deleted.length === deletedPerTransaction
}
