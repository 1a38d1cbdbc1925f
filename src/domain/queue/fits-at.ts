import { type FreeNode, freeResources, type Placement, place } from '../machines/placement.ts'
import { getWindowState, listClosedNodes, type Window } from '../machines/reservation-window.ts'
import type { Shape } from '../shape.ts'

/**
 * Estimates when a waiting job would fit if no other job took the freed resources. Uses the known ends of runs and the
 * windows of capacity reservations, as scheduler/plan/reservations.ts does.
 */

export interface FitQuery {
  shape: Shape
  reservationId: string | null
  /** null: no maximum run time. */
  runSeconds: number | null
}

export interface ExpectedEnd {
  jobId: string
  /** null: unknown. */
  endsAt: Date | null
  placements: readonly Placement[]
}

export interface Reserved extends Window {
  id: string
  nodes: readonly string[]
}

export interface NodesNow {
  nodes: readonly FreeNode[]
  /** Sorted by end. */
  endings: readonly ExpectedEnd[]
  reserved: readonly Reserved[]
}

interface Ended {
  endsMs: number
  placements: readonly Placement[]
}

/** Queries with the same key have the same result. Without reservations the run time has no effect. */
export const toFitKey = ({ shape, reservationId, runSeconds }: FitQuery, { reserved }: NodesNow, from: Date): string =>
  JSON.stringify([shape, reservationId, reserved.length > 0 ? runSeconds : null, from])

/** Finds the first time from `from` on at which the job fits; null: not even after all known ends of runs. */
export function findFitTime(query: FitQuery, { nodes, endings, reserved }: NodesNow, from: Date): Date | null {
  const known = endings.flatMap(({ endsAt, placements }) => (endsAt ? [{ endsMs: endsAt.getTime(), placements }] : []))
  const begins = listCuts(query, reserved, from.getTime())
  for (const [index, fromMs] of begins.entries()) {
    const open = nodes.filter(isOpen(query, reserved, fromMs))
    const untilMs = begins[index + 1] ?? Number.POSITIVE_INFINITY
    const roomMs = firstFit(query.shape, open, known, fromMs, untilMs)
    if (roomMs !== null) return new Date(roomMs)
  }
  return null
}

/** Lists times at which reservations open or close nodes to the job. */
function listCuts({ reservationId, runSeconds }: FitQuery, reserved: readonly Reserved[], fromMs: number): number[] {
  const cuts = reserved.flatMap(({ id, startsMs, endsMs }) => {
    if (reservationId !== null) return id === reservationId ? [startsMs, endsMs] : []
    return runSeconds === null ? [endsMs] : [startsMs - runSeconds * 1_000 + 1, endsMs]
  })
  return [fromMs, ...[...new Set(cuts)].filter((cut) => cut > fromMs).toSorted((a, b) => a - b)]
}

function isOpen({ reservationId, runSeconds }: FitQuery, reserved: readonly Reserved[], atMs: number) {
  if (reservationId !== null) {
    const own = reserved.find((each) => each.id === reservationId && getWindowState(each, atMs) === 'OPEN')
    return ({ name }: FreeNode) => own?.nodes.includes(name) ?? false
  }
  const closed = listClosedNodes(reserved, { atMs, runSeconds })
  return ({ name }: FreeNode) => !closed.has(name)
}

function firstFit(
  shape: Shape,
  nodes: readonly FreeNode[],
  known: readonly Ended[],
  fromMs: number,
  untilMs: number,
): number | null {
  const fits = (ended: number) => place(shape, freeEndedRuns(nodes, known.slice(0, ended))) !== null
  let low = known.filter(({ endsMs }) => endsMs <= fromMs).length
  if (fits(low)) return fromMs
  let high = known.filter(({ endsMs }) => endsMs < untilMs).length
  if (high <= low || !fits(high)) return null
  while (low + 1 < high) {
    const middle = (low + high) >> 1
    if (fits(middle)) high = middle
    else low = middle
  }
  return known[high - 1]?.endsMs ?? null
}

/** Returns the nodes after these runs have ended. Copies only the nodes that change, because there may be thousands. */
function freeEndedRuns(nodes: readonly FreeNode[], ended: readonly Ended[]): FreeNode[] {
  const freed = Map.groupBy(
    ended.flatMap(({ placements }) => placements),
    ({ nodeId }) => nodeId,
  )
  return nodes.map((node) => {
    const placements = freed.get(node.id)
    if (!placements) return node
    const copy = structuredClone(node)
    for (const placement of placements) freeResources(copy, placement)
    return copy
  })
}
