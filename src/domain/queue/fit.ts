import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { missing } from '../machines/missing-resources.ts'
import { readNodes } from '../machines/nodes.ts'
import { couldEverFit, type FreeNode, place } from '../machines/placement.ts'
import { readReservations } from '../machines/reservations.ts'
import type { Shape } from '../shape.ts'

/** Whether the machines of the pool have what a job asks for, at the moment of reading. */
export interface Fit {
  freeNow: boolean
  couldEverFit: boolean
  missing: string[]
}

/** What a QUEUED or BLOCKED job needs. */
export interface WaitingShape {
  jobId: string
  pool: string
  laneId: string
  shape: Shape
  /** The job is restricted to the nodes of this capacity reservation. */
  reservationId: string | null
  /** null: without end. */
  runSeconds: number | null
  now: Date
}

export const readWaitingShapes = (sql: Sql, jobIds: readonly string[]): Promise<WaitingShape[]> =>
  sql.query<WaitingShape>(
    `SELECT j.id AS "jobId", j.pool, j.lane_id::text AS "laneId", l.shape, l.reservation_id AS "reservationId",
       l.run_seconds AS "runSeconds", berth_now() AS now
     FROM job j JOIN lane l ON l.id = j.lane_id WHERE j.id = ANY($1::text[]) AND j.state IN ('QUEUED', 'BLOCKED')`,
    [jobIds],
    'waiting_shapes',
  )

/** The fit of every QUEUED or BLOCKED job among these. Jobs of a lane are alike: each lane is tried once. */
export async function fitsOf(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, Fit>> {
  const rows = await readWaitingShapes(sql, jobIds)
  const pools = [...new Set(rows.map(({ pool }) => pool))]
  const [reservations, ...found] = await Promise.all([
    readReservations(
      sql,
      rows.flatMap(({ reservationId }) => reservationId ?? []),
    ),
    ...pools.map(async (pool) => [pool, await readNodes(sql, pool)] as const),
  ])
  const nodes = new Map(found)
  const tried = new Map<string, Fit>()
  return new Map(
    rows.map(({ jobId, pool, laneId, shape, reservationId }) => {
      const reserved = reservations.get(reservationId ?? '')?.nodes
      const mine = ({ name }: FreeNode) => reserved?.includes(name) ?? true
      const fit = tried.get(laneId) ?? fitOn(shape, (nodes.get(pool) ?? []).filter(mine))
      tried.set(laneId, fit)
      return [jobId, fit]
    }),
  )
}

/** The fit of a job that is not stored. */
export async function fitOf({ db }: Domain, { pool, shape, reservationId }: Unstored): Promise<Fit> {
  const [nodes, reservation] = await Promise.all([
    readNodes(db.sql, pool),
    reservationId === null ? null : db.prisma.capacityReservation.findUnique({ where: { id: reservationId } }),
  ])
  const mine = ({ name }: FreeNode) => reservation?.nodes.includes(name) ?? true
  return fitOn(shape, nodes.filter(mine))
}

interface Unstored {
  pool: string
  shape: Shape
  reservationId: string | null
}

/** The fit of a job that was just placed, or has started since the question. */
export const isThere: Fit = { freeNow: true, couldEverFit: true, missing: [] }

function fitOn(shape: Shape, nodes: readonly FreeNode[]): Fit {
  const freeNow = place(shape, nodes) !== null
  return { freeNow, couldEverFit: freeNow || couldEverFit(shape, nodes), missing: freeNow ? [] : missing(shape, nodes) }
}
