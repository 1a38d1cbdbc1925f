import type { ConfigProblem } from './value.ts'

interface Wanted {
  /** Of the pool. */
  connections: number
  pools: number
}

/** What the database has. */
interface Room {
  available: number
  maxConnections: number
}

/** For notifications, and for the start. */
const others = 2

/** Live streams have connections of their own, a third of all: however many there are, the rest is for everything else. */
export function shareOut(connections: number): { ordinary: number; live: number } {
  const live = Math.ceil(connections / 3)
  return { ordinary: connections - live, live }
}

/** The pool of connections, one connection for the leadership of each pool of nodes, and a few others. */
export const connectionsOf = ({ connections, pools }: Wanted): number => connections + pools + others

/** null: they fit. */
export function tooManyConnections(wanted: Wanted, { available, maxConnections }: Room): ConfigProblem | null {
  const needed = connectionsOf(wanted)
  if (needed <= available) return null
  const beside = needed - wanted.connections
  return {
    path: 'database.connections',
    reason: `${wanted.connections} connections and ${beside} others exceed the ${available} that this role may open (max_connections ${maxConnections})`,
    remedy: `set it to at most ${available - beside}, or raise max_connections, or the limit of the role or the database`,
  }
}
