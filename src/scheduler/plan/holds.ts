import type { Lane } from '../../domain/lanes.ts'
import { isOpen, takesRuns } from '../../domain/machines/machines.ts'
import type { FreeNode, Placement, PlaceOptions } from '../../domain/machines/placement.ts'
import type { Hold, Running, Waiting, WorldView } from './model.ts'
import { type Ration, wholeNode, within } from './rations.ts'
import { reservedNodes } from './reservations.ts'

/**
 * A hold reserves parts of nodes for one waiting job, its owner. A PREEMPTION hold reserves exactly the resources of
 * the victims; other jobs cannot use them, even during the grace period. A DRAIN hold (drains.ts) reserves the nodes
 * that the job gets when the runs on them end. Two kinds of jobs may use drained nodes meanwhile: jobs that end before
 * the hold is expected to be complete, and preemptable jobs. Runs of the latter are marked as backfilled; they are
 * evicted as soon as the owner waits only for their resources.
 */

export interface Claim {
  lane: Lane
  entry: Waiting
  ration: Ration
}

export interface Usable extends Pick<PlaceOptions, 'budget'> {
  /** The part of the node that the job may use; null: it may not use the node. */
  view(node: FreeNode): FreeNode | null
  /** The job whose hold the run would use; null: the run uses no hold. */
  backfilled(placements: readonly Placement[]): string | null
}

export function usableFor(world: WorldView, claim: Claim, { evicts = false } = {}): Usable {
  const { view, backfilled } = besideHolds(world, claim, evicts)
  return { ...within(claim.ration, view), backfilled }
}

function besideHolds(world: WorldView, { lane, entry }: Claim, evicts: boolean): Usable {
  const mayUse = reservedNodes(world, lane)
  const others = holdsAgainst(world, { lane, entry }, evicts)
  if (others.length === 0)
    return { view: mayUse ? (node) => (mayUse(node) ? node : null) : wholeNode, backfilled: onNoHold }
  const closed = byNode(others.filter((hold) => !mayBackfill(world, lane, { hold, evicts })))
  const drained = byNode(others.filter(({ kind }) => kind === 'DRAIN'))
  return {
    view(node) {
      if (mayUse && !mayUse(node)) return null
      const kept = closed.get(node.id)
      return kept ? beside(world, node, kept) : node
    },
    backfilled: mayBeEvicted(lane) ? (placements) => ownerUnder(world, placements, drained) : onNoHold,
  }
}

/**
 * The holds that the job must respect; `evicts`: the job wants to evict runs. Under PRIORITY the owner of a drain hold
 * does not block jobs before it in the order, nor evictions for a job of a higher priority.
 */
export const holdsAgainst = (world: WorldView, job: Pick<Claim, 'lane' | 'entry'>, evicts = false): Hold[] =>
  [...world.holds.values()].filter((hold) => hold.jobId !== job.entry.jobId && !isPassed(world, job, { hold, evicts }))

export const holdsPassed = (world: WorldView, job: Pick<Claim, 'lane' | 'entry'>, evicts = false): Hold[] =>
  [...world.holds.values()].filter((hold) => isPassed(world, job, { hold, evicts }))

const isPassed = (
  world: WorldView,
  job: Pick<Claim, 'lane' | 'entry'>,
  { hold: { kind, jobId }, evicts }: { hold: Hold; evicts: boolean },
): boolean => kind === 'DRAIN' && (world.precedes(job, jobId) || (evicts && world.outranks(job.lane, jobId)))

const mayBeEvicted = ({ preemptable, interactive }: Lane) => preemptable && !interactive
const onNoHold = () => null

interface Kept {
  hold: Hold
  placement: Placement
}

export function byNode(holds: readonly Hold[]): ReadonlyMap<string, readonly Kept[]> {
  const kept = holds.flatMap((hold) => hold.placements.map((placement) => ({ hold, placement })))
  return Map.groupBy(kept, ({ placement }) => placement.nodeId)
}

function mayBackfill(world: WorldView, lane: Lane, { hold, evicts }: { hold: Hold; evicts: boolean }): boolean {
  const { kind, expectedMs } = hold
  if (kind === 'PREEMPTION') return false
  if (mayBeEvicted(lane)) return !isDue(world, hold)
  // Victims may end late, so the job might not end in time.
  if (evicts) return false
  return lane.runSeconds !== null && expectedMs !== null && world.nowMs + lane.runSeconds * 1_000 <= expectedMs
}

/** true: the run was started beside the hold because it ends before the hold is complete. */
const isBorrowed = ({ sinceMs, lane }: Running, hold: Hold): boolean =>
  hold.expectedMs !== null &&
  sinceMs >= hold.sinceMs &&
  lane.runSeconds !== null &&
  sinceMs + lane.runSeconds * 1_000 <= hold.expectedMs

/**
 * true: only evicted and backfilled runs still use the held resources, so the owner gets them next. From then on no job
 * is backfilled or evicted there: otherwise one claim could follow another forever.
 */
