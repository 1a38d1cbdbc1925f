import { z } from 'zod'
import { given } from '../../platform/models.ts'
import { brokenConstraint, type Sql, type Tx } from '../../platform/tx.ts'
import {
  demand,
  demandAdmin,
  demandAllPermissions,
  isPermission,
  type Person,
  userLevels,
  type Viewer,
} from '../access.ts'
import { audit } from '../audit/audit.ts'
import { announceLimitsOfAllPools } from '../changes.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, userNotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { parseInput } from '../parse.ts'
import { withSubmissionsLocked } from '../submission-lock.ts'
import { demandUnchanged, type Target, versionInput } from '../versions.ts'
import { localUser } from './access-mode.ts'
import { nameOrId, setTeams } from './teams.ts'
import { revokeTokens } from './tokens.ts'
import { demandUnixUser } from './unix-users.ts'

/**
 * Users are disabled, never removed, because jobs and the audit log refer to them. A change takes the submission lock,
 * so a submission of a user who has been disabled is never accepted.
 */
const optionalText = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters').nullish()
const permissions = z.array(z.string().refine(isPermission, 'is not a known permission')).optional()

const fields = {
  displayName: optionalText,
  email: optionalText,
  teams: z.array(nameOrId).optional(),
  /** null clears it. */
  defaultTeam: nameOrId.nullish(),
  allow: permissions,
  deny: permissions,
  unixUser: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}\$?$/, 'must be the name of a Unix account')
    .nullish(),
}

export const userName = z
  .string()
  .regex(
    /^[a-z0-9][\w.@+'-]{0,254}$/i,
    'must start with a letter or digit, followed by letters, digits, . _ @ + - and apostrophes; at most 255 characters',
  )

const creation = z.strictObject({ name: userName, level: z.enum(userLevels), ...fields })
const identityPart = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters')
const change = z.strictObject({
  id: z.string(),
  level: z.enum(userLevels).optional(),
  disabled: z.boolean().optional(),
  identity: z.strictObject({ issuer: identityPart, subject: identityPart }).nullish(),
  expectedVersion: versionInput,
  ...fields,
})

export interface Identity {
  readonly issuer: string
  /** The claim `sub`, which the issuer never reuses for another person. */
  readonly subject: string
}

const identityKey = 'user_oidc_issuer_oidc_subject_key'

/** true: another transaction stored the same identity first; a retry finds its row. */
export const isTakenIdentity = (error: unknown): boolean => brokenConstraint(error) === identityKey

export async function createUser(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const input = parseInput(creation, raw)
  const { allow = [], deny = [], teams = [], defaultTeam = null, ...person } = input
  const id = newId('user', domain.time.nowMs())
  if (teams.length > 0) demandAdmin(viewer)
  demandAllPermissions(viewer, { id, name: person.name, level: person.level, allow, deny })
  await domain.db.serializable(async (tx) => {
    await demandUnixUser(tx, viewer, person.unixUser)
    const data = given({ ...person, id, allow, deny })
    const { count } = await tx.prisma.user.createMany({ data, skipDuplicates: true })
    if (count === 0)
      throw InvalidInput.at(
        'name',
        `A user ${person.name} exists already, in this or another case; choose another name`,
      )
    await setTeams(tx, id, { teams, defaultTeam })
    await audit(tx, viewer, [{ action: 'user.create', objectId: id, detail: input }], domain.time.nowMs())
  })
  return { id }
}

export async function updateUser(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const { id, expectedVersion, ...input } = parseInput(change, raw)
  const { identity, teams, defaultTeam, ...columns } = input
  // An identity lets a person log in as this user, and a team lets the user charge its account.
  if (identity || (teams ?? []).length > 0) demandAdmin(viewer)
  const work = async (tx: Tx) => {
    const before = await readPerson(tx, id)
    const { level = before.level, allow = before.allow, deny = before.deny, disabled = before.disabled } = input
    const after = { ...before, level, allow, deny, disabled }
    demandAllPermissions(viewer, before)
    demandAllPermissions(viewer, after)
    demandUnchanged('user', before, expectedVersion)
    demandOther(viewer, id, input.disabled)
    await demandAdministratorLeft(domain, tx, { before, after })
    await demandUnixUser(tx, viewer, input.unixUser)
    await tx.prisma.user.update({ where: { id }, data: given(columns) })
    // The waiting jobs of a disabled user are held back by a limit in each pool.
    if (disabled !== before.disabled) await announceLimitsOfAllPools(tx)
    if (identity !== undefined) await linkIdentity(tx, id, identity)
    await setTeams(tx, id, { teams, defaultTeam })
    await audit(tx, viewer, [{ action: 'user.update', objectId: id, detail: input }], domain.time.nowMs())
  }
  await withSubmissionsLocked(domain, work, isTakenIdentity)
  for (const topic of ['access', 'queue'] as const) domain.wakeups.poke(topic)
  return { id }
}

async function linkIdentity({ prisma }: Tx, id: string, identity: Identity | null): Promise<void> {
  const linked = { oidcIssuer: identity?.issuer ?? null, oidcSubject: identity?.subject ?? null }
  const other = identity && (await prisma.user.findFirst({ where: { ...linked, id: { not: id } } }))
  if (other) throw InvalidInput.at('identity', `Belongs to user ${other.name} already`)
  await prisma.user.update({ where: { id }, data: linked })
}

/**
 * Disables the user: tokens are revoked, running jobs continue, waiting jobs are held back, and all jobs keep their
 * user.
 */
export async function disableUser(
  domain: Domain,
  viewer: Viewer,
  { id, expectedVersion }: Target,
): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  await withSubmissionsLocked(domain, async (tx) => {
    const before = await readPerson(tx, id)
    demandAllPermissions(viewer, before)
    demandUnchanged('user', before, expectedVersion)
    demandOther(viewer, id, true)
    await demandAdministratorLeft(domain, tx, { before, after: { ...before, disabled: true } })
    await tx.prisma.user.update({ where: { id }, data: { disabled: true } })
    if (!before.disabled) await announceLimitsOfAllPools(tx)
    await revokeTokens(tx, { userId: id })
    await audit(tx, viewer, [{ action: 'user.disable', objectId: id }], domain.time.nowMs())
  })
  for (const topic of ['access', 'queue'] as const) domain.wakeups.poke(topic)
  return { id }
}

