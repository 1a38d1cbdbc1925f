import type { Tx } from '../../platform/tx.ts'
import { lockAppliedSettings, singleUserKey, storeAppliedSetting } from '../applied.ts'
import { announceLimits, announceLimitsOfAllPools } from '../changes.ts'
import { applyRates, type Rates } from '../cost.ts'
import type { Domain } from '../domain.ts'
import { newId } from '../ids.ts'
import type { Policy } from '../lanes.ts'
import { applyLimits, type LimitChange } from '../limits/limits.ts'
import { applyNodes, type DeclaredNode } from './node-config.ts'
import { applyPlanning, changePolicy, type DeclaredPlanning } from './pool-settings.ts'

/** Applies the pools, nodes and queues of the configuration. Writes only values that differ from those applied last. */

export interface DeclaredPool extends Partial<DeclaredPlanning> {
  name: string
  policy: Policy
  executors: readonly string[]
  relaxReplicas: boolean
  /** false: users may not open sessions in its jobs. Default: true. */
  exec?: boolean
  nodes: readonly DeclaredNode[]
  limits?: LimitChange
  /** undefined: costs are unknown. */
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
  await domain.db.locking(async (tx) => {
    await lockAppliedSettings(tx)
    for (const pool of pools) await applyDeclared(domain, tx, pool)
    if (await storeAppliedSetting(tx, 'queues', queues)) await applyQueues(tx, queues)
    // Unset limits have other values in single-user mode than in multi-user mode.
    if (await storeAppliedSetting(tx, singleUserKey, domain.singleUser)) await announceLimitsOfAllPools(tx)
    await warnOfUndeclared(domain, tx, pools)
  })
  domain.wakeups.poke('queue')
}

/** Warns of stored pools that the configuration no longer declares: their jobs stay, but no server schedules them. */
async function warnOfUndeclared({ log }: Domain, tx: Tx, pools: readonly DeclaredPool[]): Promise<void> {
  const left = await tx.query<{ pool: string; jobs: number }>(undeclaredSql, [pools.map(({ name }) => name)])
  for (const { pool, jobs } of left)
    log.warn(
      { pool, jobs },
      'jobs of this pool neither start nor end, for the configuration no longer names it; name it again until they have ended, or cancel them first',
    )
}

const undeclaredSql =
  'SELECT pool, count(*)::int AS jobs FROM job WHERE NOT log_closed AND pool <> ALL ($1) GROUP BY pool ORDER BY pool'

async function applyDeclared(domain: Domain, tx: Tx, declared: DeclaredPool): Promise<void> {
  const { nodes, limits = {}, rates = null, scheduling = {}, weights = {}, ...pool } = declared
  if (await storeAppliedSetting(tx, `pool/${pool.name}`, pool)) {
    await applyPool(tx, pool)
    domain.log.info({ pool: pool.name }, 'applied a pool from the configuration')
  }
  const changed = await applyNodes(tx, pool.name, nodes, domain.time.nowMs())
  if (changed.length > 0)
    domain.log.info({ pool: pool.name, nodes: changed }, 'applied the nodes of a pool from the configuration')
  if (await applyPlanning(tx, pool.name, { scheduling, weights }))
    domain.log.info(
      { pool: pool.name, scheduling, weights },
      'applied the scheduling settings of a pool from the configuration',
    )
  if (await applyLimits(tx, pool.name, limits, domain.time.nowMs()))
    domain.log.info({ pool: pool.name, limits }, 'applied the limits of a pool from the configuration')
  if (await applyRates(tx, pool.name, rates))
    domain.log.info({ pool: pool.name, rates }, 'applied the rates of a pool from the configuration')
}

async function applyPool(
  tx: Tx,
  { name, policy, executors, relaxReplicas, exec = true }: Omit<DeclaredPool, 'nodes'>,
): Promise<void> {
  const data = { executors: [...executors], relaxReplicas, exec }
  await tx.prisma.pool.upsert({ where: { name }, create: { ...data, name, policy }, update: data })
  await changePolicy(tx, name, policy)
  await announceLimits(tx, name)
}

async function applyQueues({ prisma }: Tx, queues: readonly DeclaredQueue[]): Promise<void> {
  const data = queues.map(({ name, pool, native }, position) => ({
    name,
    poolName: pool,
    isDefault: position === 0,
    position,
    native: { ...native },
  }))
  await prisma.submissionQueue.deleteMany()
  await prisma.submissionQueue.createMany({ data })
}

export interface Here {
  id: string
  /** true: the directory also contains the database, so every user of that database uses this directory. */
  holdsDatabase: boolean
}

/**
 * Binds a pool of one machine to the first data directory that uses it. Returns whether this process may compete for
 * the pool.
 */
export async function bindPoolToDirectory({ db }: Domain, pool: string, here: Here): Promise<boolean> {
  const rows = await db.sql.query(bindSql, [pool, here.id, here.holdsDatabase])
  return rows.length > 0
}

const bindSql = `
UPDATE pool SET directory = $2 WHERE name = $1 AND ($3 OR directory IS NULL OR directory = $2) RETURNING 1`

export async function ensureLocalUser({ db, time }: Domain, name: string): Promise<string> {
  const data = { id: newId('user', time.nowMs()), name, level: 'ADMIN' } as const
  return db.serializable(async ({ prisma }) => {
    await prisma.user.createMany({ data, skipDuplicates: true })
    return (await prisma.user.findUniqueOrThrow({ where: { name } })).id
  })
}
