import type { Lane } from '../../domain/lanes.ts'
import { isOpen, takesRuns } from '../../domain/machines/machines.ts'
import type { FreeNode, Placement, PlaceOptions } from '../../domain/machines/placement.ts'
import { mayBackfill, mayBeEvicted } from './backfill.ts'
import { computeExpectedEndMs } from './expected-ends.ts'
import type { Hold, PlannedStart, Running, Waiting, WorldView } from './model.ts'
import { type Ration, restrictToRation, wholeNode } from './rations.ts'
import { findReservedNodes } from './reservations.ts'

/**
 * Two things keep parts of nodes for a waiting job, their owner. A hold keeps exactly the resources of the owner's
 * victims: other jobs cannot use them, even during the grace period. A planned start (planned-starts.ts) keeps what the
 * owner needs when the runs on its nodes have ended. Until then other jobs may use it if they end in time or are
 * preemptable. Runs of the latter are marked as backfilled; they are evicted as soon as the owner waits only for their
 * resources.
 */

export interface Claim {
  lane: Lane
  entry: Waiting
  ration: Ration
}

export interface Usable extends Pick<PlaceOptions, 'budget'> {
  /** Returns the node with the free resources that the job may use; null: the job may not use the node. */
  view(node: FreeNode): FreeNode | null
  /** Returns the job on whose planned nodes a run with these placements would be backfilled; null: no job. */
  backfilled(placements: readonly Placement[]): string | null
}

export function computeUsable(world: WorldView, claim: Claim, { evicts = false } = {}): Usable {
  const { view, backfilled } = excludeKept(world, claim, evicts)
  return { ...restrictToRation(claim.ration, view), backfilled }
}

function excludeKept(world: WorldView, { lane, entry }: Claim, evicts: boolean): Usable {
  const mayUse = findReservedNodes(world, lane)
  const others = listKept(world, { lane, entry }, evicts)
  if (others.length === 0)
    return { view: mayUse ? (node) => (mayUse(node) ? node : null) : wholeNode, backfilled: onNoPlan }
  const closed = groupByNode(others.filter(({ plan }) => !plan || !mayBackfill(world, lane, { plan, evicts })))
  const planned = groupByNode(others.filter(({ plan }) => plan))
  return {
    view(node) {
      if (mayUse && !mayUse(node)) return null
      const kept = closed.get(node.id)
      return kept ? hideKept(world, node, kept) : node
    },
    backfilled: mayBeEvicted(lane) ? (placements) => findOwner(world, placements, planned) : onNoPlan,
  }
}

/** Resources that are kept for another job, its `owner`. `plan` null: by a hold. */
export interface Kept {
  owner: string
  plan: PlannedStart | null
  placement: Placement
}

/** Lists resources kept for other jobs. `evicts`: ignores planned starts of jobs with a lower configured priority. */
export function listKept(
  world: Pick<WorldView, 'holds' | 'plans' | 'outranks'>,
  { lane, entry }: Pick<Claim, 'lane' | 'entry'>,
  evicts = false,
): Kept[] {
  const kept: Kept[] = []
  for (const { jobId: owner, placements } of world.holds.values())
    if (owner !== entry.jobId) for (const placement of placements) kept.push({ owner, plan: null, placement })
  for (const [owner, plan] of world.plans)
    if (owner !== entry.jobId && !(evicts && world.outranks(lane, plan)))
      for (const placement of plan.placements) kept.push({ owner, plan, placement })
  return kept
}

const onNoPlan = () => null

export const groupByNode = (kept: readonly Kept[]): ReadonlyMap<string, readonly Kept[]> =>
  Map.groupBy(kept, ({ placement }) => placement.nodeId)

function hideKept(world: WorldView, node: FreeNode, kept: readonly Kept[]): FreeNode {
  return hideKeptResources(node, kept, computeLeft(world, node, kept))
}

/** Returns the node without kept devices, and with at most `left` free cores and memory. */
export function hideKeptResources(
  node: FreeNode,
  kept: readonly Kept[],
  left: { cpu: number; memory: number },
): FreeNode {
  const devices = new Set(kept.flatMap(({ placement }) => placement.gpuIds))
  return {
    ...node,
    freeCpu: Math.min(node.freeCpu, Math.max(0, left.cpu)),
    freeMemory: Math.min(node.freeMemory, Math.max(0, left.memory)),
    infinibandFree: node.infinibandFree && kept.every(({ placement }) => !placement.infiniband),
    devices: node.devices.map((device) => (devices.has(device.index) ? { ...device, free: false } : device)),
  }
}

