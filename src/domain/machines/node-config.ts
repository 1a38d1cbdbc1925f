import { newId } from '../../platform/ids.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { rememberApplied } from '../applied.ts'
import { tellLimits, tellNodes, tellSettings } from '../changes.ts'

/**
 * Nodes of the configuration, each by itself: one is put into the database when it is new or when the configuration says
 * something else of it than was applied last. So a node that was added, cordoned or removed at run time stays so,
 * whatever else changes in the file.
 */
export interface DeclaredNode {
  name: string
  cpuMillis: number
  memoryBytes: number
  cpuModel: string | null
  infiniband: boolean
  devices: readonly { index: number; model: string; memoryGib: number; tensorCores: boolean; cuda: readonly string[] }[]
}

interface Declared {
  pool: string
  nodes: readonly DeclaredNode[]
  nowMs: number
}

/** Answers the names of nodes that were changed. The caller has the lock of what was applied. */
export async function applyNodes(sql: Tx, { pool, nodes, nowMs }: Declared): Promise<string[]> {
  const changed: string[] = []
  for (const node of nodes) {
    if (!(await rememberApplied(sql, keyOf(pool, node.name), node))) continue
    // What holds a device may count for other limits then: those of another model. First, for a leader takes its turn first.
    if (changed.length === 0) await tellLimits(sql, pool)
    await applyNode(sql, pool, { ...node, id: newId('node', nowMs) })
    changed.push(node.name)
  }
  const gone = await goneOf(sql, pool, nodes)
  if (gone.length > 0 && changed.length === 0) await tellSettings(sql, pool)
  if (gone.length > 0) await dropNodes(sql, pool, gone)
  if (changed.length + gone.length > 0) await tellNodes(sql, pool)
  return [...changed, ...gone]
}

/** The state becomes $2. A node that is LOST is in it when it is heard of again. */
export const statesUnlessLost = `
  state = CASE state WHEN 'LOST' THEN state ELSE $2::node_state END,
  state_before = CASE state WHEN 'LOST' THEN $2::node_state END`

const keyOf = (pool: string, name: string) => `node/${pool}/${name}`

/** Those that the configuration named last time, and names no more. */
async function goneOf(sql: Tx, pool: string, nodes: readonly DeclaredNode[]): Promise<string[]> {
  const names = nodes.map(({ name }) => name)
  const applied = await rememberApplied(sql, `nodes/${pool}`, names)
  const last = (applied?.last ?? []) as string[]
  return last.filter((name) => !names.includes(name))
}

/** One goes when nothing runs on it; until then it takes nothing new. Named again, it is new. */
async function dropNodes(sql: Sql, pool: string, names: readonly string[]): Promise<void> {
  const keys = names.map((name) => keyOf(pool, name))
  await sql.query('DELETE FROM applied_setting WHERE key = ANY($1::text[])', [keys])
  await sql.query(`UPDATE node SET ${statesUnlessLost} WHERE pool = $1 AND name = ANY($3::text[])`, [
    pool,
    'DRAINING',
    names,
  ])
  await sql.query(
    `DELETE FROM node WHERE pool = $1 AND name = ANY($2::text[])
       AND NOT EXISTS (SELECT FROM allocation a WHERE a.node_id = node.id)`,
    [pool, names],
  )
}

/** What runs hold stays taken; a node that shrank below it is full until they end. */
async function applyNode(sql: Sql, pool: string, node: DeclaredNode & { id: string }): Promise<void> {
  const [row] = await sql.query<{ id: string }>(
    `INSERT INTO node (id, pool, name, cpu_millis, memory_bytes, free_cpu_millis, free_memory_bytes, cpu_model, infiniband)
     VALUES ($1, $2, $3, $4, $5, $4, $5, $6, $7)
     ON CONFLICT (pool, name) DO UPDATE SET state = CASE node.state WHEN 'LOST' THEN node.state ELSE 'READY' END,
       state_before = CASE node.state WHEN 'LOST' THEN 'READY'::node_state END, cpu_model = excluded.cpu_model, infiniband = excluded.infiniband,
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
