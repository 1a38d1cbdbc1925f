import type { PoolChangeKind } from '../platform/generated/client.ts'
import type { Sql, Tx } from '../platform/tx.ts'
import type { Domain } from './domain.ts'
import { vacate } from './leadership.ts'

/**
 * Changes that the leader of a pool must know before it plans: rows of `pool_change`, written in the transaction of the
 * change. Triggers write those of queue entries, `transition` those of runs, the functions here all others.
 */

export const tellNodes = (sql: Sql, pool: string): Promise<void> => tell(sql, pool, { kind: 'NODES', runIds: [null] })

/** Policy, limits, weights and reservations. Starts that were planned before the change are refused. */
export const tellSettings = (sql: Sql, pool: string): Promise<void> => revise(sql, pool, { kinds: ['SETTINGS'] })

/** Nodes whose change starts must wait for. */
export const tellSettingsAndNodes = (sql: Sql, pool: string): Promise<void> =>
  revise(sql, pool, { kinds: ['SETTINGS', 'NODES'] })

/** Limits and what their defaults depend on. Runs that were started before the change do not violate them. */
export const tellLimits = (sql: Sql, pool: string): Promise<void> =>
  revise(sql, pool, { kinds: ['SETTINGS'], ofLimits: true })

export async function tellLimitsOfAllPools(tx: Tx): Promise<void> {
  const pools = await tx.prisma.pool.findMany({ orderBy: { name: 'asc' }, select: { name: true } })
  for (const { name } of pools) await tellLimits(tx, name)
}

interface Revision {
  kinds: readonly PoolChangeKind[]
  ofLimits?: boolean
}

async function revise(sql: Sql, pool: string, { kinds, ofLimits = false }: Revision): Promise<void> {
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

/** A run changed without a move: it was asked to leave. */
export const tellRuns = (sql: Sql, pool: string, runIds: readonly string[]): Promise<void> =>
  tell(sql, pool, { kind: 'RUN', runIds })

/** A change for each run; null: of no run. */
interface Told {
  kind: PoolChangeKind
  runIds: readonly (string | null)[]
}

async function tell(sql: Sql, pool: string, { kind, runIds }: Told): Promise<void> {
  await sql.query('INSERT INTO pool_change (pool, kind, run_id) SELECT $1, $2::pool_change_kind, unnest($3::text[])', [
    pool,
    kind,
    runIds,
  ])
}

/** A pool without a leader keeps its changes for this long; after that, its next leader loads everything. */
const silentMs = 5 * 60_000
const forgottenPerTransaction = 10_000
const transactionsMax = 1_000

/**
 * Removes the changes of pools without a leader, which would otherwise grow without end. The next leader of such a pool
 * loads everything first, including the gates that are due. A leader that was only away has to take over again.
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

/** Returns whether more may be left. */
async function forgetSome(sql: Sql, pool: string): Promise<boolean> {
  if (!(await vacate(sql, pool, silentMs))) return false
  const forgotten = await sql.query(
    'DELETE FROM pool_change WHERE id IN (SELECT id FROM pool_change WHERE pool = $1 ORDER BY id LIMIT $2) RETURNING 1',
    [pool, forgottenPerTransaction],
  )
  return forgotten.length === forgottenPerTransaction
}
