import type { Prisma } from '../../platform/generated/client.ts'
import type { NodeState } from '../../platform/generated/enums.ts'
import type { Tx } from '../../platform/tx.ts'
import { storeAppliedSetting } from '../applied.ts'
import { announceLimits, announceNodes, announceSettings } from '../changes.ts'
import { newId } from '../ids.ts'

/**
 * Applies the nodes of the configuration. A node is written only if its own declaration changed, so run-time changes of
 * a node stay when other parts of the file change.
 */

export interface DeclaredNode {
  name: string
  cpuMillis: number
  memoryBytes: number
  cpuModel: string | null
  infiniband: boolean
  /** Address of the container engine of the machine; absent: the pool has one engine, or another executor. */
  engine?: string
  devices: readonly {
    index: number
    model: string
    uuid?: string
    memoryGib: number
    tensorCores: boolean
    cuda: readonly string[]
  }[]
}

/** Returns the names of the changed nodes. */
export async function applyNodes(
  tx: Tx,
  pool: string,
  nodes: readonly DeclaredNode[],
  nowMs: number,
): Promise<string[]> {
  const changed: string[] = []
  for (const node of nodes) {
    if (!(await storeAppliedSetting(tx, keyOf(pool, node.name), node))) continue
    // GPU models may have changed, and with them the effect of limits. The message for the leader is written before the
    // nodes are locked, because leaders lock in this order.
    if (changed.length === 0) await announceLimits(tx, pool)
    await applyNode(tx, pool, { ...node, id: newId('node', nowMs) })
    changed.push(node.name)
  }
  const gone = await findRemovedNodes(tx, pool, nodes)
  if (gone.length > 0 && changed.length === 0) await announceSettings(tx, pool)
  if (gone.length > 0) await dropNodes(tx, pool, gone)
  if (changed.length + gone.length > 0) await announceNodes(tx, pool)
  return [...changed, ...gone]
}

/** A LOST node gets the state when it returns. The caller has locked the pool. */
export async function setStates(
  { prisma }: Tx,
  nodes: Prisma.PoolNodeWhereInput,
  { state, reason = null, userId = null }: { state: NodeState; reason?: string | null; userId?: string | null },
): Promise<void> {
  const why = { stateReason: reason, stateById: userId }
  await prisma.poolNode.updateMany({ where: { ...nodes, state: { not: 'LOST' } }, data: { state, ...why } })
  await prisma.poolNode.updateMany({ where: { ...nodes, state: 'LOST' }, data: { stateBefore: state, ...why } })
}

const keyOf = (pool: string, name: string) => `node/${pool}/${name}`

async function findRemovedNodes(tx: Tx, pool: string, nodes: readonly DeclaredNode[]): Promise<string[]> {
  const names = nodes.map(({ name }) => name)
  const applied = await storeAppliedSetting(tx, `nodes/${pool}`, names)
  const last = (applied?.last ?? []) as string[]
  return last.filter((name) => !names.includes(name))
}

/** Removes nodes; a node with runs is drained instead. */
async function dropNodes(tx: Tx, pool: string, names: readonly string[]): Promise<void> {
  const keys = names.map((name) => keyOf(pool, name))
  await tx.prisma.appliedSetting.deleteMany({ where: { key: { in: keys } } })
  const dropped = { poolName: pool, name: { in: [...names] } }
  await setStates(tx, dropped, { state: 'DRAINING' })
  await tx.prisma.poolNode.deleteMany({ where: { ...dropped, allocations: { none: {} } } })
}

/** If a node is now smaller than the resources of its runs, it counts as full until they end. */
async function applyNode(tx: Tx, pool: string, node: DeclaredNode & { id: string }): Promise<void> {
  const [row] = await tx.query<{ id: string }>(
    `INSERT INTO node (id, pool, name, cpu_millis, memory_bytes, free_cpu_millis, free_memory_bytes, cpu_model, infiniband, engine)
     VALUES ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8)
     ON CONFLICT (pool, name) DO UPDATE SET state_reason = NULL, state_by = NULL, state = CASE node.state WHEN 'LOST' THEN node.state ELSE 'READY' END,
       state_before = CASE node.state WHEN 'LOST' THEN 'READY'::node_state END, cpu_model = excluded.cpu_model, infiniband = excluded.infiniband, engine = excluded.engine,
       cpu_millis = greatest(excluded.cpu_millis, node.cpu_millis - node.free_cpu_millis),
       memory_bytes = greatest(excluded.memory_bytes, node.memory_bytes - node.free_memory_bytes),
       free_cpu_millis = greatest(0, excluded.cpu_millis - (node.cpu_millis - node.free_cpu_millis)),
       free_memory_bytes = greatest(0, excluded.memory_bytes - (node.memory_bytes - node.free_memory_bytes))
     RETURNING id`,
    [node.id, pool, node.name, node.cpuMillis, node.memoryBytes, node.cpuModel, node.infiniband, node.engine ?? null],
  )
  const nodeId = row?.id ?? node.id
  await tx.prisma.device.deleteMany({ where: { nodeId } })
  await tx.prisma.device.createMany({
    data: node.devices.map(({ cuda, ...device }) => ({ ...device, cuda: [...cuda], nodeId })),
  })
}
