import { sumAmounts } from '../../domain/machines/amounts.ts'
import { serves } from '../../domain/machines/machines.ts'
import {
  countFree,
  createFitting,
  type FreeDevice,
  type FreeNode,
  freeResources,
  indexMachines,
  type Placement,
  type PlaceOptions,
  place,
  takeResources,
} from '../../domain/machines/placement.ts'
import { listClosedNodes } from '../../domain/machines/reservation-window.ts'
import type { Shape } from '../../domain/shape.ts'
import { atOnceMs, computeExpectedEndMs, isKnown } from './expected-ends.ts'
import { type Claim, groupByNode, hideKeptResources, listKept, subtractPlacement } from './holds.ts'
import type { PlannedStart, Running, WorldView } from './model.ts'
import { restrictToRation } from './rations.ts'
import { findReservedNodes } from './reservations.ts'

/**
 * A job that does not fit gets a planned start: the nodes on which it fits soonest if runs end as expected
 * (expected-ends.ts). Planned starts are made in the order of the jobs, and no two of them need the same resources:
 * otherwise two jobs with several copies could each keep nodes that the other needs. They live in memory and are made
 * again after each end of a run, so a new leader makes the same ones.
 */

const perKindMax = 1

export function planStart(world: WorldView, claim: Claim): PlannedStart | null {
  const { lane, entry, ration } = claim
  if (!mayPlan(world, lane.shape)) return null
  const isUsed = createKindsInUse(world)
  const { view, budget } = restrictToRation(ration, createLaterView(world, claim, isUsed))
  const soonest = findSoonest(world, claim, { view, budget })
  for (let count = lane.shape.copies; count <= soonest.length; count++) {
    const atMs = soonest[count - 1]?.atMs ?? atOnceMs
    // Tries copies that fit at the same time together.
    if (count < soonest.length && soonest[count]?.atMs === atMs) continue
    const on = new Set(soonest.slice(0, count).map(({ node }) => node))
    const ended = listEnds(world, on, { atMs, owner: entry.jobId })
    const placements = withEnds(ended, () => {
      const found = place(lane.shape, world.nodes, { view: (node) => (on.has(node) ? view(node) : null), budget })
      return found && preferBusyDevices(lane.shape, found, { view, ended })
    })
    if (!placements) continue
    return endsBeforeReservations(world, claim, { placements, atMs }) ? { lane, entry, placements, atMs } : null
  }
  return null
}

// ── where and when ──

interface Fitting {
  node: FreeNode
  atMs: number
}

/** Lists the times at which one more copy fits on a node, soonest first. Without a budget, only as many as are needed. */
function findSoonest(
  world: WorldView,
  { lane: { shape }, entry }: Claim,
  { view, budget }: Pick<PlaceOptions, 'view' | 'budget'>,
): Fitting[] {
  const fitting = createFitting(shape, world.nodes, { view })
  const found: Fitting[] = []
  let untilMs = Number.POSITIVE_INFINITY
  for (const [at, node] of fitting.nodes.entries()) {
    if (!mayFit(world, shape, { node, at, beforeMs: untilMs }) || !view?.(node)) continue
    const ends = listEnds(world, [node], { atMs: untilMs, owner: entry.jobId }).sort((a, b) => a.endMs - b.endMs)
    const gone: Ending[] = []
    let copies = 0
    const look = (atMs: number) => {
      const fit = fitting.copiesAt(at)
      for (; copies < fit; copies++) found.push({ node, atMs })
    }
    look(atOnceMs)
    for (const [index, end] of ends.entries()) {
      if (copies >= shape.copies) break
      freeResources(node, end.placement)
      gone.push(end)
      if (ends[index + 1]?.endMs !== end.endMs) look(end.endMs)
    }
    for (const { placement } of gone) takeResources(node, placement)
    if (budget || copies === 0) continue
    found.sort((a, b) => a.atMs - b.atMs).splice(shape.copies)
    untilMs = found[shape.copies - 1]?.atMs ?? untilMs
  }
  return found.sort((a, b) => a.atMs - b.atMs)
}

