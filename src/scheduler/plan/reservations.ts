import type { Lane } from '../../domain/lanes.ts'
import type { FreeNode } from '../../domain/machines/placement.ts'
import { closedNodes, windowState } from '../../domain/machines/reservation-window.ts'
import { makeReason, type Reason } from '../../domain/reason.ts'
import type { Reservation, WorldView } from './model.ts'

/**
 * Capacity reservations keep nodes for the jobs of a project during a window. Their jobs wait for the window and run
 * only on those nodes. Other jobs use them only if they end before it (domain/machines/reservation-window.ts).
 */

type World = Pick<WorldView, 'nowMs' | 'settings'>

/** The reason why jobs of the lane cannot start now, and when it ends; null: they may start. */
export function reservationGate(world: World, lane: Lane): { reason: Reason; untilMs: number | null } | null {
  if (lane.reservationId === null) return null
  const reservation = reservationOf(world, lane.reservationId)
  const state = reservation ? windowState(reservation, world.nowMs) : 'OVER'
  if (!reservation || state === 'OVER')
    return { reason: makeReason('RESERVATION_WINDOW', 'The capacity reservation of the job has ended'), untilMs: null }
  if (state === 'OPEN') return null
  const begins = new Date(reservation.startsMs).toISOString()
  return {
    reason: makeReason('RESERVATION_WINDOW', `Waiting for the capacity reservation to begin at ${begins}`),
    untilMs: reservation.startsMs,
  }
}

/** Nodes that the lane may use now; null: all nodes. */
export function reservedNodes(world: World, lane: Lane): ((node: FreeNode) => boolean) | null {
  const { nowMs, settings } = world
  if (lane.reservationId !== null) {
    const mine = new Set(reservationOf(world, lane.reservationId)?.nodes)
    return ({ name }) => mine.has(name)
  }
  const closed = closedNodes(settings.reservations, { atMs: nowMs, runSeconds: lane.runSeconds })
  return closed.size === 0 ? null : ({ name }) => !closed.has(name)
}

/** Nodes that the lane may use at any time. */
export function nodesFor(world: Pick<WorldView, 'nodes' | 'settings'>, lane: Lane): readonly FreeNode[] {
  if (lane.reservationId === null) return world.nodes
  const own = reservationOf(world, lane.reservationId)
  return world.nodes.filter(({ name }) => own?.nodes.includes(name))
}

/** Lists by the nodes of the pool and by what they are for: each shape is placed on a list once. */
const listsOf = new WeakMap<readonly FreeNode[], Map<string, readonly FreeNode[]>>()

function keepList(nodes: readonly FreeNode[], key: string, isListed: (node: FreeNode) => boolean): readonly FreeNode[] {
  const lists = listsOf.get(nodes) ?? new Map<string, readonly FreeNode[]>()
  const listed = lists.get(key) ?? nodes.filter(isListed)
  const list = listed.length === nodes.length ? nodes : listed
  listsOf.set(nodes, lists.set(key, list))
  return list
}

export const readyNodes = (nodes: readonly FreeNode[]): readonly FreeNode[] =>
  keepList(nodes, 'READY', ({ state }) => state === 'READY')

/** Nodes that the lane may use now, however many runs they have: ready, and not reserved. */
export function openNodes(world: Pick<WorldView, 'nodes'> & World, lane: Lane): readonly FreeNode[] {
  const ready = readyNodes(world.nodes)
  const mayUse = reservedNodes(world, lane)
  if (!mayUse) return ready
  return keepList(ready, ready.flatMap((node, at) => (mayUse(node) ? [at] : [])).join(), mayUse)
}

/** Time at which a reservation window next begins or ends; null: never. */
export function nextWindowMs({ nowMs, settings }: World): number | null {
  const moments = settings.reservations.flatMap(({ startsMs, endsMs }) => [startsMs, endsMs]).filter((at) => at > nowMs)
  return moments.length > 0 ? Math.min(...moments) : null
}

const reservationOf = ({ settings }: Pick<World, 'settings'>, id: string): Reservation | undefined =>
  settings.reservations.find((reservation) => reservation.id === id)