interface Known extends Person {
  readonly version: number
  readonly disabled: boolean
}

export async function readDisabledUsers(sql: Sql, userIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `SELECT u.id FROM jsonb_array_elements_text($1::text::jsonb) AS wanted(id) JOIN "user" u ON u.id = wanted.id
     WHERE u.disabled`,
    [JSON.stringify([...new Set(userIds)])],
    'disabled_among',
  )
  return new Set(rows.map(({ id }) => id))
}

async function readPerson({ prisma }: Tx, id: string): Promise<Known> {
  const person = await prisma.user.findUnique({ where: { id } })
  if (!person) throw userNotFound(id)
  return person
}

/** Users cannot disable themselves; otherwise an administrator could lock out all users. */
function demandOther(viewer: Viewer, id: string, disabled: boolean | undefined): void {
  if (disabled && id === viewer.userId)
    throw InvalidInput.at('userId', 'You cannot disable your own account; ask another administrator')
}

/** true: an administrator with every permission, who can restore each permission of others. */
const hasEveryPermission = ({ level, deny, disabled }: Known): boolean =>
  level === 'ADMIN' && deny.length === 0 && !disabled

/** Refuses a change that would leave no administrator with every permission. */
async function demandAdministratorLeft(
  { singleUser }: Domain,
  { prisma }: Tx,
  { before, after }: { before: Known; after: Known },
): Promise<void> {
  // In single-user mode `local` has every permission. In multi-user mode `local` cannot log in.
  if (singleUser || !hasEveryPermission(before) || hasEveryPermission(after) || before.name === localUser) return
  const where = { level: 'ADMIN', deny: { isEmpty: true }, disabled: false } as const
  const others = await prisma.user.count({ where: { ...where, id: { not: before.id }, name: { not: localUser } } })
  if (others > 0) return
  const field = after.disabled ? 'disabled' : after.level === 'ADMIN' ? 'deny' : 'level'
  throw InvalidInput.at(
    field,
    `${before.name} is the last ADMIN without denied permissions; make another user one first`,
  )
}
