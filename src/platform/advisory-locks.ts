import type { Sql } from './tx.ts'

/** The first keys of advisory locks, in one list so that no two uses collide. The second key is 0 unless noted. */
export const advisoryLocks = {
  migration: 0x62657201,
  /** Held in the maintenance database, shared by every process that uses the embedded server. */
  embeddedUsers: 0x62657202,
  /** The second key is the hash of the leadership's key, such as a pool. */
  leadership: 0x62657203,
  sequencer: 0x62657204,
  auditChain: 0x62657205,
  tally: 0x62657206,
} as const

/** Takes the lock until the transaction ends. Returns false if another transaction holds it. */
export async function tryLock(sql: Sql, lock: number): Promise<boolean> {
  const [row] = await sql.query<{ got: boolean }>('SELECT pg_try_advisory_xact_lock($1, 0) AS got', [lock], 'try_lock')
  return row?.got === true
}
