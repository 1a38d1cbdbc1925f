import { given } from '../../platform/models.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { createViewer, type Person, type UserLevel, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { newId } from '../ids.ts'
import { localUser } from './access-mode.ts'
import { setTeams, teamName } from './teams.ts'
import { type Identity, isTakenIdentity, userName } from './users.ts'

/** Issuer and subject identify the person; all other claims may change. */
export interface Claims extends Identity {
  readonly name: string
  readonly displayName: string | null
  readonly email: string | null
  /** null: the claims have no level; then a new person becomes VIEWER, and a known person keeps the level. */
  readonly level: UserLevel | null
  /** Names of all teams of the person; null: the claims have no teams. */
  readonly teams: readonly string[] | null
}

interface KnownPerson extends Person {
  readonly disabled: boolean
  readonly displayName: string | null
  readonly email: string | null
  readonly teams: readonly string[]
}

const teamsMax = 50
/** Users that the server creates itself; a person of the provider never becomes one of them. */
const serverNames = new Set([localUser, 'admin'])

/** Creates or updates the person; null: refused. Never takes over the name of another user. */
export async function resolvePerson(domain: Domain, claims: Claims): Promise<Person | null> {
  const wanted = { ...claims, teams: claims.teams && [...new Set(claims.teams)].filter(isTeamName).slice(0, teamsMax) }
  const known = await readPerson(domain.db.sql, claims)
  if (known?.disabled) return null
  if (known && !differs(known, wanted)) return known
  if (!known && !isFreeName(claims.name)) return refuse(domain, claims, 'the name is not a valid user name')
  const work = (tx: Tx) => keepPerson(domain, tx, wanted)
  const kept = await domain.db.serializable(work, { alsoRetry: isTakenIdentity })
  if (!kept) return refuse(domain, claims, 'the name belongs to another user')
  const person = await readPerson(domain.db.sql, claims)
  return person?.disabled ? null : person
}

const isFreeName = (name: string) => userName.safeParse(name).success && !serverNames.has(name.toLowerCase())

function refuse({ log }: Domain, { name, issuer, subject }: Claims, why: string): null {
  log.warn(
    { name, issuer, subject },
    `refused a login by the OpenID provider: ${why}; berth user set <name> --oidc-subject links a user`,
  )
  return null
}

const isTeamName = (name: string) => teamName.safeParse(name).success

function differs(known: KnownPerson, claims: Claims): boolean {
  const texts = (['displayName', 'email', 'level'] as const).some(
    (each) => claims[each] && claims[each] !== known[each],
  )
  const teams = claims.teams && [...claims.teams].sort().join() !== [...known.teams].sort().join()
  return texts || Boolean(teams)
}

async function readPerson(sql: Sql, { issuer, subject }: Identity): Promise<KnownPerson | null> {
  const [row] = await sql.query<KnownPerson>(
    `SELECT u.id, u.name, u.level, u.allow, u.deny, u.disabled, u.display_name AS "displayName", u.email,
       ARRAY(SELECT t.name FROM team_member m JOIN team t ON t.id = m.team_id WHERE m.user_id = u.id) AS teams
     FROM "user" u WHERE u.oidc_issuer = $1 AND u.oidc_subject = $2`,
    [issuer, subject],
    'person',
  )
  return row ?? null
}

/** Creates or updates the user. undefined: the person is new, and the name belongs to another user. */
async function writePerson(tx: Tx, claims: Claims, newId: string): Promise<{ id: string; isNew: boolean } | undefined> {
  const { user } = tx.prisma
  const { name, issuer: oidcIssuer, subject: oidcSubject } = claims
  const identity = { oidcIssuer, oidcSubject }
  const said = given({
    level: claims.level ?? undefined,
    displayName: claims.displayName ?? undefined,
    email: claims.email ?? undefined,
  })
  const known = await user.findUnique({ where: { oidcIssuer_oidcSubject: identity } })
  if (known) {
    await user.update({ where: { id: known.id }, data: { ...said, ...identity } })
    return { id: known.id, isNew: false }
  }
  const data = { level: 'VIEWER' as const, ...said, ...identity, id: newId, name }
  const { count } = await user.createMany({ data, skipDuplicates: true })
  return count === 0 ? undefined : { id: newId, isNew: true }
}

/** Writes the person and the teams. Creates missing teams, because the provider decides about membership. false: refused. */
async function keepPerson({ time }: Domain, tx: Tx, claims: Claims): Promise<boolean> {
  const row = await writePerson(tx, claims, newId('user', time.nowMs()))
  if (!row) return false
  if (claims.teams) {
    const data = claims.teams.toSorted().map((name) => ({ id: newId('team', time.nowMs()), name, account: name }))
    await tx.prisma.team.createMany({ data, skipDuplicates: true })
    await setTeams(tx, row.id, { teams: claims.teams.map((name) => ({ name })) })
  }
  const { name, level, teams, issuer, subject } = claims
  const detail = { name, level, teams, issuer, subject, by: 'oidc' }
  await audit(tx, null, [{ action: row.isNew ? 'user.create' : 'user.update', objectId: row.id, detail }], time.nowMs())
  return true
}

/**
 * GONE: the token was revoked, or the user was disabled or unlinked. CHANGED: permissions differ from those at login.
 */
export type Standing = 'WELCOME' | 'CHANGED' | 'GONE'

interface StandingRow extends Person {
  readonly ord: number
  readonly gone: boolean
}

export async function readStandings(sql: Sql, viewers: readonly Viewer[]): Promise<Standing[]> {
  const rows = await sql.query<StandingRow>(standingSql, [
    JSON.stringify(
      viewers.map(({ userId, token, expiresAtMs }, ord) => ({
        ord,
        userId,
        token,
        byProvider: token === null && expiresAtMs !== null,
      })),
    ),
  ])
  const byOrd = new Map(rows.map((row) => [row.ord, row]))
  return viewers.map((viewer, ord) => judgeStanding(viewer, byOrd.get(ord)))
}

function judgeStanding(viewer: Viewer, row: StandingRow | undefined): Standing {
  if (!row || row.gone) return 'GONE'
  const { granted, level } = createViewer(row)
  const same = level === viewer.level && granted.size === viewer.granted.size && granted.isSubsetOf(viewer.granted)
  return same ? 'WELCOME' : 'CHANGED'
}

const standingSql = `
SELECT v.ord, u.id, u.name, u.level, u.allow, u.deny,
  u.disabled OR (v.token IS NOT NULL AND (t.id IS NULL OR t.revoked_at IS NOT NULL))
    OR (v."byProvider" AND u.oidc_subject IS NULL) AS gone
FROM jsonb_to_recordset($1::text::jsonb) AS v(ord int, "userId" text, token text, "byProvider" boolean)
JOIN "user" u ON u.id = v."userId" LEFT JOIN api_token t ON t.prefix = v.token`
