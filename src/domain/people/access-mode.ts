import { readNow } from '../../platform/database-time.ts'
import { createLoop, type Loop } from '../../platform/loop.ts'
import type { Sql } from '../../platform/tx.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { revokeTokens } from './tokens.ts'

/**
 * Decides whether people must log in. In single-user mode the only user is `local`. At its start a server enters
 * multi-user mode permanently if it finds another enabled user, a valid token, an OpenID provider or a bootstrap token.
 * Only the operator can revert that (`resetToSingleUser`). The bootstrap token is applied before the decision, so it
 * counts unless it was revoked. A process in single-user mode restarts when another process has entered multi-user
 * mode.
 */

export interface LogIn {
  readonly oidc: boolean
  readonly bootstrapToken: boolean
}

export type Mode = 'SINGLE_USER' | 'USERS' | 'NOBODY_CAN_LOG_IN'

export const localUser = 'local'

type Rooms = Pick<Domain, 'db' | 'time' | 'log'>

export async function decideMode({ db, time, log }: Rooms, { oidc, bootstrapToken }: LogIn): Promise<Mode> {
  return db.locking(async (tx) => {
    const { entered, users, tokens } = await lockMode(tx)
    if (!entered && !oidc && !bootstrapToken && !users && !tokens) return 'SINGLE_USER'
    if (!entered) {
      await tx.prisma.accessMode.update({ where: { id: 1 }, data: { usersSince: await readNow(tx) } })
      await audit(tx, null, [{ action: 'mode.users', objectId: null }], time.nowMs())
      log.info('users must log in from now on; "--single-user" reverts this')
    }
    return oidc || tokens ? 'USERS' : 'NOBODY_CAN_LOG_IN'
  })
}

interface StoredMode {
  entered: boolean
  users: boolean
  tokens: boolean
}

async function lockMode(sql: Sql): Promise<StoredMode> {
  const [row] = await sql.query<StoredMode>(
    `SELECT users_since IS NOT NULL AS entered,
       EXISTS (SELECT FROM "user" WHERE name <> $1 AND NOT disabled) AS users,
       EXISTS (SELECT FROM api_token t JOIN "user" u ON u.id = t.user_id WHERE t.revoked_at IS NULL AND NOT u.disabled
         AND coalesce(t.expires_at > berth_now(), true)) AS tokens
     FROM access_mode FOR UPDATE`,
    [localUser],
  )
  if (!row) throw new Error('The row of access_mode is missing')
  return row
}

const pollMs = 1_000

export function watchSingleUser({ db, clock, log }: Pick<Domain, 'db' | 'clock' | 'log'>, end: () => void): Loop {
  let hasEnded = false
  async function look() {
    if (hasEnded) return
    const entered = await db.sql.query('SELECT FROM access_mode WHERE users_since IS NOT NULL', [], 'users_since')
    if (entered.length === 0) return
    hasEnded = true
    log.warn('another server of this database entered multi-user mode; restarting, because users must log in here too')
    end()
  }
  return createLoop({ name: 'access mode', pollMs: pollMs, runOnce: look, clock, log })
}

/** Also revokes every token and disables every user but `local`, so that the next start does not enter multi-user mode. */
export async function resetToSingleUser({ db, time }: Rooms): Promise<void> {
  await db.serializable(async (tx) => {
    const { entered, users, tokens } = await lockMode(tx)
    if (!entered && !users && !tokens) return
    await revokeTokens(tx, {})
    const { user, accessMode } = tx.prisma
    await user.updateMany({ where: { name: { not: localUser } }, data: { disabled: true } })
    await user.updateMany({ where: { name: localUser }, data: { disabled: false } })
    await accessMode.update({ where: { id: 1 }, data: { usersSince: null } })
    await audit(tx, null, [{ action: 'mode.single-user', objectId: null }], time.nowMs())
  })
}
