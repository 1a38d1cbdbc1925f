import { z } from 'zod'
import type { NodeState } from '../../platform/generated/enums.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import { announceSettingsAndNodes } from '../changes.ts'
import type { Domain } from '../domain.ts'
import type { EngineCheck } from '../engine-check.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { isDelegated } from '../executors.ts'
import { newId } from '../ids.ts'
import { lockPool } from '../limits/limits.ts'
import { parseInput } from '../parse.ts'
import { GiB } from '../shape.ts'
import { demandUnchanged, type Target, versionInput } from '../versions.ts'
import { demandEngine } from './engines.ts'
import { setStates } from './node-config.ts'

/**
 * Changes of nodes at run time. Each locks the row of the pool, so starts that were planned before are refused. A later
 * change of the node's declaration in the configuration overrides it.
 */

const nodesPerPool = 10_000
export const devicesPerNode = 1_024
const name = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters')
/** Names of nodes with an engine, which become names of folders and parts of handles, as in the configuration. */
const machineName = /^[a-z0-9][\w.-]{0,62}$/i
const version = z.string().regex(/^\d{1,6}(\.\d{1,6}){0,3}$/, 'must be a dotted version such as 11.8')

const memoryBytes = z
  .int()
  .min(2 ** 20, 'must be at least 1,048,576, which is 1 MiB')
  .max(2 ** 50, 'must be at most 1,125,899,906,842,624, which is 1 PiB')

const gpuInput = z.strictObject({
  model: name,
  memoryBytes,
  tensorCores: z.boolean().nullish(),
  cuda: z
    .array(version)
    .refine(({ length }) => length === 0 || length === 2, 'must be the lowest and the highest version')
    .nullish(),
  count: z.int().min(1, 'must be at least 1').max(devicesPerNode, `must be at most ${devicesPerNode}`).nullish(),
})

const nodeInput = z.strictObject({
  pool: z.string(),
  name,
  engine: z.string().max(512, 'must have at most 512 characters').nullish(),
  cpu: z.number().min(0.001, 'must be at least 0.001').max(1_000_000, 'must be at most 1,000,000').nullish(),
  memoryBytes: memoryBytes.nullish(),
  cpuModel: name.nullish(),
  infiniband: z.boolean().nullish(),
  gpus: z.array(gpuInput).max(devicesPerNode, `must be at most ${devicesPerNode}`).nullish(),
})
type NodeInput = z.output<typeof nodeInput>
type NewNode = NodeInput & { cpu: number; memoryBytes: number }

/** `troubles`: repairs that the machine needs. */
export interface AddedNode {
  id: string
  troubles: readonly string[]
}

/** If the node has an engine, the engine reports the values that the input leaves out. */
export async function addNode(domain: Domain, viewer: Viewer, raw: unknown): Promise<AddedNode> {
  demand(viewer, 'node.write')
  const given = parseInput(nodeInput, raw)
  if (given.engine != null && !machineName.test(given.name))
    throw InvalidInput.at('name', 'must be a letter or digit, then up to 62 of these and ". _ -"')
  const machine = given.engine == null ? null : await demandEngine(domain, given.engine)
  const node = completeNode(given, machine)
  const devices = devicesOf(node)
  const id = newId('node', domain.time.nowMs())
  await domain.db.locking(async (tx) => {
    await lockPool(tx, node.pool)
    await demandNewNode(tx, node)
    await insertNode(tx, id, node, devices)
    const { pool: _, ...detail } = node
    await changed(domain, tx, { viewer, pool: node.pool, action: 'node.add', id, detail })
  })
  domain.wakeups.poke('queue')
  return { id, troubles: machine?.troubles ?? [] }
}

function completeNode(given: NodeInput, machine: EngineCheck | null): NewNode {
  const cpu = given.cpu ?? (machine?.cpuMillis == null ? null : machine.cpuMillis / 1_000)
  const bytes = given.memoryBytes ?? machine?.memoryBytes
  const found = machine?.gpus.map(({ memoryGib, ...gpu }) => ({ ...gpu, memoryBytes: memoryGib * GiB }))
  if (cpu == null) throw InvalidInput.at('cpu', 'is missing, and no engine states it')
  if (bytes == null) throw InvalidInput.at('memoryBytes', 'is missing, and no engine states it')
  return { ...given, cpu, memoryBytes: bytes, gpus: given.gpus ?? found }
}

function devicesOf({ gpus }: NodeInput) {
  const kinds = (gpus ?? []).map(({ count, cuda, tensorCores, memoryBytes: bytes, ...gpu }) => ({
    ...gpu,
    memoryGib: bytes / GiB,
    count: count ?? 1,
    tensorCores: tensorCores ?? false,
    cuda: cuda ?? [],
  }))
  if (kinds.reduce((sum, { count }) => sum + count, 0) > devicesPerNode)
    throw InvalidInput.at('gpus', `A node can have at most ${devicesPerNode} GPUs`)
  return kinds
    .flatMap(({ count, ...gpu }) => Array.from({ length: count }, () => gpu))
    .map((gpu, index) => ({ index, ...gpu }))
}

