import type { Lane } from '../../domain/lanes.ts'
import type { FreeNode } from '../../domain/machines/placement.ts'
import { closedNodes, windowState } from '../../domain/machines/reservation-window.ts'
import { makeReason, type Reason } from '../../domain/reason.ts'
import type { Reservation, WorldView } from './model.ts'

/**
 * Capacity reservations keep nodes for the jobs of a project during a window. Their jobs wait for the window and run
 * only on those nodes. Other jobs use them only before the window, and only if they end before it
 * (domain/machines/reservation-window.ts). Jobs of a reservation neither block a class nor wait behind one.
 */

type World = Pick<WorldView, 'nowMs' | 'settings'>

/** Why reservations keep the jobs of the lane from starting now, and until when; null: they do not. */
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

/** Nodes that reservations allow the jobs of the lane now; null: all. */
export function reservedNodes(world: World, lane: Lane): ((node: FreeNode) => boolean) | null {
  const { nowMs, settings } = world
  const own = lane.reservationId === null ? undefined : reservationOf(world, lane.reservationId)
  if (lane.reservationId !== null) {
    const mine = new Set(own?.nodes)
    return ({ name }) => mine.has(name)
  }
  const closed = closedNodes(settings.reservations, { atMs: nowMs, runSeconds: lane.runSeconds })
  return closed.size === 0 ? null : ({ name }) => !closed.has(name)
}

/** Nodes that reservations allow the jobs of the lane at any time. */
export function nodesFor(world: Pick<WorldView, 'nodes' | 'settings'>, lane: Lane): readonly FreeNode[] {
  if (lane.reservationId === null) return world.nodes
  const own = world.settings.reservations.find(({ id }) => id === lane.reservationId)
  return world.nodes.filter(({ name }) => own?.nodes.includes(name))
}

/** When a window next begins or ends; null: never. */
export function nextWindowMs({ nowMs, settings }: World): number | null {
  const moments = settings.reservations.flatMap(({ startsMs, endsMs }) => [startsMs, endsMs]).filter((at) => at > nowMs)
  return moments.length > 0 ? Math.min(...moments) : null
}

const reservationOf = ({ settings }: World, id: string): Reservation | undefined =>
  settings.reservations.find((reservation) => reservation.id === id)
