import { z } from 'zod'
import { newId } from '../../platform/ids.ts'
import type { Sql } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { isAtOrBelow, ownAccount } from '../accounts.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { renameTeamQuotas } from '../limits/quotas.ts'
import { parseInput } from '../parse.ts'

/** For which team, and on which account (accounts.ts) a job is submitted. An ADMIN may charge every account. */
export interface TeamOf {
  readonly id: string
  readonly name: string
  readonly account: string
  /** The account of the team that is highest above it, or its own. */
  readonly root: string
}

export interface Memberships {
  /** By name. */
  readonly teams: readonly TeamOf[]
  readonly defaultTeam: TeamOf | null
}

export const noMemberships: Memberships = { teams: [], defaultTeam: null }

/** Teams of these users, in one statement; a user without any is not in the answer (`noMemberships`). */
export async function readMemberships(sql: Sql, userIds: readonly string[]): Promise<ReadonlyMap<string, Memberships>> {
  const rows = await sql.query<TeamOf & { userId: string; isDefault: boolean }>(
    `SELECT m.user_id AS "userId", t.id, t.name, t.account, ${rootSql('t.account')} AS root, coalesce(u.default_team_id = t.id, false) AS "isDefault"
     FROM jsonb_array_elements_text($1::text::jsonb) AS wanted(id)
     JOIN team_member m ON m.user_id = wanted.id JOIN team t ON t.id = m.team_id JOIN "user" u ON u.id = m.user_id
     ORDER BY t.name`,
    [JSON.stringify([...new Set(userIds)])],
    'memberships',
  )
  const byUser = Map.groupBy(rows, ({ userId }) => userId)
  return new Map([...byUser].map(([userId, teams]) => [userId, membershipsOf(teams)]))
}

const rootSql = (account: string) => `(SELECT o.account FROM team o
  WHERE ${account} = o.account OR starts_with(${account}, o.account || '.') ORDER BY length(o.account) LIMIT 1)`

/** Accounts of teams above these accounts: for an ADMIN, who may charge them without being a member. */
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

const membershipsOf = (rows: readonly (TeamOf & { isDefault: boolean })[]): Memberships => {
  const teams = rows.map(({ id, name, account, root }) => ({ id, name, account, root }))
  return { teams, defaultTeam: teams[rows.findIndex(({ isDefault }) => isDefault)] ?? null }
}

/** The team that was asked for, else the default team. Throws InvalidInput for a team that one is no member of. */
export function teamFor(asked: string | null | undefined, { teams, defaultTeam }: Memberships): TeamOf | null {
  if (asked == null) return defaultTeam
  const team = teams.find(({ name }) => name === asked)
  if (team) return team
  throw new InvalidInput([
    { path: ['spec', 'team'], message: `There is no team ${asked.slice(0, 64)} that you are a member of` },
  ])
}

export interface AccountRequest {
  asked: string | null | undefined
  viewer: Pick<Viewer, 'userName' | 'level'>
  memberships: Memberships
  /** What teamFor answered. */
  team: TeamOf | null
}

/** Throws InvalidInput for an account that the viewer may not charge. */
export function accountFor({ asked, viewer, memberships, team }: AccountRequest): string {
  const own = ownAccount(viewer.userName)
  if (asked == null) return team?.account ?? own
  const allowed = [own, ...memberships.teams.map(({ account }) => account)]
  if (viewer.level === 'ADMIN' || allowed.some((account) => isAtOrBelow(asked, account))) return asked
  throw new InvalidInput([{ path: ['spec', 'account'], message: `Must be ${allowed.join(' or ')}, or below it` }])
}

/** The accounts at or below which everything is the viewer's own to know. */
export async function ownAccounts(sql: Sql, { userId, userName }: Viewer): Promise<string[]> {
  const { teams } = (await readMemberships(sql, [userId])).get(userId) ?? noMemberships
  return [ownAccount(userName), ...teams.map(({ account }) => account)]
}

// ── changing teams and who is in them ──

export const teamsOfUserMax = 50
/** Users that one change of a team names to come in, or to go. */
export const memberChangesMax = 1_000

/** Dotted like an account, for it becomes one; `users` is the branch of those who charge for themselves. */
export const teamName = z
  .string()
  .max(63, 'must have at most 63 characters')
  .regex(/^[a-z0-9][\w-]*(\.[a-z0-9][\w-]*)*$/i, 'must be letters, digits, _ and -, in parts joined by dots')
  .refine((name) => !/^users(\.|$)/i.test(name), 'must not be users: that is the account of people without a team')

const creation = z.strictObject({ name: teamName })
const change = z.strictObject({
  id: z.string(),
  name: teamName.optional(),
  addMembers: z.array(z.string()).max(memberChangesMax).nullish(),
  removeMembers: z.array(z.string()).max(memberChangesMax).nullish(),
})

export async function createTeam(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const { name } = parseInput(creation, raw)
  const id = newId('team', domain.time.nowMs())
  await domain.db.transaction(async (sql) => {
    const rows = await sql.query(
      'INSERT INTO team (id, name, account) VALUES ($1, $2, $2) ON CONFLICT (name) DO NOTHING RETURNING id',
      [id, name],
    )
    if (rows.length === 0) throw nameTaken(name)
    await audit(sql, viewer, [{ action: 'team.create', objectId: id, detail: { name } }], domain.time.nowMs())
  })
  return { id }
}

