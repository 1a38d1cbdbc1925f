import type { Sql } from './tx.ts'

/** Classes of advisory locks, the first of the two keys: one list, so that no two uses collide. */
export const advisoryLocks = {
  /** Second key 0: migrating this database. */
  migration: 0x62657201,
  /** Second key 0, in the maintenance database: shared by every process that uses the embedded server. */
  embeddedUsers: 0x62657202,
  /** Second key: hash of the key that is led. */
  leadership: 0x62657203,
  /** Second key 0: numbering events. */
  sequencer: 0x62657204,
  /** Second key 0: chaining the audit log. */
  auditChain: 0x62657205,
  /** Second key 0: folding the tally of the queue. */
  tally: 0x62657206,
} as const

/** Takes the lock until the transaction ends; false: another transaction holds the lock. */
export async function tryLock(sql: Sql, lock: number): Promise<boolean> {
  const [row] = await sql.query<{ got: boolean }>('SELECT pg_try_advisory_xact_lock($1, 0) AS got', [lock], 'try_lock')
  return row?.got === true
}
