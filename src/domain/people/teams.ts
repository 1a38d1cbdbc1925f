import { z } from 'zod'
import type { Sql, Tx } from '../../platform/tx.ts'
import { demand, demandAdmin, type Viewer } from '../access.ts'
import { isAtOrBelow, toUserAccount } from '../accounts.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { renameTeamQuotas } from '../limits/stored-quotas.ts'
import { parseInput } from '../parse.ts'
import { demandUnchanged, type Target, versionInput } from '../versions.ts'

/** A team and the account (accounts.ts) to which its jobs are charged. An ADMIN may charge every account. */
export interface Team {
  readonly id: string
  readonly name: string
  readonly account: string
  /** The highest team account above the team's account, or its own account. */
  readonly root: string
}

export interface Memberships {
  readonly teams: readonly Team[]
  readonly defaultTeam: Team | null
}

export const noMemberships: Memberships = { teams: [], defaultTeam: null }

/** A user without a team is missing in the result (`noMemberships`). */
export async function readMemberships(sql: Sql, userIds: readonly string[]): Promise<ReadonlyMap<string, Memberships>> {
  const rows = await sql.query<Team & { userId: string; isDefault: boolean }>(
    `SELECT m.user_id AS "userId", t.id, t.name, t.account, ${rootSql('t.account')} AS root, coalesce(u.default_team_id = t.id, false) AS "isDefault"
     FROM jsonb_array_elements_text($1::text::jsonb) AS wanted(id)
     JOIN team_member m ON m.user_id = wanted.id JOIN team t ON t.id = m.team_id JOIN "user" u ON u.id = m.user_id
     ORDER BY t.name`,
    [JSON.stringify([...new Set(userIds)])],
    'memberships',
  )
  const byUser = Map.groupBy(rows, ({ userId }) => userId)
  return new Map([...byUser].map(([userId, teams]) => [userId, toMemberships(teams)]))
}

const rootSql = (account: string) => `(SELECT o.account FROM team o
  WHERE ${account} = o.account OR starts_with(${account}, o.account || '.') ORDER BY length(o.account) LIMIT 1)`

/** Reads accounts of teams above these accounts. An ADMIN may charge them without being a member. */
export async function readRoots(sql: Sql, accounts: readonly string[]): Promise<string[]> {
  if (accounts.length === 0) return []
  const rows = await sql.query<{ root: string }>(
    `SELECT DISTINCT ${rootSql('a.account')} AS root FROM jsonb_array_elements_text($1::text::jsonb) AS a(account)
     WHERE ${rootSql('a.account')} IS NOT NULL`,
    [JSON.stringify(accounts)],
    'account_roots',
  )
  return rows.map(({ root }) => root)
}

const toMemberships = (rows: readonly (Team & { isDefault: boolean })[]): Memberships => {
  const teams = rows.map(({ id, name, account, root }) => ({ id, name, account, root }))
  return { teams, defaultTeam: teams[rows.findIndex(({ isDefault }) => isDefault)] ?? null }
}

/** Throws InvalidInput for a team of which the user is not a member. */
export function resolveTeam(asked: string | null | undefined, { teams, defaultTeam }: Memberships): Team | null {
  if (asked == null) return defaultTeam
  const team = teams.find(({ name }) => name === asked)
  if (team) return team
  throw InvalidInput.at('spec.team', `You are not a member of a team ${asked.slice(0, 64)}`)
}

interface AccountRequest {
  asked: string | null | undefined
  viewer: Pick<Viewer, 'userName' | 'level'>
  memberships: Memberships
  team: Team | null
}

/** Throws InvalidInput for an account that the viewer may not charge. */
export function resolveAccount({ asked, viewer, memberships, team }: AccountRequest): string {
  const own = toUserAccount(viewer.userName)
  if (asked == null) return team?.account ?? own
  const allowed = [own, ...memberships.teams.map(({ account }) => account)]
  if (viewer.level === 'ADMIN' || allowed.some((account) => isAtOrBelow(asked, account))) return asked
  throw InvalidInput.at('spec.account', `Must be ${allowed.join(' or ')}, or an account below it`)
}

