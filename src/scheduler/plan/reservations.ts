import type { Lane } from '../../domain/lanes.ts'
import type { FreeNode } from '../../domain/machines/placement.ts'
import { getWindowState, listClosedNodes } from '../../domain/machines/reservation-window.ts'
import { makeReason, type Reason } from '../../domain/reason.ts'
import type { Reservation, WorldView } from './model.ts'

/**
 * Capacity reservations keep nodes for the jobs of a project during a window. Their jobs wait for the window and run
 * only on those nodes. Other jobs use them only if they end before it (domain/machines/reservation-window.ts).
 */

type World = Pick<WorldView, 'nowMs' | 'settings'>

/** Returns why jobs of the lane cannot start now, and when the reason ends; null: they may start. */
export function findReservationGate(world: World, lane: Lane): { reason: Reason; untilMs: number | null } | null {
  if (lane.reservationId === null) return null
  const reservation = reservationOf(world, lane.reservationId)
  const state = reservation ? getWindowState(reservation, world.nowMs) : 'OVER'
  if (!reservation || state === 'OVER')
    return { reason: makeReason('RESERVATION_WINDOW', 'The capacity reservation of the job has ended'), untilMs: null }
  if (state === 'OPEN') return null
  const begins = new Date(reservation.startsMs).toISOString()
  return {
    reason: makeReason('RESERVATION_WINDOW', `Waiting for the capacity reservation to begin at ${begins}`),
    untilMs: reservation.startsMs,
  }
}

/** Returns a test for the nodes that the lane may use now; null: all nodes. */
export function findReservedNodes(world: World, lane: Lane): ((node: FreeNode) => boolean) | null {
  const { nowMs, settings } = world
  if (lane.reservationId !== null) {
    const mine = new Set(reservationOf(world, lane.reservationId)?.nodes)
    return ({ name }) => mine.has(name)
  }
  const closed = listClosedNodes(settings.reservations, { atMs: nowMs, runSeconds: lane.runSeconds })
  return closed.size === 0 ? null : ({ name }) => !closed.has(name)
}

/** Lists the nodes that the lane may use at some time. */
export function listNodesFor(world: Pick<WorldView, 'nodes' | 'settings'>, lane: Lane): readonly FreeNode[] {
  if (lane.reservationId === null) return world.nodes
  const own = reservationOf(world, lane.reservationId)
  return world.nodes.filter(({ name }) => own?.nodes.includes(name))
}

/** Cache of lists by the nodes of the pool and a key, because other caches are keyed by the list. */
const listsOf = new WeakMap<readonly FreeNode[], Map<string, readonly FreeNode[]>>()

function keepList(nodes: readonly FreeNode[], key: string, isListed: (node: FreeNode) => boolean): readonly FreeNode[] {
  const lists = listsOf.get(nodes) ?? new Map<string, readonly FreeNode[]>()
  const listed = lists.get(key) ?? nodes.filter(isListed)
  const list = listed.length === nodes.length ? nodes : listed
  listsOf.set(nodes, lists.set(key, list))
  return list
}

export const listReadyNodes = (nodes: readonly FreeNode[]): readonly FreeNode[] =>
  keepList(nodes, 'READY', ({ state }) => state === 'READY')

/** Lists the nodes that are ready and not reserved for other jobs now, whatever runs they have. */
export function listOpenNodes(world: Pick<WorldView, 'nodes'> & World, lane: Lane): readonly FreeNode[] {
  const ready = listReadyNodes(world.nodes)
  const mayUse = findReservedNodes(world, lane)
  if (!mayUse) return ready
  return keepList(ready, ready.flatMap((node, at) => (mayUse(node) ? [at] : [])).join(), mayUse)
}

/** When the next window of a reservation begins or ends; null: never. */
export function findNextWindowMs({ nowMs, settings }: World): number | null {
  const moments = settings.reservations.flatMap(({ startsMs, endsMs }) => [startsMs, endsMs]).filter((at) => at > nowMs)
  return moments.length > 0 ? Math.min(...moments) : null
}

const reservationOf = ({ settings }: Pick<World, 'settings'>, id: string): Reservation | undefined =>
  settings.reservations.find((reservation) => reservation.id === id)
