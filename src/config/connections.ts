import type { ConfigProblem } from './value.ts'

interface Wanted {
  /** Size of the server's connection pool. */
  connections: number
  pools: number
}

export const poolerProblem: ConfigProblem = {
  path: 'database.notify',
  reason: 'a connection pooler between this server and PostgreSQL refuses or drops the settings of a session',
  remedy: 'set it to false, or let database.url lead to PostgreSQL itself',
}

/** Connections outside of the connection pool: one for notifications, and one for the start. */
const others = 2

interface Division {
  ordinary: number
  /** Maximum number of ordinary connections that the requests of one user use at the same time. */
  ordinaryPerUser: number
  live: number
  lists: number
}

/** Divides the connection pool so that streams, slow lists and each user leave connections for other work. */
export function divideConnections(connections: number): Division {
  const live = Math.ceil(connections / 3)
  const lists = Math.ceil(connections / 8)
  const ordinary = connections - live - lists
  return { ordinary, ordinaryPerUser: Math.ceil(ordinary / 4), live, lists }
}

/** Returns the number of connections to the database, with one per pool of nodes for its leadership. */
export const countConnections = ({ connections, pools }: Wanted): number => connections + pools + others

export function checkConnections(
  wanted: Wanted,
  { available, maxConnections }: { available: number; maxConnections: number },
): ConfigProblem | null {
  const needed = countConnections(wanted)
  if (needed <= available) return null
  const beside = needed - wanted.connections
  return {
    path: 'database.connections',
    reason: `${wanted.connections} connections and ${beside} others exceed the ${available} that this role may open (max_connections ${maxConnections})`,
    remedy: `set it to at most ${available - beside}, or raise max_connections, or the limit of the role or the database`,
  }
}
