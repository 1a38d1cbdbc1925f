import pg from 'pg'

/**
 * A pool of connections to a PostgreSQL that a scenario stops. `end()` returns before PostgreSQL has closed them, so a
 * stop may still break a connection, which the pool emits as an error.
 */
export function openConnections(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString, max })
  pool.on('error', () => {})
  return pool
}
