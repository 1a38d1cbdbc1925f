import type { Sql } from '../platform/tx.ts'
import type { Viewer } from './access.ts'
import { InvalidInput } from './errors.ts'

/**
 * For which team, and on which account a job is submitted. Accounts are dotted: whoever may charge one may charge what
 * is below it. One's own are `users.<name>` and the accounts of one's teams; an ADMIN may charge any.
 */
export interface TeamOf {
  readonly id: string
  readonly name: string
  readonly account: string
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
    `SELECT m.user_id AS "userId", t.id, t.name, t.account, coalesce(u.default_team_id = t.id, false) AS "isDefault"
     FROM jsonb_array_elements_text($1::text::jsonb) AS wanted(id)
     JOIN team_member m ON m.user_id = wanted.id JOIN team t ON t.id = m.team_id JOIN "user" u ON u.id = m.user_id
     ORDER BY t.name`,
    [JSON.stringify([...new Set(userIds)])],
    'memberships',
  )
  const byUser = Map.groupBy(rows, ({ userId }) => userId)
  return new Map([...byUser].map(([userId, teams]) => [userId, membershipsOf(teams)]))
}

const membershipsOf = (rows: readonly (TeamOf & { isDefault: boolean })[]): Memberships => {
  const teams = rows.map(({ id, name, account }) => ({ id, name, account }))
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

export const ownAccount = (userName: string) => `users.${userName}`

const isAtOrBelow = (account: string, above: string) => account === above || account.startsWith(`${above}.`)
