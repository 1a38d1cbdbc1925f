import { newId } from '../../platform/ids.ts'
import { leaseTtlMs } from '../../platform/leadership.ts'
import type { Sql } from '../../platform/tx.ts'
import { lockApplied, rememberApplied, singleUserKey } from '../applied.ts'
import { tellLimits } from '../changes.ts'
import { applyRates, type Rates } from '../cost.ts'
import type { Domain } from '../domain.ts'
import type { Policy } from '../lanes.ts'
import { applyLimits, type LimitChange } from '../limits/limits.ts'
import { holdingSql } from '../state.ts'
import { applyNodes, type DeclaredNode } from './node-config.ts'
import { applyPlanning, changePolicy, type DeclaredPlanning } from './pool-settings.ts'

/**
 * Pools, nodes and queues of the configuration, put into the database when they are new or when the configuration says
 * something else than what was applied last; otherwise the database, and so what was changed at run time, wins.
 */
export interface DeclaredPool extends Partial<DeclaredPlanning> {
  name: string
  policy: Policy
  executors: readonly string[]
  relaxReplicas: boolean
  nodes: readonly DeclaredNode[]
  limits?: LimitChange
  /** undefined: nothing is known of costs. */
  rates?: Rates | undefined
}

export type { DeclaredNode }

export interface DeclaredQueue {
  name: string
  pool: string
  native: Readonly<Record<string, string>>
}

export async function applyPools(
  domain: Domain,
  { pools, queues }: { pools: readonly DeclaredPool[]; queues: readonly DeclaredQueue[] },
): Promise<void> {
  await domain.db.transaction(async (sql) => {
    await lockApplied(sql)
    for (const pool of pools) await applyDeclared(domain, sql, pool)
    if (await rememberApplied(sql, 'queues', queues)) await applyQueues(sql, queues)
    await applyMode(sql, domain.singleUser)
  })
  domain.wakeups.poke('queue')
}

async function applyDeclared(domain: Domain, sql: Sql, declared: DeclaredPool): Promise<void> {
  const { nodes, limits = {}, rates = null, scheduling = {}, weights = {}, ...pool } = declared
  if (await rememberApplied(sql, `pool/${pool.name}`, pool)) {
    await applyPool(sql, pool)
    domain.log.info({ pool: pool.name }, 'applied a pool of the configuration')
  }
  const changed = await applyNodes(sql, { pool: pool.name, nodes, nowMs: domain.time.nowMs() })
  if (changed.length > 0)
    domain.log.info({ pool: pool.name, nodes: changed }, 'applied nodes of a pool of the configuration')
  if (await applyPlanning(sql, pool.name, { scheduling, weights }))
    domain.log.info({ pool: pool.name, scheduling, weights }, 'applied how a pool of the configuration is planned')
  if (await applyLimits(sql, pool.name, limits, domain.time.nowMs()))
    domain.log.info({ pool: pool.name, limits }, 'applied the limits of a pool of the configuration')
  if (await applyRates(sql, pool.name, rates))
    domain.log.info({ pool: pool.name, rates }, 'applied the rates of a pool of the configuration')
}

async function applyPool(sql: Sql, pool: Omit<DeclaredPool, 'nodes'>): Promise<void> {
  await sql.query(
    `INSERT INTO pool (name, policy, executors, relax_replicas) VALUES ($1, $2::pool_policy, $3, $4)
     ON CONFLICT (name) DO UPDATE SET executors = excluded.executors, relax_replicas = excluded.relax_replicas`,
    [pool.name, pool.policy, pool.executors, pool.relaxReplicas],
  )
  await changePolicy(sql, pool.name, pool.policy)
  await tellLimits(sql, pool.name)
}

/** Limits that nobody set are another number in another mode. */
async function applyMode(sql: Sql, singleUser: boolean): Promise<void> {
  if (!(await rememberApplied(sql, singleUserKey, singleUser))) return
  const pools = await sql.query<{ name: string }>('SELECT name FROM pool ORDER BY name FOR NO KEY UPDATE')
  for (const { name } of pools) await tellLimits(sql, name)
}

async function applyQueues(sql: Sql, queues: readonly DeclaredQueue[]): Promise<void> {
  const rows = queues.map((queue, position) => ({ ...queue, position }))
  await sql.query('DELETE FROM submission_queue')
  await sql.query(
    `INSERT INTO submission_queue (name, pool, is_default, position, native)
     SELECT q.name, q.pool, q.position = 0, q.position, q.native
     FROM jsonb_to_recordset($1::jsonb) AS q(name text, pool text, position int, native jsonb)`,
    [JSON.stringify(rows)],
  )
}

/** The data directory of this process, as pools are bound to it. */
export interface Here {
  /** Lies in the directory. */
  id: string
  /** How an earlier version named it: machine id and path. */
  formerly: string
  /** The database lies in it as well: whoever uses that database is of this directory. */
  holdsDatabase: boolean
}

/**
 * Binds a pool whose jobs are processes of one machine to the data directory in which they are kept; the first that asks
 * gets it. True: this process may compete for it. Which of two directories with the same id leads is the leadership's to say.
 *
 * An earlier version bound pools to a machine and a path. What it bound elsewhere is taken over when nobody leads it and
 * nothing runs there: the directory was moved, or its container made again.
 */
export async function bindPool({ db }: Domain, pool: string, here: Here): Promise<boolean> {
  const rows = await db.sql.query(bindSql, [pool, here.id, here.formerly, here.holdsDatabase, leaseTtlMs])
  return rows.length > 0
}

const bindSql = `
UPDATE pool SET directory = $2, machine = NULL
WHERE name = $1 AND ($4 OR directory = $2 OR directory IS NULL AND (machine IS NULL OR machine = $3 OR (
    NOT EXISTS (SELECT FROM run r JOIN job j ON j.id = r.job_id
                WHERE j.pool = $1 AND r.state IN ${holdingSql})
    AND NOT EXISTS (SELECT FROM scheduler_lease
                    WHERE pool = $1 AND renewed_at > berth_now() - $5 * interval '1 millisecond'))))
RETURNING 1`

/** The user of single-user mode. */
export async function ensureLocalUser({ db, time }: Domain, name: string): Promise<string> {
  await db.sql.query(`INSERT INTO "user" (id, name, level) VALUES ($1, $2, 'ADMIN') ON CONFLICT (name) DO NOTHING`, [
    newId('user', time.nowMs()),
    name,
  ])
  const [row] = await db.sql.query<{ id: string }>('SELECT id FROM "user" WHERE name = $1', [name])
  if (!row) throw new Error('The local user is missing')
  return row.id
}
