import { describe, expect, it } from 'vitest'
import { decideMode, resetToSingleUser } from '../../../src/domain/people/access-mode.ts'
import { createToken } from '../../../src/domain/people/tokens.ts'
import { createUser } from '../../../src/domain/people/users.ts'
import { openTestDomain } from '../../support/domain.ts'

/** The mode after a start of the server. Each test continues with the database of the previous one. */
const nothing = { oidc: false, bootstrapToken: false }
const hourMs = 3_600_000

const { database, it: made } = await openTestDomain()

const mode = (logIn = nothing) => decideMode(made.domain, logIn)
const tokenFor = (ms: number) =>
  createToken(made.domain, made.admin, { name: 't', expiresAt: new Date(made.domain.time.nowMs() + ms) })

describe('the access mode at the start of a server', () => {
  it('is single-user without users, tokens and provider', async () => {
    expect(await mode()).toBe('SINGLE_USER')
    const { tokenId } = await tokenFor(hourMs)
    await database.db.sql.query('UPDATE api_token SET revoked_at = berth_now() WHERE id = $1', [tokenId])
    expect(await mode()).toBe('SINGLE_USER')
  })

  it('is multi-user from the first valid token on, also after it expires', async () => {
    await tokenFor(hourMs)
    expect(await mode()).toBe('USERS')
    await database.moveTime(2 * hourMs)
    expect(await mode()).toBe('NOBODY_CAN_LOG_IN')
    expect(await mode({ oidc: true, bootstrapToken: false })).toBe('USERS')
  })

  it('stays multi-user after the provider is removed from the configuration', async () => {
    await resetToSingleUser(made.domain)
    expect(await mode()).toBe('SINGLE_USER')
    expect(await mode({ oidc: true, bootstrapToken: false })).toBe('USERS')
    expect(await mode()).toBe('NOBODY_CAN_LOG_IN')
  })

  it('is single-user again after a reset, which the audit log records', async () => {
    await createUser(made.domain, made.admin, { name: 'ann', level: 'ADMIN' })
    await createToken(made.domain, made.admin, { name: 't' })
    await resetToSingleUser(made.domain)
    expect(await mode()).toBe('SINGLE_USER')
    const { sql } = database.db
    expect(await sql.query('SELECT name FROM "user" WHERE NOT disabled')).toEqual([{ name: 'local' }])
    expect(await sql.query('SELECT name FROM api_token WHERE revoked_at IS NULL')).toEqual([])
    const told = await sql.query<{ action: string }>(
      `SELECT action FROM audit_entry WHERE action LIKE 'mode.%' ORDER BY id`,
    )
    expect(told.map(({ action }) => action)).toEqual([
      'mode.users',
      'mode.single-user',
      'mode.users',
      'mode.single-user',
    ])
  })
})
