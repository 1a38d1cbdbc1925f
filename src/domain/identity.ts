import { newId } from '../platform/ids.ts'
import type { Sql } from '../platform/tx.ts'
import { type Person, type UserLevel, type Viewer, viewerOf } from './access.ts'
import { localUser } from './access-mode.ts'
import { audit } from './audit.ts'
import type { Domain } from './domain.ts'
import { setTeams, teamName } from './teams.ts'
import { userName } from './users.ts'

/** Who is let in by what an OpenID provider says, and who is still welcome later. */

// ── people from elsewhere ──

/** What an OpenID provider says of a person. */
export interface Claims {
  readonly name: string
  readonly displayName: string | null
  readonly email: string | null
  /** null: the provider does not say; a new person is VIEWER then, and who is known keeps theirs. */
  readonly level: UserLevel | null
  /** Names of all of them; null: the provider does not say. */
  readonly teams: readonly string[] | null
}

interface KnownPerson extends Person {
  readonly disabled: boolean
  readonly displayName: string | null
  readonly email: string | null
  readonly teams: readonly string[]
}

const teamsMax = 50
/** Names that this server gives: a provider that knows somebody of that name has said nothing about them. */
const ownNames = new Set([localUser, 'admin'])

/** The person of these claims, made at the first log-in and kept like the claims after it; null: not let in. */
export async function personOf(domain: Domain, claims: Claims): Promise<Person | null> {
  const name = userName.safeParse(claims.name)
  if (!name.success || ownNames.has(name.data)) {
    domain.log.warn({ name: claims.name }, 'the OpenID provider named somebody whose name cannot be a user here')
    return null
  }
  const wanted = { ...claims, teams: claims.teams && [...new Set(claims.teams)].filter(isTeamName).slice(0, teamsMax) }
  const known = await readPerson(domain.db.sql, name.data)
  if (known?.disabled) return null
  if (known && !differs(known, wanted)) return known
  await domain.db.transaction((sql) => keepPerson(domain, sql, wanted))
  return readPerson(domain.db.sql, name.data)
}

const isTeamName = (name: string) => teamName.safeParse(name).success

function differs(known: KnownPerson, claims: Claims): boolean {
  const texts = (['displayName', 'email', 'level'] as const).some(
    (each) => claims[each] && claims[each] !== known[each],
  )
  const teams = claims.teams && [...claims.teams].sort().join() !== [...known.teams].sort().join()
  return texts || Boolean(teams)
}

async function readPerson(sql: Sql, name: string): Promise<KnownPerson | null> {
  const [row] = await sql.query<KnownPerson>(
    `SELECT u.id, u.name, u.level, u.allow, u.deny, u.disabled, u.display_name AS "displayName", u.email,
       ARRAY(SELECT t.name FROM team_member m JOIN team t ON t.id = m.team_id WHERE m.user_id = u.id) AS teams
     FROM "user" u WHERE u.name = $1`,
    [name],
    'person',
  )
  return row ?? null
}

/** Teams that the provider names are made: it decides who is in them, and so which there are. */
async function keepPerson({ time }: Domain, sql: Sql, claims: Claims): Promise<void> {
  const [row] = await sql.query<{ id: string; isNew: boolean }>(
    `INSERT INTO "user" AS u (id, name, level, display_name, email) VALUES ($1, $2, coalesce($3, 'VIEWER')::user_level, $4, $5)
     ON CONFLICT (name) DO UPDATE SET level = coalesce($3::user_level, u.level),
       display_name = coalesce(excluded.display_name, u.display_name), email = coalesce(excluded.email, u.email)
     RETURNING id, xmax = 0 AS "isNew"`,
    [newId('user', time.nowMs()), claims.name, claims.level, claims.displayName, claims.email],
  )
  if (!row) throw new Error('A person was not written')
  if (claims.teams) {
    const teams = claims.teams.map((name) => ({ id: newId('team', time.nowMs()), name }))
    await sql.query(
      `INSERT INTO team (id, name, account) SELECT t.id, t.name, t.name
       FROM jsonb_to_recordset($1::text::jsonb) AS t(id text, name text) ORDER BY t.name ON CONFLICT (name) DO NOTHING`,
      [JSON.stringify(teams)],
    )
    await setTeams(sql, row.id, { teams: claims.teams })
  }
  const detail = { name: claims.name, level: claims.level, teams: claims.teams, by: 'oidc' }
  await audit(
    sql,
    null,
    [{ action: row.isNew ? 'user.create' : 'user.update', objectId: row.id, detail }],
    time.nowMs(),
  )
}

// ── who is still welcome ──

/** GONE: the token was revoked, or the user disabled. CHANGED: what the person may do is not what it was. */
export type Standing = 'WELCOME' | 'CHANGED' | 'GONE'

interface StandingRow extends Person {
  readonly ord: number
  readonly gone: boolean
}

/** How those stand who came in a while ago, one for each, in order. */
export async function standingsOf(sql: Sql, viewers: readonly Viewer[]): Promise<Standing[]> {
  const rows = await sql.query<StandingRow>(standingSql, [
    JSON.stringify(viewers.map(({ userId, token }, ord) => ({ ord, userId, token }))),
  ])
  const byOrd = new Map(rows.map((row) => [row.ord, row]))
  return viewers.map((viewer, ord) => standingOf(viewer, byOrd.get(ord)))
}

function standingOf(viewer: Viewer, row: StandingRow | undefined): Standing {
  if (!row || row.gone) return 'GONE'
  const { granted, level } = viewerOf(row)
  const same = level === viewer.level && granted.size === viewer.granted.size && granted.isSubsetOf(viewer.granted)
  return same ? 'WELCOME' : 'CHANGED'
}

const standingSql = `
SELECT v.ord, u.id, u.name, u.level, u.allow, u.deny,
  u.disabled OR (v.token IS NOT NULL AND (t.id IS NULL OR t.revoked_at IS NOT NULL)) AS gone
FROM jsonb_to_recordset($1::text::jsonb) AS v(ord int, "userId" text, token text)
JOIN "user" u ON u.id = v."userId" LEFT JOIN api_token t ON t.prefix = v.token`