/** A quick test; false: a copy does not fit on the node even after all runs that end before `beforeMs`. */
function mayFit(
  world: WorldView,
  { gpu, cpuMillis, memoryBytes }: Shape,
  { node, at, beforeMs }: { node: FreeNode; at: number; beforeMs: number },
): boolean {
  if (computeNextEndMs(world, node, at) >= beforeMs)
    return node.freeCpu >= cpuMillis && node.freeMemory >= memoryBytes && countFree(node) >= gpu
  let gpus = countFree(node) - gpu
  let cpu = node.freeCpu - cpuMillis
  let memory = node.freeMemory - memoryBytes
  for (const end of listEarliestEnds(world, world.runsOn(node.id), node.id)) {
    if ((gpus >= 0 && cpu >= 0 && memory >= 0) || end.ms >= beforeMs) break
    gpus += end.gpus
    cpu += end.cpu
    memory += end.memory
  }
  return gpus >= 0 && cpu >= 0 && memory >= 0
}

function computeNextEndMs(world: WorldView, { id }: FreeNode, at: number): number {
  const known = world.nextEnds[at] ?? Number.NaN
  if (!Number.isNaN(known)) return known
  const next = listEarliestEnds(world, world.runsOn(id), id)[0]?.ms ?? Number.POSITIVE_INFINITY
  world.nextEnds[at] = next
  return next
}

interface EarliestEnd {
  ms: number
  gpus: number
  cpu: number
  memory: number
}

const knownEnds = new WeakMap<readonly Running[], readonly EarliestEnd[]>()

/** Lists lower bounds of the expected ends of the runs of a node, valid for any owner and at any later time. */
function listEarliestEnds(world: WorldView, runs: readonly Running[], nodeId: string): readonly EarliestEnd[] {
  const known = knownEnds.get(runs)
  if (known) return known
  const ends = runs.flatMap((running) => {
    const ms = running.backfilledOn === null ? computeExpectedEndMs(world, running, '') : atOnceMs
    const here = sumAmounts(running.placements.filter((placement) => placement.nodeId === nodeId))
    return { ms, gpus: here.gpu, cpu: here.cpu, memory: here.memory }
  })
  ends.sort((a, b) => a.ms - b.ms)
  knownEnds.set(runs, ends)
  return ends
}

interface Ending {
  node: FreeNode
  placement: Placement
  endMs: number
}

function listEnds(
  world: WorldView,
  nodes: Iterable<FreeNode>,
  { atMs, owner }: { atMs: number; owner: string },
): Ending[] {
  const ends: Ending[] = []
  for (const node of nodes)
    for (const running of world.runsOn(node.id)) {
      const endMs = computeExpectedEndMs(world, running, owner)
      if (endMs > atMs) continue
      for (const placement of running.placements)
        if (placement.nodeId === node.id) ends.push({ node, placement, endMs })
    }
  return ends
}

/** Calls `look` as if the runs had ended. Changes the nodes in place, because caches are keyed by these objects. */
function withEnds<T>(ends: readonly Ending[], look: () => T): T {
  for (const { node, placement } of ends) freeResources(node, placement)
  try {
    return look()
  } finally {
    for (const { node, placement } of ends) takeResources(node, placement)
  }
}

/** Returns a view of a node without the resources kept for other jobs, now and after runs on the node end. */
function createLaterView(
  world: WorldView,
  claim: Claim,
  isUsed: (node: FreeNode) => boolean,
): (node: FreeNode) => FreeNode | null {
  const mayUse = findReservedNodes(world, claim.lane)
  const kept = groupByNode(
    listKept(world, claim).filter(({ owner }) => world.holds.get(owner)?.backfilledOn !== claim.entry.jobId),
  )
  return (node) => {
    if (isUsed(node) || (mayUse && !mayUse(node))) return null
    const here = kept.get(node.id)
    if (!here) return node
    const left = { cpu: node.freeCpu, memory: node.freeMemory }
    for (const { placement } of here) subtractPlacement(left, placement)
    return hideKeptResources(node, here, left)
  }
}

