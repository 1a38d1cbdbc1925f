import { z } from 'zod'
import { newId } from '../../platform/ids.ts'
import { brokenConstraint, type Sql } from '../../platform/tx.ts'
import { demand, demandAllOf, isPermission, type Person, userLevels, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { parseInput } from '../parse.ts'
import { setTeams } from './teams.ts'
import { demandUnixUser } from './unix-users.ts'

/** People. Nobody is ever removed: jobs and the audit log keep their names; who leaves is disabled. */
const optionalText = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters').nullish()
const permissions = z.array(z.string().refine(isPermission, 'is no permission')).optional()

const fields = {
  displayName: optionalText,
  email: optionalText,
  teams: z.array(z.string()).optional(),
  /** Name of a team; null: none. */
  defaultTeam: z.string().nullish(),
  allow: permissions,
  deny: permissions,
  unixUser: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}\$?$/, 'must be the name of an account of the machine')
    .nullish(),
}

export const userName = z
  .string()
  .regex(
    /^[a-z0-9][\w.@+'-]{0,254}$/i,
    'must begin with a letter or digit; then these and any of . _ @ + - and apostrophes; at most 255',
  )

const creation = z.strictObject({ name: userName, level: z.enum(userLevels), ...fields })
const identityPart = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters')
const change = z.strictObject({
  id: z.string(),
  level: z.enum(userLevels).optional(),
  disabled: z.boolean().optional(),
  identity: z.strictObject({ issuer: identityPart, subject: identityPart }).nullish(),
  ...fields,
})

/** Who a person is at an OpenID provider. */
export interface Identity {
  readonly issuer: string
  /** `sub`: never given to another person by that issuer. */
  readonly subject: string
}

/** The constraint that an identity has one user. */
const identityKey = 'user_oidc_issuer_oidc_subject_key'

/** What the other of two writers of the same identity made is found when this one tries again. */
export const isTakenIdentity = (error: unknown): boolean => brokenConstraint(error) === identityKey

export async function createUser(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const input = parseInput(creation, raw)
  const { allow = [], deny = [], teams = [], defaultTeam = null, ...person } = input
  const id = newId('user', domain.time.nowMs())
  demandAllOf(viewer, { id, name: person.name, level: person.level, allow, deny })
  await domain.db.transaction(async (sql) => {
    await demandUnixUser(sql, viewer, person.unixUser)
    const rows = await sql.query(
      `INSERT INTO "user" (id, name, level, display_name, email, unix_user, allow, deny)
       VALUES ($1, $2, $3::user_level, $4, $5, $6, $7, $8) ON CONFLICT (name) DO NOTHING RETURNING id`,
      [id, person.name, person.level, person.displayName, person.email, person.unixUser, allow, deny],
    )
    if (rows.length === 0)
      throw new InvalidInput([{ path: ['name'], message: `There is a user ${person.name} already` }])
    await setTeams(sql, id, { teams, defaultTeam })
    await audit(sql, viewer, [{ action: 'user.create', objectId: id, detail: input }], domain.time.nowMs())
  })
  return { id }
}

export async function updateUser(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const { id, ...input } = parseInput(change, raw)
  const work = async (sql: Sql) => {
    const before = await lockPerson(sql, id)
    const { level = before.level, allow = before.allow, deny = before.deny } = input
    demandAllOf(viewer, before)
    demandAllOf(viewer, { ...before, level, allow, deny })
    demandOther(viewer, id, input.disabled)
    await demandUnixUser(sql, viewer, input.unixUser)
    const columns = Object.entries(columnOf).flatMap(([field, column]) => {
      const value = input[field as keyof typeof columnOf]
      return value === undefined ? [] : [{ column, value }]
    })
    const sets = columns.map(({ column }, i) => `${column} = $${i + 2}`).join(', ')
    if (sets) await sql.query(`UPDATE "user" SET ${sets} WHERE id = $1`, [id, ...columns.map(({ value }) => value)])
    if (input.identity !== undefined) await linkIdentity(sql, id, input.identity)
    await setTeams(sql, id, input)
    await audit(sql, viewer, [{ action: 'user.update', objectId: id, detail: input }], domain.time.nowMs())
  }
  await domain.db.transaction(work, { alsoRetry: isTakenIdentity })
  domain.wakeups.poke('access')
  return { id }
}

const columnOf = {
  level: 'level',
  disabled: 'disabled',
  displayName: 'display_name',
  email: 'email',
  unixUser: 'unix_user',
  allow: 'allow',
  deny: 'deny',
} as const

async function linkIdentity(sql: Sql, id: string, identity: Identity | null): Promise<void> {
  const { issuer = null, subject = null } = identity ?? {}
  const [other] = await sql.query<{ name: string }>(
    'SELECT name FROM "user" WHERE oidc_issuer = $1 AND oidc_subject = $2 AND id <> $3',
    [issuer, subject, id],
  )
  if (other) throw new InvalidInput([{ path: ['identity'], message: `Is already that of the user ${other.name}` }])
  await sql.query('UPDATE "user" SET oidc_issuer = $2, oidc_subject = $3 WHERE id = $1', [id, issuer, subject])
}

/** Disables: tokens die, jobs go on and keep their user. */
export async function deleteUser(domain: Domain, viewer: Viewer, { id }: { id: string }): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  await domain.db.transaction(async (sql) => {
    demandAllOf(viewer, await lockPerson(sql, id))
    demandOther(viewer, id, true)
    await sql.query('UPDATE "user" SET disabled = true WHERE id = $1', [id])
    await sql.query('UPDATE api_token SET revoked_at = berth_now() WHERE user_id = $1 AND revoked_at IS NULL', [id])
    await audit(sql, viewer, [{ action: 'user.delete', objectId: id }], domain.time.nowMs())
  })
  domain.wakeups.poke('access')
  return { id }
}

export const userNotFound = (id: string) => new NotFound(`There is no user ${id.slice(0, 64)}`)

async function lockPerson(sql: Sql, id: string): Promise<Person> {
  const [person] = await sql.query<Person>('SELECT id, name, level, allow, deny FROM "user" WHERE id = $1 FOR UPDATE', [
    id,
  ])
  if (!person) throw userNotFound(id)
  return person
}

/** Whoever disabled the last administrator would lock everybody out. */
function demandOther(viewer: Viewer, id: string, disabled: boolean | undefined): void {
  if (disabled && id === viewer.userId)
    throw new InvalidInput([{ path: ['id'], message: 'Nobody disables themselves; ask another administrator' }])
}
