import type { Sql, Tx } from '../../platform/tx.ts'
import { announceNodes, announceSettings } from '../changes.ts'
import type { Domain } from '../domain.ts'
import { newId } from '../ids.ts'
import { fence, type Leader } from '../leadership.ts'
import { lockPool } from '../limits/limits.ts'
import { GiB } from '../shape.ts'

/**
 * Stores the nodes that a backend reports. Only rows that differ are written, and runs never change. A node that is no
 * longer reported becomes LOST, and is removed when it has no allocation and no hold.
 */

/** A node as its backend reports it. */
export interface ReportedNode {
  name: string
  state: 'READY' | 'CORDONED' | 'LOST'
  cpuMillis: number
  memoryBytes: number
  cpuModel: string
  infiniband: boolean
  gpuJobsOnly: boolean
  gpus: readonly { model: string; memoryBytes: number; tensorCores: boolean; cudaVersion: string | null }[]
  heldByOthers: { cpuMillis: number; memoryBytes: number; gpus: number }
}

export interface NodesChanged {
  added: string[]
  changed: string[]
  /** Nodes that are no longer reported but still have an allocation or a hold, so they are LOST. */
  missing: string[]
  removed: string[]
}

/** Returns null if the report equals the stored nodes. */
export async function storeReport(
  { db, time }: Pick<Domain, 'db' | 'time'>,
  leader: Leader,
  reported: readonly ReportedNode[],
): Promise<NodesChanged | null> {
  // Compares without a lock first; `write` compares again under the lock.
  const { writes, gone } = compare(await readStoredNodes(db.sql, leader.pool, ''), reported)
  if (writes.length === 0 && gone.every(({ isUsed, state }) => isUsed && state === 'LOST')) return null
  return db.locking(async (tx) => {
    await fence(tx, leader)
    return write(tx, leader.pool, reported, time.nowMs())
  })
}

async function write(tx: Tx, pool: string, reported: readonly ReportedNode[], nowMs: number): Promise<NodesChanged> {
  await lockPool(tx, pool)
  const { stored, writes, gone } = compare(await readStoredNodes(tx, pool, 'FOR UPDATE OF n'), reported)
  await tx.query(writeSql, [pool, JSON.stringify(writes.map((row) => ({ ...row, id: newId('node', nowMs) })))])
  await writeDevices(tx, pool, writes, stored)
  const { removed, missing } = await dropGone(tx, pool, gone)
  const added = writes.flatMap(({ name }) => (stored.has(name) ? [] : [name]))
  const changed = writes.flatMap(({ name }) => (stored.has(name) ? [name] : []))
  const isOther = writes.some((row) => isOtherMachine(row, stored.get(row.name)))
  // Refuses starts that were planned before the change, unless only the amounts used outside Berth have changed.
  if (isOther || removed.length + missing.length > 0) await announceSettings(tx, pool)
  if (writes.length + removed.length + missing.length > 0) await announceNodes(tx, pool)
  return { added, changed, missing, removed }
}

interface Gpu {
  model: string
  memoryGib: number
  tensorCores: boolean
  /** Lowest and highest CUDA version; empty: not reported. */
  cuda: string[]
}

interface NodeRow {
  name: string
  state: ReportedNode['state']
  cpu: number
  memory: number
  cpuModel: string | null
  infiniband: boolean
  gpuJobsOnly: boolean
  gpus: Gpu[]
  heldCpu: number
  heldMemory: number
  heldGpus: number[]
}

interface StoredNode extends NodeRow {
  id: string
  slots: number[]
  isUsed: boolean
  /** true: a run that was given up with the node may still be running there. */
  hasLostRun: boolean
}

const readStoredNodes = (sql: Sql, pool: string, lock: '' | 'FOR UPDATE OF n'): Promise<StoredNode[]> =>
  sql.query<StoredNode>(`${storedSql} ${lock}`, [pool], lock ? 'lock_backend_nodes' : 'backend_nodes')