/** A new name is a new account: what was charged stays where it was charged. */
export async function updateTeam(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  const { id, name, addMembers, removeMembers } = parseInput(change, raw)
  await domain.db.transaction(async (sql) => {
    const before = await lockTeam(sql, id)
    if (name !== undefined) {
      const [other] = await sql.query('SELECT id FROM team WHERE name = $1 AND id <> $2', [name, id])
      if (other) throw nameTaken(name)
      await sql.query('UPDATE team SET name = $2, account = $2 WHERE id = $1', [id, name])
      await renameTeamQuotas(sql, before, name)
    }
    await removeFrom(sql, id, removeMembers ?? [])
    await addTo(sql, id, addMembers ?? [])
    const detail = { name, addMembers, removeMembers }
    await audit(sql, viewer, [{ action: 'team.update', objectId: id, detail }], domain.time.nowMs())
  })
  return { id }
}

/** Jobs stay, and so does the account that they are charged to. */
export async function deleteTeam(domain: Domain, viewer: Viewer, { id }: { id: string }): Promise<{ id: string }> {
  demand(viewer, 'user.write')
  await domain.db.transaction(async (sql) => {
    const name = await lockTeam(sql, id)
    await sql.query('DELETE FROM team WHERE id = $1', [id])
    await audit(sql, viewer, [{ action: 'team.delete', objectId: id, detail: { name } }], domain.time.nowMs())
  })
  return { id }
}

async function lockTeam(sql: Sql, id: string): Promise<string> {
  const [team] = await sql.query<{ name: string }>('SELECT name FROM team WHERE id = $1 FOR UPDATE', [id])
  if (!team) throw new NotFound(`There is no team ${id.slice(0, 64)}`)
  return team.name
}

const nameTaken = (name: string) => new InvalidInput([{ path: ['name'], message: `There is a team ${name} already` }])

async function removeFrom(sql: Sql, id: string, userIds: readonly string[]): Promise<void> {
  await sql.query('DELETE FROM team_member WHERE team_id = $1 AND user_id = ANY($2::text[])', [id, userIds])
  await sql.query('UPDATE "user" SET default_team_id = NULL WHERE default_team_id = $1 AND id = ANY($2::text[])', [
    id,
    userIds,
  ])
}

async function addTo(sql: Sql, id: string, userIds: readonly string[]): Promise<void> {
  const rows = await sql.query<{ id: string; teams: number }>(
    `SELECT u.id, (SELECT count(*) FROM team_member m WHERE m.user_id = u.id AND m.team_id <> $2) AS teams
     FROM "user" u WHERE u.id = ANY($1::text[]) ORDER BY u.id FOR UPDATE OF u`,
    [userIds, id],
  )
  const known = new Map(rows.map((row) => [row.id, row.teams]))
  const violations = userIds.flatMap((userId, index) => {
    const path = ['addMembers', String(index)]
    const teams = known.get(userId)
    if (teams === undefined) return [{ path, message: `There is no user ${userId.slice(0, 64)}` }]
    return teams < teamsOfUserMax ? [] : [{ path, message: `Is in ${teamsOfUserMax} teams already` }]
  })
  if (violations.length > 0) throw new InvalidInput(violations)
  await sql.query(
    'INSERT INTO team_member (team_id, user_id) SELECT $1, unnest($2::text[]) ON CONFLICT (team_id, user_id) DO NOTHING',
    [id, userIds],
  )
}

export interface TeamChoice {
  /** Names of all of them; undefined: as they are. */
  teams?: readonly string[] | undefined
  /** undefined: as it is, while it is one of them. */
  defaultTeam?: string | null | undefined
}

/** Writes whose teams they are; the caller holds the user's row. Throws InvalidInput for a team that is not there. */
export async function setTeams(sql: Sql, userId: string, { teams, defaultTeam }: TeamChoice): Promise<void> {
  if (teams && teams.length > teamsOfUserMax)
    throw new InvalidInput([{ path: ['teams'], message: `Must be at most ${teamsOfUserMax}` }])
  if (teams) await replaceTeams(sql, userId, teams)
  if (defaultTeam == null) {
    await sql.query(
      `UPDATE "user" u SET default_team_id = NULL WHERE id = $1 AND default_team_id IS NOT NULL
       AND ($2 OR NOT EXISTS (SELECT FROM team_member m WHERE m.user_id = u.id AND m.team_id = u.default_team_id))`,
      [userId, defaultTeam === null],
    )
    return
  }
  const updated = await sql.query(
    `UPDATE "user" SET default_team_id = t.id FROM team t JOIN team_member m ON m.team_id = t.id
     WHERE "user".id = $1 AND m.user_id = $1 AND t.name = $2 RETURNING t.id`,
    [userId, defaultTeam],
  )
  if (updated.length === 0)
    throw new InvalidInput([
      { path: ['defaultTeam'], message: `${defaultTeam.slice(0, 64)} is none of the user's teams` },
    ])
}

async function replaceTeams(sql: Sql, userId: string, names: readonly string[]): Promise<void> {
  const rows = await sql.query<{ id: string; name: string }>(
    'SELECT id, name FROM team WHERE name = ANY($1::text[]) ORDER BY id FOR SHARE',
    [names],
  )
  const known = new Set(rows.map(({ name }) => name))
  const unknown = names.findIndex((name) => !known.has(name))
  if (unknown >= 0)
    throw new InvalidInput([
      { path: ['teams', String(unknown)], message: `There is no team ${names[unknown]?.slice(0, 64)}` },
    ])
  const ids = rows.map(({ id }) => id)
  await sql.query('DELETE FROM team_member WHERE user_id = $1 AND team_id <> ALL($2::text[])', [userId, ids])
  await sql.query(
    'INSERT INTO team_member (team_id, user_id) SELECT unnest($2::text[]), $1 ON CONFLICT (team_id, user_id) DO NOTHING',
    [userId, ids],
  )
}
