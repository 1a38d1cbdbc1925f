import { newId } from '../platform/ids.ts'
import type { Sql } from '../platform/tx.ts'
import { lockApplied, rememberApplied } from './applied.ts'
import type { Domain } from './domain.ts'
import { applyLimits, type LimitChange } from './limits.ts'

/**
 * Pools, nodes and queues of the configuration, put into the database when they are new or when the configuration says
 * something else than what was applied last; otherwise the database, and so what was changed at run time, wins.
 */
export interface DeclaredPool {
  name: string
  policy: 'PRIORITY' | 'FAIR_SHARE'
  executors: readonly string[]
  relaxReplicas: boolean
  nodes: readonly DeclaredNode[]
  limits?: LimitChange
}

export interface DeclaredNode {
  name: string
  cpuMillis: number
  memoryBytes: number
  cpuModel: string | null
  infiniband: boolean
  devices: readonly { index: number; model: string; memoryGib: number; tensorCores: boolean; cuda: readonly string[] }[]
}

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
    for (const { limits = {}, ...pool } of pools) {
      if (await rememberApplied(sql, `pool/${pool.name}`, pool)) {
        await applyPool(sql, pool, domain)
        domain.log.info({ pool: pool.name, nodes: pool.nodes.length }, 'applied a pool of the configuration')
      }
      if (await applyLimits(sql, pool.name, limits, domain.clock.now()))
        domain.log.info({ pool: pool.name, limits }, 'applied the limits of a pool of the configuration')
    }
    if (await rememberApplied(sql, 'queues', queues)) await applyQueues(sql, queues)
  })
  domain.wakeups.poke('queue')
}

async function applyPool(sql: Sql, pool: DeclaredPool, domain: Domain): Promise<void> {
  await sql.query(
    `INSERT INTO pool (name, policy, executors, relax_replicas) VALUES ($1, $2::pool_policy, $3, $4)
     ON CONFLICT (name) DO UPDATE SET policy = excluded.policy, executors = excluded.executors, relax_replicas = excluded.relax_replicas`,
    [pool.name, pool.policy, pool.executors, pool.relaxReplicas],
  )
  for (const node of pool.nodes) await applyNode(sql, pool.name, { ...node, id: newId('node', domain.clock.now()) })
  // A node that is no longer declared goes when nothing runs on it; until then it takes nothing new.
  const names = pool.nodes.map((node) => node.name)
  await sql.query("UPDATE node SET state = 'DRAINING' WHERE pool = $1 AND name <> ALL($2::text[])", [pool.name, names])
  await sql.query(
    `DELETE FROM node WHERE pool = $1 AND name <> ALL($2::text[])
       AND NOT EXISTS (SELECT FROM allocation a WHERE a.node_id = node.id)`,
    [pool.name, names],
  )
}

/** What runs hold stays taken; a node that shrank below it is full until they end. */
async function applyNode(sql: Sql, pool: string, node: DeclaredNode & { id: string }): Promise<void> {
  const [row] = await sql.query<{ id: string }>(
    `INSERT INTO node (id, pool, name, cpu_millis, memory_bytes, free_cpu_millis, free_memory_bytes, cpu_model, infiniband)
     VALUES ($1, $2, $3, $4, $5, $4, $5, $6, $7)
     ON CONFLICT (pool, name) DO UPDATE SET state = 'READY', cpu_model = excluded.cpu_model, infiniband = excluded.infiniband,
       cpu_millis = greatest(excluded.cpu_millis, node.cpu_millis - node.free_cpu_millis),
       memory_bytes = greatest(excluded.memory_bytes, node.memory_bytes - node.free_memory_bytes),
       free_cpu_millis = greatest(0, excluded.cpu_millis - (node.cpu_millis - node.free_cpu_millis)),
       free_memory_bytes = greatest(0, excluded.memory_bytes - (node.memory_bytes - node.free_memory_bytes))
     RETURNING id`,
    [node.id, pool, node.name, node.cpuMillis, node.memoryBytes, node.cpuModel, node.infiniband],
  )
  await sql.query('DELETE FROM device WHERE node_id = $1', [row?.id])
  await sql.query(
    `INSERT INTO device (node_id, device, model, memory_gib, tensor_cores, cuda)
     SELECT $1, d.index, d.model, d."memoryGib", d."tensorCores", d.cuda
     FROM jsonb_to_recordset($2::jsonb) AS d(index int, model text, "memoryGib" float8, "tensorCores" boolean, cuda text[])`,
    [row?.id, JSON.stringify(node.devices)],
  )
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

/**
 * Binds a pool whose jobs are processes of one machine to that machine. True: this process may lead it. The first
 * machine that asks gets it.
 */
export async function bindPool({ db }: Domain, pool: string, machine: string): Promise<boolean> {
  const rows = await db.sql.query<{ machine: string }>(
    'UPDATE pool SET machine = coalesce(machine, $2) WHERE name = $1 RETURNING machine',
    [pool, machine],
  )
  return rows[0]?.machine === machine
}

/** The user of single-user mode. */
export async function ensureLocalUser({ db, clock }: Domain, name: string): Promise<string> {
  await db.sql.query(`INSERT INTO "user" (id, name, level) VALUES ($1, $2, 'ADMIN') ON CONFLICT (name) DO NOTHING`, [
    newId('user', clock.now()),
    name,
  ])
  const [row] = await db.sql.query<{ id: string }>('SELECT id FROM "user" WHERE name = $1', [name])
  if (!row) throw new Error('The local user is missing')
  return row.id
}