const storedSql = `
SELECT n.id, n.name, n.state, n.cpu_millis AS cpu, n.memory_bytes AS memory, n.cpu_model AS "cpuModel", n.infiniband,
  n.gpu_jobs_only AS "gpuJobsOnly",
  n.held_cpu_millis AS "heldCpu", n.held_memory_bytes AS "heldMemory", n.held_gpus AS "heldGpus",
  coalesce((SELECT jsonb_agg(jsonb_build_object('model', d.model, 'memoryGib', d.memory_gib,
    'tensorCores', d.tensor_cores, 'cuda', d.cuda) ORDER BY d.device)
    FROM device d WHERE d.node_id = n.id), '[]') AS gpus,
  ARRAY(SELECT h.device FROM held_device h WHERE h.node_id = n.id) AS slots,
  EXISTS (SELECT FROM allocation a WHERE a.node_id = n.id) OR EXISTS (SELECT FROM hold h
    WHERE h.pool = n.pool AND h.placements @> jsonb_build_array(jsonb_build_object('nodeId', n.id))) AS "isUsed",
  EXISTS (SELECT FROM run r WHERE r.pool = n.pool AND r.lost_at IS NOT NULL AND n.name = ANY(r.nodes)) AS "hasLostRun"
FROM node n WHERE n.pool = $1 ORDER BY n.id`

function compare(rows: readonly StoredNode[], reported: readonly ReportedNode[]) {
  const stored = new Map(rows.map((node) => [node.name, node]))
  const wanted = reported.map((node) => rowOf(node, stored.get(node.name)))
  const names = new Set(wanted.map(({ name }) => name))
  return {
    stored,
    writes: wanted.filter((row) => isNew(row, stored.get(row.name))),
    gone: rows.filter(({ name }) => !names.has(name)),
  }
}

/** Lowest CUDA version of a GPU, because a driver runs programs built for any earlier version. */
const oldestCuda = '1.0'

function rowOf(node: ReportedNode, stored: StoredNode | undefined): NodeRow {
  const { name, cpuMillis: cpu, memoryBytes: memory, infiniband, gpuJobsOnly, heldByOthers } = node
  const gpus = node.gpus.map(({ model, memoryBytes, tensorCores, cudaVersion }) => ({
    model,
    memoryGib: memoryBytes / GiB,
    tensorCores,
    cuda: cudaVersion === null ? [] : [oldestCuda, cudaVersion],
  }))
  return {
    name,
    state: stored?.hasLostRun ? 'LOST' : node.state,
    cpu,
    memory,
    cpuModel: node.cpuModel.toLowerCase() || null,
    infiniband,
    gpuJobsOnly,
    gpus,
    heldCpu: Math.min(heldByOthers.cpuMillis, cpu),
    heldMemory: Math.min(heldByOthers.memoryBytes, memory),
    heldGpus: heldGpus(Math.min(heldByOthers.gpus, gpus.length), gpus.length, stored),
  }
}

/**
 * Chooses the GPUs that count as used outside Berth: those that counted so before, then those without a run, then
 * others.
 */
function heldGpus(count: number, all: number, stored: StoredNode | undefined): number[] {
  const before = stored?.heldGpus.filter((index) => index < all) ?? []
  const taken = new Set([...before, ...(stored?.slots ?? [])])
  const free = Array.from({ length: all }, (_, index) => index).filter((index) => !taken.has(index))
  const rest = (stored?.slots ?? []).filter((index) => index < all && !before.includes(index))
  return [...before, ...free, ...rest].slice(0, count).toSorted((a, b) => a - b)
}

const textOf = ({ name, state, cpu, memory, cpuModel, infiniband, gpuJobsOnly, gpus }: NodeRow): string =>
  JSON.stringify([name, state, cpu, memory, cpuModel, infiniband, gpuJobsOnly, gpuText(gpus)])

const isOtherMachine = (row: NodeRow, stored: StoredNode | undefined): boolean =>
  stored === undefined || textOf(row) !== textOf(stored)

const isNew = (row: NodeRow, stored: StoredNode | undefined): boolean =>
  stored === undefined ||
  isOtherMachine(row, stored) ||
  row.heldCpu !== stored.heldCpu ||
  row.heldMemory !== stored.heldMemory ||
  row.heldGpus.join() !== stored.heldGpus.join()

