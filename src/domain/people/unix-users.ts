import type { Sql, Tx } from '../../platform/tx.ts'
import { demandAdmin, type Viewer } from '../access.ts'
import { InvalidInput, type Violation } from '../errors.ts'
import { findTraits } from '../executors.ts'

/**
 * The system account that runs the processes of a job (`User.unixUser`). Without one, a job under a server that runs as
 * root would also run as root, and could read the memory of the server and the password of its database. Such a job is
 * refused unless the pool has `jobsAsRoot`. Accounts that own files of the server never run jobs. The executor checks
 * this again when a run starts.
 */

export type UnixUsers = ReadonlyMap<string, string>

/** Reads system accounts by id of the user. Omits users without one. */
export async function readUnixUsers(sql: Sql, userIds: readonly string[]): Promise<UnixUsers> {
  const rows = await sql.query<{ id: string; unixUser: string }>(
    `SELECT u.id, u.unix_user AS "unixUser"
     FROM jsonb_array_elements_text($1::text::jsonb) AS wanted(id) JOIN "user" u ON u.id = wanted.id
     WHERE u.unix_user IS NOT NULL`,
    [JSON.stringify([...new Set(userIds)])],
    'unix_users',
  )
  return new Map(rows.map(({ id, unixUser }) => [id, unixUser]))
}

interface Asking {
  destination: { pool: string; unixUserRequired: boolean; reservedUnixUsers: readonly string[] }
  executor: string
  userName: string
  /** null: the user has no account. */
  unixUser: string | null
}

export function listUnixUserViolations({ destination, executor, userName, unixUser }: Asking): Violation[] {
  if (!findTraits(executor).takesUnixUser) return []
  const refuse = (message: string): Violation[] => [{ path: ['spec', 'executor'], message }]
  if (unixUser !== null && destination.reservedUnixUsers.includes(unixUser))
    return refuse(
      `${executor}: jobs must not run as ${unixUser}, which owns files of the server of pool ${destination.pool}; ` +
        `ask an administrator to set another account for user ${userName}: berth user set ${userName} --unix-user ACCOUNT`,
    )
  if (unixUser === null && destination.unixUserRequired)
    return refuse(
      `${executor}: the user ${userName} has no unixUser, so the job would run as root in pool ${destination.pool}; ` +
        `ask an administrator to set one: berth user set ${userName} --unix-user ACCOUNT, or to set jobsAsRoot of the pool`,
    )
  return []
}

/** The account decides which files of the machine jobs may read and write, so only an ADMIN may set it. */
export async function demandUnixUser(
  { prisma }: Tx,
  viewer: Viewer,
  unixUser: string | null | undefined,
): Promise<void> {
  if (unixUser === undefined) return
  demandAdmin(viewer)
  if (unixUser === null) return
  const refuse = (message: string) => InvalidInput.at('unixUser', message)
  if (unixUser === 'root') throw refuse('must not be root: the jobs could read and change all data of the server')
  const where = { reservedUnixUsers: { has: unixUser } }
  const pool = await prisma.pool.findFirst({ where, orderBy: { name: 'asc' }, select: { name: true } })
  if (pool) throw refuse(`must not be ${unixUser}: it owns files of the server of pool ${pool.name}`)
}