/** true: a job that starts at `atMs` ends before any capacity reservation of its nodes begins. */
function endsBeforeReservations(
  { settings }: WorldView,
  { lane }: Claim,
  { placements, atMs }: Pick<PlannedStart, 'placements' | 'atMs'>,
): boolean {
  if (lane.reservationId !== null || settings.reservations.length === 0 || !isKnown(atMs)) return true
  const closed = listClosedNodes(settings.reservations, { atMs, runSeconds: lane.runSeconds })
  return placements.every(({ node }) => !closed.has(node))
}

/** Prefers devices in use to free devices, because other jobs can use the free ones meanwhile. */
function preferBusyDevices(
  shape: Shape,
  placements: readonly Placement[],
  { view, ended }: { view(node: FreeNode): FreeNode | null; ended: readonly Ending[] },
): readonly Placement[] {
  if (shape.gpu === 0 || shape.gpuIds !== null || shape.exclusive) return placements
  const spare = new Map<string, number[]>()
  for (const [node, ends] of Map.groupBy(ended, (end) => end.node)) {
    const busy = new Set(ends.flatMap(({ placement }) => placement.gpuIds))
    const chosen = placements.flatMap(({ nodeId, gpuIds }) => (nodeId === node.id ? gpuIds : []))
    const suits = (device: FreeDevice) => device.free && serves(shape, device) && !chosen.includes(device.index)
    const late = (view(node)?.devices ?? []).filter((device) => busy.has(device.index) && suits(device))
    const kept = chosen.filter((id) => busy.has(id))
    spare.set(node.id, [...kept, ...late.map(({ index }) => index), ...chosen.filter((id) => !busy.has(id))])
  }
  return placements.map((placement) => {
    const ids = spare.get(placement.nodeId)
    return ids ? { ...placement, gpuIds: ids.splice(0, shape.gpu) } : placement
  })
}

// ── how many ──

/** true: a kind of node that the job could use has fewer than `perKindMax` planned starts. */
export function mayPlan(world: WorldView, shape: Shape): boolean {
  const isUsed = createKindsInUse(world)
  if (listExamples(world.nodes).every(isUsed)) return false
  return listSuitableExamples(world.nodes, shape).some((node) => !isUsed(node))
}

const examples = new WeakMap<readonly FreeNode[], readonly FreeNode[]>()

function listExamples(nodes: readonly FreeNode[]): readonly FreeNode[] {
  const known = examples.get(nodes) ?? [...new Map(nodes.map((node) => [kindOf(node), node])).values()]
  examples.set(nodes, known)
  return known
}

const kinds = new WeakMap<FreeNode, string>()

function kindOf(node: FreeNode): string {
  const known = kinds.get(node) ?? JSON.stringify([node.cpuModel, node.devices.map(({ model }) => model)])
  kinds.set(node, known)
  return known
}

const suitableExamples = new WeakMap<object, readonly FreeNode[]>()

/** Shapes with the same devices share the list `suited`, and so the result. */
function listSuitableExamples(nodes: readonly FreeNode[], shape: Shape): readonly FreeNode[] {
  const { nodes: inOrder, suits } = indexMachines(nodes)
  const suited = suits(shape)
  const known = suitableExamples.get(suited)
  if (known) return known
  const kinds = new Map(inOrder.flatMap((node, at) => (suited[at] ? [[kindOf(node), node] as const] : [])))
  const examples = [...kinds.values()]
  suitableExamples.set(suited, examples)
  return examples
}

function createKindsInUse({ plans, nodes }: WorldView): (node: FreeNode) => boolean {
  if (plans.size === 0) return () => false
  const machines = indexMachines(nodes)
  const counts = new Map<string, number>()
  for (const { placements } of plans.values()) {
    const on = placements.flatMap(({ nodeId }) => machines.nodes[machines.indexOf(nodeId) ?? -1] ?? [])
    for (const kind of new Set(on.map(kindOf))) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return (node) => (counts.get(kindOf(node)) ?? 0) >= perKindMax
}