/** Reads the accounts of the viewer and of the viewer's teams. The viewer may see their jobs and those of accounts below. */
export async function readOwnAccounts(sql: Sql, { userId, userName }: Viewer): Promise<string[]> {
  const { teams } = (await readMemberships(sql, [userId])).get(userId) ?? noMemberships
  return [toUserAccount(userName), ...teams.map(({ account }) => account)]
}

export const teamsOfUserMax = 50
export const memberChangesMax = 1_000

/** The name of a team becomes an account. `users` is refused, because it is the account of people without a team. */
export const teamName = z
  .string()
  .max(63, 'must have at most 63 characters')
  .regex(/^[a-z0-9][\w-]*(\.[a-z0-9][\w-]*)*$/i, 'must consist of letters, digits, _ and -, in parts joined by dots')
  .refine((name) => !/^users(\.|$)/i.test(name), 'must not be "users": that is the account of users without a team')

const creation = z.strictObject({ name: teamName })
const change = z.strictObject({
  id: z.string(),
  name: teamName.optional(),
  addMembers: z.array(z.string()).max(memberChangesMax).nullish(),
  removeMembers: z.array(z.string()).max(memberChangesMax).nullish(),
  expectedVersion: versionInput,
})

export async function createTeam(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const { name } = parseInput(creation, raw)
  const id = newId('team', domain.time.nowMs())
  await domain.db.serializable(async (tx) => {
    const data = { id, name, account: name }
    const { count } = await tx.prisma.team.createMany({ data, skipDuplicates: true })
    if (count === 0) throw nameTaken(name)
    await audit(tx, viewer, [{ action: 'team.create', objectId: id, detail: { name } }], domain.time.nowMs())
  })
  return { id }
}

/** A new name is also a new account. Members may charge it, so only an ADMIN may add members or change the name. */
export async function updateTeam(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const { id, name, addMembers, removeMembers, expectedVersion } = parseInput(change, raw)
  if (name !== undefined || (addMembers ?? []).length > 0) demandAdmin(viewer)
  await domain.db.serializable(async (tx) => {
    const before = await readTeam(tx, id)
    demandUnchanged('team', before, expectedVersion)
    if (name !== undefined) {
      const other = await tx.prisma.team.findUnique({ where: { name } })
      if (other && other.id !== id) throw nameTaken(name)
      await tx.prisma.team.update({ where: { id }, data: { name, account: name } })
      await renameTeamQuotas(tx, before.name, name)
    }
    await removeMembersFrom(tx, id, removeMembers ?? [])
    await addMembersTo(tx, id, addMembers ?? [])
    const detail = { name, addMembers, removeMembers }
    await audit(tx, viewer, [{ action: 'team.update', objectId: id, detail }], domain.time.nowMs())
  })
  return { id }
}

/** Jobs keep the deleted team and the account to which they are charged. */
export async function deleteTeam(
  domain: Domain,
  viewer: Viewer,
  { id, expectedVersion }: Target,
): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  await domain.db.serializable(async (tx) => {
    const team = await readTeam(tx, id)
    demandUnchanged('team', team, expectedVersion)
    await tx.prisma.team.delete({ where: { id } })
    await audit(tx, viewer, [{ action: 'team.delete', objectId: id, detail: { name: team.name } }], domain.time.nowMs())
  })
  return { id }
}

async function readTeam({ prisma }: Tx, id: string): Promise<{ name: string; version: number }> {
  const team = await prisma.team.findUnique({ where: { id } })
  if (!team) throw new NotFound(`Team ${id.slice(0, 64)} not found`)
  return team
}

const nameTaken = (name: string) => InvalidInput.at('name', `A team ${name} exists already; choose another name`)