async function demandNewNode({ prisma }: Tx, { pool, name: wanted, engine = null }: NodeInput): Promise<void> {
  const row = await prisma.pool.findUnique({ where: { name: pool }, include: { _count: { select: { nodes: true } } } })
  const taken = await prisma.poolNode.count({ where: { poolName: pool, name: wanted } })
  if (isDelegated(row?.executors ?? []))
    throw InvalidInput.at('pool', `Pool ${pool} has the nodes of its backend; add the node there`)
  const others = await prisma.poolNode.findMany({
    where: { poolName: pool, engine: { not: null } },
    select: { name: true, engine: true },
  })
  if (engine === null && others.length > 0)
    throw InvalidInput.at('engine', `is missing: the nodes of pool ${pool} are machines with engines`)
  if (engine !== null && others.length === 0)
    throw InvalidInput.at(
      'engine',
      `The nodes of pool ${pool} have no engines; name the first one in the configuration`,
    )
  const same = others.find((other) => other.engine === engine)
  if (same) throw InvalidInput.at('engine', `Node ${same.name} has this engine`)
  if (row?.directory && engine === null)
    throw InvalidInput.at('pool', `Pool ${pool} is bound to one machine; its executor cannot use other nodes`)
  if (taken > 0) throw InvalidInput.at('name', `Pool ${pool} already has a node ${wanted}; choose another name`)
  if ((row?._count.nodes ?? 0) >= nodesPerPool)
    throw InvalidInput.at('pool', `A pool can have at most ${nodesPerPool} nodes`)
}

async function insertNode(
  { prisma }: Tx,
  id: string,
  node: NewNode,
  devices: ReturnType<typeof devicesOf>,
): Promise<void> {
  const cpuMillis = Math.round(node.cpu * 1_000)
  const cpuModel = node.cpuModel?.toLowerCase() ?? null
  const infiniband = node.infiniband ?? false
  const memory = BigInt(node.memoryBytes)
  const capacity = { cpuMillis, memoryBytes: memory, freeCpu: cpuMillis, freeMemory: memory }
  await prisma.poolNode.create({
    data: { id, poolName: node.pool, name: node.name, cpuModel, infiniband, engine: node.engine ?? null, ...capacity },
  })
  await prisma.device.createMany({ data: devices.map((device) => ({ ...device, nodeId: id })) })
}

const stateInput = z.strictObject({
  id: z.string(),
  state: z.enum(
    ['READY', 'CORDONED', 'DRAINING'],
    'must be READY, CORDONED or DRAINING; LOST is set by the server only',
  ),
  reason: z.string().trim().min(1, 'must not be empty').max(500, 'must have at most 500 characters').nullish(),
  expectedVersion: versionInput,
})

/** Runs on the node continue whatever its new state is. A LOST node gets the state when it returns. */
export async function updateNode(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'node.write')
  const { state, reason, ...target } = parseInput(stateInput, raw)
  const { id } = target
  if (state === 'READY' && reason) throw InvalidInput.at('reason', 'Give a reason only with CORDONED or DRAINING')
  await withNode(domain, target, async (tx, node) => {
    if (node.state === state && (reason ?? node.reason) === node.reason) return
    await setStates(tx, { id }, { state, reason: reason ?? null, userId: viewer.userId })
    const detail = { name: node.name, from: node.state, to: state, ...(reason && { reason }) }
    await changed(domain, tx, { viewer, pool: node.pool, action: 'node.update', id, detail })
  })
  return { id }
}

/** Throws InvalidState while a run or a hold is on the node. */
export async function deleteNode(domain: Domain, viewer: Viewer, target: Target): Promise<{ id: string }> {
  demand(viewer, 'node.write')
  const { id } = target
  await withNode(domain, target, async (tx, node) => {
    const why = await whyBusy(tx, id, node.name)
    if (why !== null) throw InvalidInput.at('nodeId', why)
    await tx.prisma.poolNode.delete({ where: { id } })
    await changed(domain, tx, { viewer, pool: node.pool, action: 'node.delete', id, detail: { name: node.name } })
  })
  return { id }
}

async function whyBusy({ prisma }: Tx, id: string, name: string): Promise<string | null> {
  const runs = await prisma.allocation.groupBy({ by: ['runId'], where: { nodeId: id } })
  if (runs.length > 0)
    return `${runs.length} run${runs.length > 1 ? 's hold' : ' holds'} resources of node ${name}; drain the node and wait, or cancel the jobs`
  const where = { placements: { array_contains: [{ nodeId: id }] } }
  const hold = await prisma.hold.findFirst({ where, orderBy: { jobId: 'asc' } })
  return hold && `Node ${name} is held for ${hold.jobId}; cordon the node and wait, or cancel that job`
}

interface NodeHead {
  pool: string
  name: string
  /** For a LOST node: the state after it returns. */
  state: NodeState
  reason: string | null
}

async function withNode(
  domain: Domain,
  { id, expectedVersion }: Target,
  work: (tx: Tx, node: NodeHead) => Promise<void>,
): Promise<void> {
  await domain.db.locking(async (tx) => {
    const read = () => tx.prisma.poolNode.findUnique({ where: { id } })
    const found = await read()
    if (found) await lockPool(tx, found.poolName)
    const node = found && (await read())
    if (!node) throw new NotFound(`Node ${id.slice(0, 64)} not found`)
    if (node.isDelegated) {
      const message = `Node ${node.name} belongs to the backend of pool ${node.poolName}; drain, resume or remove it there`
      throw InvalidInput.at('nodeId', message)
    }
    demandUnchanged('node', node, expectedVersion)
    const { poolName: pool, name, stateReason: reason } = node
    await work(tx, { pool, name, state: node.stateBefore ?? node.state, reason })
  })
  domain.wakeups.poke('queue')
}

interface NodeChange {
  viewer: Viewer
  pool: string
  action: string
  id: string
  detail: Record<string, unknown>
}

async function changed({ time }: Domain, sql: Sql, { viewer, pool, action, id, detail }: NodeChange): Promise<void> {
  await announceSettingsAndNodes(sql, pool)
  await audit(sql, viewer, [{ action, objectId: id, detail: { pool, ...detail } }], time.nowMs())
}