/** Runs keep their amounts, so the free amount of a node that shrank may be negative. */
const writeSql = `
INSERT INTO node (id, pool, name, state, state_before, cpu_millis, memory_bytes, free_cpu_millis, free_memory_bytes, cpu_model,
  infiniband, gpu_jobs_only, delegated, held_cpu_millis, held_memory_bytes, held_gpus, last_seen_at)
SELECT w.id, $1, w.name, w.state, CASE w.state WHEN 'LOST' THEN 'READY'::node_state END, w.cpu, w.memory,
  w.cpu - w."heldCpu", w.memory - w."heldMemory", w."cpuModel", w.infiniband, w."gpuJobsOnly", true, w."heldCpu", w."heldMemory", w."heldGpus", berth_now()
FROM jsonb_to_recordset($2::text::jsonb) AS w(id text, name text, state node_state, cpu int, memory bigint, "cpuModel" text,
  infiniband boolean, "gpuJobsOnly" boolean, "heldCpu" int, "heldMemory" bigint, "heldGpus" int[])
ON CONFLICT (pool, name) DO UPDATE SET state = excluded.state, state_before = excluded.state_before,
  cpu_millis = excluded.cpu_millis, memory_bytes = excluded.memory_bytes,
  free_cpu_millis = excluded.free_cpu_millis - (node.cpu_millis - node.held_cpu_millis - node.free_cpu_millis),
  free_memory_bytes = excluded.free_memory_bytes - (node.memory_bytes - node.held_memory_bytes - node.free_memory_bytes),
  cpu_model = excluded.cpu_model, infiniband = excluded.infiniband, gpu_jobs_only = excluded.gpu_jobs_only, delegated = true, held_cpu_millis = excluded.held_cpu_millis,
  held_memory_bytes = excluded.held_memory_bytes, held_gpus = excluded.held_gpus,
  last_seen_at = CASE excluded.state WHEN 'LOST' THEN node.last_seen_at ELSE excluded.last_seen_at END`

async function writeDevices(
  tx: Tx,
  pool: string,
  writes: readonly NodeRow[],
  stored: ReadonlyMap<string, StoredNode>,
): Promise<void> {
  const changed = writes.filter(({ name, gpus }) => gpuText(gpus) !== gpuText(stored.get(name)?.gpus ?? []))
  if (changed.length === 0) return
  const names = changed.map(({ name }) => name)
  const rows = await tx.prisma.poolNode.findMany({
    where: { poolName: pool, name: { in: names } },
    select: { id: true, name: true },
  })
  const ids = new Map(rows.map(({ id, name }) => [name, id]))
  await tx.prisma.device.deleteMany({ where: { nodeId: { in: [...ids.values()] } } })
  await tx.prisma.device.createMany({
    data: changed.flatMap(({ name, gpus }) =>
      gpus.map((gpu, index) => ({ ...gpu, index, nodeId: ids.get(name) ?? '' })),
    ),
  })
}

const gpuText = (gpus: readonly Gpu[]): string =>
  JSON.stringify(gpus.map(({ model, memoryGib, tensorCores, cuda }) => [model, memoryGib, tensorCores, cuda]))

async function dropGone(
  tx: Tx,
  pool: string,
  gone: readonly StoredNode[],
): Promise<Pick<NodesChanged, 'removed' | 'missing'>> {
  const unused = gone.filter(({ isUsed }) => !isUsed)
  const missing = gone.filter(({ isUsed, state }) => isUsed && state !== 'LOST').map(({ name }) => name)
  await tx.prisma.poolNode.deleteMany({ where: { id: { in: unused.map(({ id }) => id) } } })
  await tx.query(
    `UPDATE node SET state_before = state, state = 'LOST', held_cpu_millis = 0, held_memory_bytes = 0, held_gpus = '{}',
       free_cpu_millis = free_cpu_millis + held_cpu_millis, free_memory_bytes = free_memory_bytes + held_memory_bytes
     WHERE pool = $1 AND name = ANY($2::text[])`,
    [pool, missing],
  )
  return { removed: unused.map(({ name }) => name), missing }
}
