import { z } from 'zod'
import { given } from '../../platform/models.ts'
import { brokenConstraint, type Tx } from '../../platform/tx.ts'
import { demand, demandAllOf, isPermission, type Person, userLevels, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, userNotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { parseInput } from '../parse.ts'
import { setTeams } from './teams.ts'
import { revokeTokens } from './tokens.ts'
import { demandUnixUser } from './unix-users.ts'

/** Users. A user is disabled, never removed: jobs and the audit log keep their names. */
const optionalText = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters').nullish()
const permissions = z.array(z.string().refine(isPermission, 'is not a known permission')).optional()

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
  ...fields,
})

/** Identifies a person at an OpenID provider. */
export interface Identity {
  readonly issuer: string
  /** `sub`: the issuer never gives it to another person. */
  readonly subject: string
}

/** The unique constraint of identities. */
const identityKey = 'user_oidc_issuer_oidc_subject_key'

/** The error of the second of two writers of the same identity; its next try finds the row. */
export const isTakenIdentity = (error: unknown): boolean => brokenConstraint(error) === identityKey

export async function createUser(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const input = parseInput(creation, raw)
  const { allow = [], deny = [], teams = [], defaultTeam = null, ...person } = input
  const id = newId('user', domain.time.nowMs())
  demandAllOf(viewer, { id, name: person.name, level: person.level, allow, deny })
  await domain.db.serializable(async (tx) => {
    await demandUnixUser(tx, viewer, person.unixUser)
    const data = given({ ...person, id, allow, deny })
    const { count } = await tx.prisma.user.createMany({ data, skipDuplicates: true })
    if (count === 0)
      throw new InvalidInput([{ path: ['name'], message: `A user ${person.name} exists already; choose another name` }])
    await setTeams(tx, id, { teams, defaultTeam })
    await audit(tx, viewer, [{ action: 'user.create', objectId: id, detail: input }], domain.time.nowMs())
  })
  return { id }
}

export async function updateUser(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const { id, ...input } = parseInput(change, raw)
  const { identity, teams, defaultTeam, ...columns } = input
  const work = async (tx: Tx) => {
    const before = await readPerson(tx, id)
    const { level = before.level, allow = before.allow, deny = before.deny } = input
    demandAllOf(viewer, before)
    demandAllOf(viewer, { ...before, level, allow, deny })
    demandOther(viewer, id, input.disabled)
    await demandUnixUser(tx, viewer, input.unixUser)
    await tx.prisma.user.update({ where: { id }, data: given(columns) })
    if (identity !== undefined) await linkIdentity(tx, id, identity)
    await setTeams(tx, id, { teams, defaultTeam })
    await audit(tx, viewer, [{ action: 'user.update', objectId: id, detail: input }], domain.time.nowMs())
  }
  await domain.db.serializable(work, { alsoRetry: isTakenIdentity })
  domain.wakeups.poke('access')
  return { id }
}

async function linkIdentity({ prisma }: Tx, id: string, identity: Identity | null): Promise<void> {
  const linked = { oidcIssuer: identity?.issuer ?? null, oidcSubject: identity?.subject ?? null }
  const other = identity && (await prisma.user.findFirst({ where: { ...linked, id: { not: id } } }))
  if (other) throw new InvalidInput([{ path: ['identity'], message: `Belongs to user ${other.name} already` }])
  await prisma.user.update({ where: { id }, data: linked })
}

/** Disables the user: tokens are revoked, jobs go on and keep their user. */
export async function deleteUser(domain: Domain, viewer: Viewer, { id }: { id: string }): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  await domain.db.serializable(async (tx) => {
    demandAllOf(viewer, await readPerson(tx, id))
    demandOther(viewer, id, true)
    await tx.prisma.user.update({ where: { id }, data: { disabled: true } })
    await revokeTokens(tx, { userId: id })
    await audit(tx, viewer, [{ action: 'user.delete', objectId: id }], domain.time.nowMs())
  })
  domain.wakeups.poke('access')
  return { id }
}

async function readPerson({ prisma }: Tx, id: string): Promise<Person> {
  const person = await prisma.user.findUnique({ where: { id } })
  if (!person) throw userNotFound(id)
  return person
}

/** An administrator who disabled their own account could lock out all users. */
function demandOther(viewer: Viewer, id: string, disabled: boolean | undefined): void {
  if (disabled && id === viewer.userId)
    throw new InvalidInput([
      { path: ['id'], message: 'You cannot disable your own account; ask another administrator' },
    ])
}
