import type { Lane } from '../../domain/lanes.ts'
import type { FreeNode } from '../../domain/machines/placement.ts'
import { closedNodes, windowState } from '../../domain/machines/reservation-window.ts'
import { because, type Reason } from '../../domain/reason.ts'
import type { Reservation, WorldView } from './model.ts'

/**
 * Capacity reservations: nodes for the jobs of a project in a window of time. Jobs of a reservation wait for its window
 * and run on its nodes alone. Other jobs use those nodes only before the window begins, and only if they end before that
 * (domain/machines/reservation-window.ts); so inside the window its jobs are ahead of all others there, whatever their
 * order. Jobs of a reservation are outside the rule of the blocked head: they neither block a class nor wait behind one.
 */

type World = Pick<WorldView, 'nowMs' | 'settings'>

/** Why reservations keep the jobs of the lane from starting now, and when that may change; null: they do not. */
export function reservationGate(world: World, lane: Lane): { reason: Reason; untilMs: number | null } | null {
  if (lane.reservationId === null) return null
  const reservation = reservationOf(world, lane.reservationId)
  const state = reservation ? windowState(reservation, world.nowMs) : 'OVER'
  if (!reservation || state === 'OVER')
    return { reason: because('RESERVATION_WINDOW', 'Its capacity reservation has ended'), untilMs: null }
  if (state === 'OPEN') return null
  const begins = new Date(reservation.startsMs).toISOString()
  return {
    reason: because('RESERVATION_WINDOW', `Waiting for its capacity reservation to begin at ${begins}`),
    untilMs: reservation.startsMs,
  }
}

/** The nodes that the jobs of the lane may use; null: all, as far as reservations are concerned. */
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

/** The nodes that the jobs of the lane may use at any time. */
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
