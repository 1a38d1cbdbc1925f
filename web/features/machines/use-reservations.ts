import { PoolReservationsDocument, type PoolReservationsQuery } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { readPages } from '../../ground/list-pages.ts'
import { type Resource, useResource } from '../../ground/resource.ts'

export type Reservation = PoolReservationsQuery['capacityReservations']['nodes'][number]

const reservationsPerPage = 100
const readMs = 30_000

export const useReservations = (pool: string): Resource<readonly Reservation[]> =>
  useResource(`reservations ${pool}`, (signal) => readReservations(pool, signal), { everyMs: readMs })

async function readReservations(pool: string, signal: AbortSignal): Promise<readonly Reservation[]> {
  const { rows } = await readPages(async (after) => {
    const variables = { first: reservationsPerPage, after }
    return (await client.request(PoolReservationsDocument, variables, { signal })).capacityReservations
  })
  return rows.filter((each) => each.pool.name === pool)
}