export function isDue(world: WorldView, hold: Hold): boolean {
  return [...Map.groupBy(hold.placements, ({ nodeId }) => nodeId)].every(([nodeId, own]) => {
    const node = world.nodes.find(({ id }) => id === nodeId)
    if (!node) return false
    const going = [...world.runsOn(nodeId)].filter(
      (run) => run.leaving || run.backfilledOn === hold.jobId || isBorrowed(run, hold),
    )
    const [freed] = freedNodes([node], going)
    if (!freed) return false
    const left = { cpu: freed.freeCpu, memory: freed.freeMemory }
    for (const placement of own) subtract(left, placement)
    const gpus = own.reduce((sum, { gpuIds }) => sum + gpuIds.length, 0)
    return left.cpu >= 0 && left.memory >= 0 && gpus <= freed.devices.filter(({ free }) => free).length
  })
}

function beside(world: WorldView, node: FreeNode, kept: readonly Kept[]): FreeNode {
  return keepFree(node, kept, leftBeside(world, node, kept))
}

/** The node without held devices, and with at most `left` cores and memory. */
export function keepFree(node: FreeNode, kept: readonly Kept[], left: { cpu: number; memory: number }): FreeNode {
  const devices = new Set(kept.flatMap(({ placement }) => placement.gpuIds))
  return {
    ...node,
    freeCpu: Math.min(node.freeCpu, Math.max(0, left.cpu)),
    freeMemory: Math.min(node.freeMemory, Math.max(0, left.memory)),
    infinibandFree: node.infinibandFree && kept.every(({ placement }) => !placement.infiniband),
    devices: node.devices.map((device) => (devices.has(device.index) ? { ...device, free: false } : device)),
  }
}

function leftBeside(world: WorldView, node: FreeNode, kept: readonly Kept[]): { cpu: number; memory: number } {
  const left = { cpu: node.cpuMillis, memory: node.memoryBytes }
  for (const { placement } of kept) subtract(left, placement)
  for (const running of world.runsOn(node.id)) {
    if (kept.every(({ hold }) => goesFor(running, hold))) continue
    for (const placement of running.placements) if (placement.nodeId === node.id) subtract(left, placement)
  }
  return left
}

export function subtract(left: { cpu: number; memory: number }, { cpuMillis, memoryBytes }: Placement): void {
  left.cpu -= cpuMillis
  left.memory -= memoryBytes
}

/**
 * true: the run ends before the owner of the hold starts. If that time is unknown, only runs that are older than the
 * hold count.
 */
function goesFor(running: Running, { kind, jobId, expectedMs, sinceMs }: Hold): boolean {
  if (running.leaving || (kind === 'DRAIN' && running.backfilledOn === jobId)) return true
  if (kind === 'PREEMPTION') return false
  return expectedMs === null ? running.sinceMs < sinceMs : endMs(running) <= expectedMs
}

function ownerUnder(
  world: WorldView,
  placements: readonly Placement[],
  drained: ReadonlyMap<string, readonly Kept[]>,
): string | null {
  for (const placement of placements) {
    const kept = drained.get(placement.nodeId)
    const node = kept && world.nodes.find(({ id }) => id === placement.nodeId)
    if (!node) continue
    const view = beside(world, node, kept)
    const takesHeld =
      placement.cpuMillis > view.freeCpu ||
      placement.memoryBytes > view.freeMemory ||
      placement.gpuIds.some((id) => view.devices.find(({ index }) => index === id)?.free !== true)
    if (takesHeld) return kept[0]?.hold.jobId ?? null
  }
  return null
}

// ── completion and loss of a hold ──

/** true: all placements of the hold are free. */
export function isComplete({ nodes }: WorldView, { placements }: Hold): boolean {
  if (placements.length === 0) return false
  for (const [nodeId, own] of Map.groupBy(placements, (placement) => placement.nodeId)) {
    const node = nodes.find(({ id }) => id === nodeId)
    if (!node || !takesRuns(node)) return false
    const free = new Set(node.devices.filter((device) => device.free).map(({ index }) => index))
    const wants = { cpu: node.freeCpu, memory: node.freeMemory }
    for (const placement of own) subtract(wants, placement)
    if (wants.cpu < 0 || wants.memory < 0) return false
    if (
      own.some(({ gpuIds, infiniband }) => gpuIds.some((id) => !free.has(id)) || (infiniband && !node.infinibandFree))
    )
      return false
  }
  return true
}

/** true: the hold reserves nothing, or a node that was removed, takes no runs, or is reserved for other jobs. */
export function isVoid(world: WorldView, { placements }: Hold, owner: Lane | undefined): boolean {
  if (placements.length === 0) return true
  const mayUse = owner ? reservedNodes(world, owner) : null
  return placements.some(({ nodeId }) => {
    const node = world.nodes.find(({ id }) => id === nodeId)
    return !node || !isOpen(node) || mayUse?.(node) === false
  })
}

/** Infinity without a maximum run time. */
export function endMs({ lane, startedMs, sinceMs }: Running): number {
  return lane.runSeconds === null ? Number.POSITIVE_INFINITY : (startedMs ?? sinceMs) + lane.runSeconds * 1_000
}

/** Returns the nodes as they are after these runs; changed nodes are copies. */
export function freedNodes(nodes: readonly FreeNode[], ended: readonly Running[]): FreeNode[] {
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
