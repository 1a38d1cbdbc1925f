import { z } from 'zod'
import { readNow } from '../../platform/database-time.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import { announceSettings } from '../changes.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { hasReservations, isDelegated } from '../executors.ts'
import { newId } from '../ids.ts'
import { lockPool } from '../limits/limits.ts'
import { parseInput } from '../parse.ts'
import { windowNotOverSql } from './reservation-window.ts'

/**
 * Capacity reservations keep nodes for the jobs of a project during a time window. They are immutable. Creation and
 * removal lock the row of the pool, so starts that were planned before are refused.
 */

export const nodesMax = 1_000
const name = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters')
const time = z.coerce.date('must be a time')

const reservationInput = z.strictObject({
  name,
  pool: z.string(),
  project: name,
  nodeIds: z.array(name).min(1, 'must name a node').max(nodesMax, `must be at most ${nodesMax}`),
  startsAt: time,
  endsAt: time,
  hard: z.boolean().nullish(),
  nativeId: name.nullish(),
})
type ReservationInput = Omit<z.output<typeof reservationInput>, 'nodeIds'>

export async function createCapacityReservation(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'reservation.write')
  const { nodeIds, ...given } = parseInput(reservationInput, raw)
  const input = { ...given, hard: given.hard ?? false, nativeId: given.nativeId ?? null }
  const id = newId('reservation', domain.time.nowMs())
  await domain.db.serializable(async (tx) => {
    await lockPool(tx, input.pool)
    await demandFree(tx, input)
    const data = { ...input, nodes: await demandNodes(tx, input, [...new Set(nodeIds)]) }
    await tx.prisma.capacityReservation.create({ data: { id, ...data } })
    await announceSettings(tx, input.pool)
    await audit(tx, viewer, [{ action: 'reservation.create', objectId: id, detail: data }], domain.time.nowMs())
  })
  domain.wakeups.poke('queue')
  return { id }
}

async function demandFree(tx: Tx, input: ReservationInput & { nativeId: string | null }): Promise<void> {
  const { pool, name: wanted, startsAt, endsAt, nativeId } = input
  const { executors } = await tx.prisma.pool.findUniqueOrThrow({ where: { name: pool } })
  if (!hasReservations(executors))
    throw InvalidInput.at('pool', `The backend of pool ${pool} knows no reservations; choose another pool`)
  if (isDelegated(executors) && nativeId === null)
    throw InvalidInput.at(
      'nativeId',
      `The backend of pool ${pool} chooses nodes; nativeId must name the reservation there`,
    )
  if (endsAt <= startsAt) throw InvalidInput.at('endsAt', 'Must be later than startsAt')
  if (endsAt <= (await readNow(tx))) throw InvalidInput.at('endsAt', 'Must be in the future')
  const taken = await tx.prisma.capacityReservation.count({ where: { pool, name: wanted } })
  if (taken > 0) throw InvalidInput.at('name', `Pool ${pool} already has a reservation ${wanted}; choose another name`)
}

/** Throws InvalidInput unless the nodes are in the pool and have no other reservation then. Returns their names. */
async function demandNodes({ prisma }: Tx, { pool, startsAt, endsAt }: ReservationInput, nodeIds: string[]) {
  const there = await prisma.poolNode.findMany({
    where: { poolName: pool, id: { in: nodeIds } },
    orderBy: { name: 'asc' },
  })
  const nodes = there.map(({ name }) => name)
  const others = await prisma.capacityReservation.findMany({
    where: { pool, startsAt: { lt: endsAt }, endsAt: { gt: startsAt }, nodes: { hasSome: nodes } },
  })
  for (const [index, nodeId] of nodeIds.entries()) {
    const path = `nodeIds.${index}`
    const node = there.find(({ id }) => id === nodeId)
    if (!node) throw InvalidInput.at(path, `Pool ${pool} has no node ${nodeId}`)
    const other = others.find((each) => each.nodes.includes(node.name))
    if (other)
      throw InvalidInput.at(
        path,
        `Node ${node.name} is in reservation ${other.name} at that time; choose another node or window`,
      )
  }
  return nodes
}

/** Running jobs of the reservation continue; waiting ones wait until they are cancelled. */
export async function deleteCapacityReservation(
  domain: Domain,
  viewer: Viewer,
  { id }: { id: string },
): Promise<{ id: string }> {
  demand(viewer, 'reservation.write')
  await domain.db.serializable(async (tx) => {
    const { capacityReservation } = tx.prisma
    const known = await capacityReservation.findUnique({ where: { id }, select: { name: true, pool: true } })
    if (!known) throw new NotFound(`Capacity reservation ${id.slice(0, 64)} not found`)
    await lockPool(tx, known.pool)
    await capacityReservation.delete({ where: { id } })
    await announceSettings(tx, known.pool)
    await audit(tx, viewer, [{ action: 'reservation.delete', objectId: id, detail: known }], domain.time.nowMs())
  })
  domain.wakeups.poke('queue')
  return { id }
}

export interface PoolReservation {
  id: string
  project: string
  nodes: string[]
  /** Milliseconds since 1970. */
  startsMs: number
  endsMs: number
  hard: boolean
}

/** Reservations that have not ended, ordered by their end. `limit` null: all. */
export const readPoolReservations = (sql: Sql, pool: string, limit: number | null): Promise<PoolReservation[]> =>
  sql.query<PoolReservation>(
    `SELECT id, project, nodes, (extract(epoch FROM starts_at) * 1000)::float8 AS "startsMs",
       (extract(epoch FROM ends_at) * 1000)::float8 AS "endsMs", hard
     FROM capacity_reservation WHERE pool = $1 AND ${windowNotOverSql} ORDER BY ends_at, id LIMIT $2`,
    [pool, limit],
    'reservations_of',
  )

export interface NamedReservation {
  id: string
  pool: string
  project: string
  nodes: string[]
  /** Milliseconds since 1970. */
  startsMs: number
  isOver: boolean
}

export async function readReservations(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NamedReservation>> {
  if (ids.length === 0) return new Map()
  const rows = await sql.query<NamedReservation>(
    `SELECT id, pool, project, nodes, (extract(epoch FROM starts_at) * 1000)::float8 AS "startsMs", NOT ${windowNotOverSql} AS "isOver"
     FROM capacity_reservation WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))`,
    [JSON.stringify([...new Set(ids)])],
    'named_reservations',
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Throws InvalidInput; a reservation of another project is reported as unknown. */
export function resolveReservation(
  { id, project, pool }: { id: string; project: string | null; pool: string },
  named: ReadonlyMap<string, NamedReservation>,
): NamedReservation {
  const reservation = named.get(id)
  const refuse = (message: string) => InvalidInput.at('spec.capacityReservationId', message)
  if (reservation?.project !== project || reservation?.pool !== pool)
    throw refuse(
      project === null
        ? `Capacity reservation ${id.slice(0, 64)} not found for jobs without a project`
        : `Capacity reservation ${id.slice(0, 64)} not found for project ${project} in pool ${pool}`,
    )
  if (reservation.isOver) throw refuse(`Capacity reservation ${id} has ended`)
  return reservation
}