async function removeMembersFrom({ prisma }: Tx, id: string, userIds: readonly string[]): Promise<void> {
  const these = { in: [...userIds] }
  await prisma.teamMember.deleteMany({ where: { teamId: id, userId: these } })
  await prisma.user.updateMany({ where: { defaultTeamId: id, id: these }, data: { defaultTeamId: null } })
}

async function addMembersTo({ prisma }: Tx, id: string, userIds: readonly string[]): Promise<void> {
  const others = { teams: { where: { teamId: { not: id } } } }
  const where = { id: { in: [...userIds] } }
  const rows = await prisma.user.findMany({ where, select: { id: true, _count: { select: others } } })
  const known = new Map(rows.map((row) => [row.id, row._count.teams]))
  const violations = userIds.flatMap((userId, index) => {
    const path = ['addMembers', String(index)]
    const teams = known.get(userId)
    if (teams === undefined) return [{ path, message: `User ${userId.slice(0, 64)} not found` }]
    return teams < teamsOfUserMax
      ? []
      : [{ path, message: `Is already a member of ${teamsOfUserMax} teams, the maximum` }]
  })
  if (violations.length > 0) throw new InvalidInput(violations)
  const members = userIds.map((userId) => ({ teamId: id, userId }))
  await prisma.teamMember.createMany({ data: members, skipDuplicates: true })
}

/** Exactly one field is set. */
export const nameOrId = z.strictObject({ id: z.string().nullish(), name: z.string().nullish() })
type NameOrId = z.output<typeof nameOrId>

const whereTeam = ({ id, name }: NameOrId) => (id == null ? { name: name ?? '' } : { id })
const describeTeam = ({ id, name }: NameOrId) => (id ?? name ?? '').slice(0, 64)

interface TeamChoice {
  /** The new list of all teams of the user; undefined: no change. */
  teams?: readonly NameOrId[] | undefined
  /** undefined: no change, except that a default team that the user left is cleared. */
  defaultTeam?: NameOrId | null | undefined
}

export async function setTeams(tx: Tx, userId: string, { teams, defaultTeam }: TeamChoice): Promise<void> {
  if (teams && teams.length > teamsOfUserMax) throw InvalidInput.at('teams', `Must be at most ${teamsOfUserMax}`)
  if (teams) await replaceTeams(tx, userId, teams)
  const { user, team } = tx.prisma
  if (defaultTeam === undefined) {
    const isGone = { id: userId, defaultTeam: { members: { none: { userId } } } }
    await user.updateMany({ where: isGone, data: { defaultTeamId: null } })
    return
  }
  const chosen =
    defaultTeam === null
      ? null
      : await team.findFirst({ where: { ...whereTeam(defaultTeam), members: { some: { userId } } } })
  if (defaultTeam !== null && !chosen)
    throw InvalidInput.at('defaultTeam', `${describeTeam(defaultTeam)} is not a team of the user`)
  await user.update({ where: { id: userId }, data: { defaultTeamId: chosen?.id ?? null } })
}

async function replaceTeams({ prisma }: Tx, userId: string, wanted: readonly NameOrId[]): Promise<void> {
  const rows = wanted.length === 0 ? [] : await prisma.team.findMany({ where: { OR: wanted.map(whereTeam) } })
  const known = new Set(rows.flatMap(({ id, name }) => [`id ${id}`, `name ${name}`]))
  for (const [index, team] of wanted.entries())
    if (!known.has(team.id == null ? `name ${team.name}` : `id ${team.id}`))
      throw InvalidInput.at(`teams.${index}`, `Team ${describeTeam(team)} not found`)
  const ids = rows.map(({ id }) => id)
  await prisma.teamMember.deleteMany({ where: { userId, teamId: { notIn: ids } } })
  await prisma.teamMember.createMany({ data: ids.map((teamId) => ({ teamId, userId })), skipDuplicates: true })
}