function computeLeft(world: WorldView, node: FreeNode, kept: readonly Kept[]): { cpu: number; memory: number } {
  const { others } = node
  const left = {
    cpu: node.cpuMillis - (others?.cpuMillis ?? 0),
    memory: node.memoryBytes - (others?.memoryBytes ?? 0),
  }
  for (const { placement } of kept) subtractPlacement(left, placement)
  for (const running of world.runsOn(node.id)) {
    if (kept.every(({ plan }) => endsBefore(world, running, plan))) continue
    for (const placement of running.placements) if (placement.nodeId === node.id) subtractPlacement(left, placement)
  }
  return left
}

export function subtractPlacement(left: { cpu: number; memory: number }, { cpuMillis, memoryBytes }: Placement): void {
  left.cpu -= cpuMillis
  left.memory -= memoryBytes
}

/** true: the run is expected to end before the owner of the plan or hold starts. */
const endsBefore = (world: WorldView, running: Running, plan: PlannedStart | null): boolean =>
  plan ? computeExpectedEndMs(world, running, plan.entry.jobId) <= plan.atMs : running.leaving

function findOwner(
  world: WorldView,
  placements: readonly Placement[],
  planned: ReadonlyMap<string, readonly Kept[]>,
): string | null {
  for (const placement of placements) {
    const kept = planned.get(placement.nodeId)
    const node = kept && world.nodes.find(({ id }) => id === placement.nodeId)
    if (!node) continue
    const view = hideKept(world, node, kept)
    const takesKept =
      placement.cpuMillis > view.freeCpu ||
      placement.memoryBytes > view.freeMemory ||
      placement.gpuIds.some((id) => view.devices.find(({ index }) => index === id)?.free !== true)
    if (takesKept) return kept[0]?.owner ?? null
  }
  return null
}

// ── completion and loss of a hold ──

export function isComplete({ nodes }: WorldView, { placements }: Hold): boolean {
  if (placements.length === 0) return false
  for (const [nodeId, own] of Map.groupBy(placements, (placement) => placement.nodeId)) {
    const node = nodes.find(({ id }) => id === nodeId)
    if (!node || !takesRuns(node)) return false
    const free = new Set(node.devices.filter((device) => device.free).map(({ index }) => index))
    const wants = { cpu: node.freeCpu, memory: node.freeMemory }
    for (const placement of own) subtractPlacement(wants, placement)
    if (wants.cpu < 0 || wants.memory < 0) return false
    if (
      own.some(({ gpuIds, infiniband }) => gpuIds.some((id) => !free.has(id)) || (infiniband && !node.infinibandFree))
    )
      return false
  }
  return true
}

/** true: the hold keeps nothing, or a node that was removed, takes no runs, or is reserved for other jobs. */
export function isVoid(world: WorldView, { placements }: Hold, owner: Lane | undefined): boolean {
  if (placements.length === 0) return true
  const mayUse = owner ? findReservedNodes(world, owner) : null
  return placements.some(({ nodeId }) => {
    const node = world.nodes.find(({ id }) => id === nodeId)
    return !node || !isOpen(node) || mayUse?.(node) === false
  })
}

/** Returns the nodes as they are after these runs have ended. Changed nodes are copies. */
export function freeRuns(nodes: readonly FreeNode[], ended: readonly Running[]): FreeNode[] {
  const back = Map.groupBy(
    ended.flatMap(({ placements }) => placements),
    ({ nodeId }) => nodeId,
  )
  return nodes.map((node) => {
    const placements = back.get(node.id)
    if (!placements) return node
    const devices = new Set(placements.flatMap(({ gpuIds }) => gpuIds))
    return {
      ...node,
      freeCpu: placements.reduce((sum, { cpuMillis }) => sum + cpuMillis, node.freeCpu),
      freeMemory: placements.reduce((sum, { memoryBytes }) => sum + memoryBytes, node.freeMemory),
      infinibandFree: node.infinibandFree || placements.some(({ infiniband }) => infiniband),
      devices: node.devices.map((device) => (devices.has(device.index) ? { ...device, free: true } : device)),
    }
  })
}
