import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { createBatcher } from '../../platform/batch.ts'
import { readNow } from '../../platform/database-time.ts'
import type { Prisma } from '../../platform/generated/client.ts'
import { idAlphabet } from '../../platform/ids.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { demand, demandAllPermissions, type Person, type TokenScope, tokenScopes, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import { announceLimitsOfAllPools } from '../changes.ts'
import type { Domain } from '../domain.ts'
import { Forbidden, InvalidInput, NotFound, userNotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { parseInput } from '../parse.ts'

/**
 * Tokens: `berth_`, 10 characters that identify the row, and 256 random bits. They are stored as SHA-256, because a
 * slow hash is needed only for weak secrets. A secret of another form (auth.bootstrapToken) is identified by the
 * beginning of its hash, so no part of its text is stored.
 */

const secretForm = /^berth_[0-9a-z]{10}[\w-]{43}$/
const prefixLength = 'berth_'.length + 10

const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const computePrefix = (secret: string): string =>
  secretForm.test(secret) ? secret.slice(0, prefixLength) : `sha256_${hashSecret(secret).toString('hex').slice(0, 16)}`

const newSecret = (): string =>
  `berth_${[...randomBytes(10)].map((byte) => idAlphabet[byte % idAlphabet.length]).join('')}${randomBytes(32).toString('base64url')}`

const creation = z.strictObject({
  name: z.string().regex(/^\P{Cc}{1,255}$/u, 'must have 1 … 255 characters, none of them a control character'),
  userId: z.string().nullish(),
  scopes: z.array(z.enum(tokenScopes)).min(1, 'must name at least one scope').nullish(),
  expiresAt: z.date().nullish(),
})

export async function createToken(
  domain: Domain,
  viewer: Viewer,
  raw: unknown,
): Promise<{ tokenId: string; secret: string }> {
  const { name, userId, scopes, expiresAt: asked } = parseInput(creation, raw)
  const ofOther = userId != null && userId !== viewer.userId
  demand(viewer, ofOther ? 'token.any' : 'token.own')
  const wanted = scopes ? tokenScopes.filter((scope) => scope === 'READ' || scopes.includes(scope)) : viewer.scopes
  const beyond = wanted.find((scope) => !viewer.scopes.includes(scope))
  if (beyond) throw new Forbidden(`scope:${beyond}`)
  const expiresAt = decideExpiry(viewer, asked ?? null)
  const secret = newSecret()
  const tokenId = newId('token', domain.time.nowMs())
  await domain.db.serializable(async (tx) => {
    if (ofOther) await demandOwner(tx, viewer, userId)
    await demandFuture(tx, expiresAt)
    await insertToken(tx, { id: tokenId, userId: userId ?? viewer.userId, name, secret, scopes: wanted, expiresAt })
    const detail = { name, userId: userId ?? viewer.userId, scopes: wanted, expiresAt: expiresAt?.toISOString() }
    await audit(tx, viewer, [{ action: 'token.create', objectId: tokenId, detail }], domain.time.nowMs())
  })
  return { tokenId, secret }
}

/**
 * A token must not outlive the credentials of its creator; otherwise a stolen session would become permanent access.
 */
function decideExpiry({ expiresAtMs }: Viewer, asked: Date | null): Date | null {
  if (expiresAtMs === null) return asked
  const latest = new Date(expiresAtMs)
  if (asked === null || asked <= latest) return asked ?? latest
  const message = `Must not be later than ${latest.toISOString()}, when your own credentials expire; an administrator whose token expires later can create this token`
  throw InvalidInput.at('expiresAt', message)
}

async function demandOwner({ prisma }: Tx, viewer: Viewer, userId: string): Promise<void> {
  const person = await prisma.user.findUnique({ where: { id: userId } })
  if (!person) throw userNotFound(userId)
  demandAllPermissions(viewer, person)
  if (person.disabled) throw InvalidInput.at('userId', `${person.name} is disabled`)
}

async function demandFuture(sql: Sql, expiresAt: Date | null | undefined): Promise<void> {
  if (expiresAt && expiresAt <= (await readNow(sql))) throw InvalidInput.at('expiresAt', 'Must be in the future')
}

interface NewToken {
  id: string
  userId: string
  name: string
  secret: string
  scopes: readonly TokenScope[]
  expiresAt?: Date | null | undefined
}

async function insertToken({ prisma }: Tx, { secret, scopes, expiresAt, ...token }: NewToken): Promise<void> {
  const hash = Uint8Array.from(hashSecret(secret))
  const data = { ...token, prefix: computePrefix(secret), hash, scopes: [...scopes], expiresAt: expiresAt ?? null }
  await prisma.apiToken.create({ data })
}

export async function revokeTokens(tx: Tx, which: Prisma.ApiTokenWhereInput): Promise<void> {
  const revokedAt = await readNow(tx)
  await tx.prisma.apiToken.updateMany({ where: { ...which, revokedAt: null }, data: { revokedAt } })
}

/** Has no effect on a revoked token. Without the permission token.any, other users' tokens are not found. */
export async function revokeToken(domain: Domain, viewer: Viewer, id: string): Promise<{ tokenId: string }> {
  await domain.db.serializable(async (tx) => {
    const token = await tx.prisma.apiToken.findUnique({ where: { id }, include: { user: true } })
    if (!token || (token.userId !== viewer.userId && !viewer.granted.has('token.any')))
      throw new NotFound(`Token ${id.slice(0, 64)} not found`)
    demandRevocation(viewer, token.user)
    if (token.revokedAt) return
    await revokeTokens(tx, { id })
    await audit(tx, viewer, [{ action: 'token.revoke', objectId: id }], domain.time.nowMs())
  })
  domain.wakeups.poke('access')
  return { tokenId: id }
}

function demandRevocation(viewer: Viewer, owner: Person): void {
  const own = owner.id === viewer.userId
  demand(viewer, own && viewer.granted.has('token.own') ? 'token.own' : 'token.any')
  if (!own) demandAllPermissions(viewer, owner)
}

/**
 * The bootstrap secret is how an operator regains access: `admin` is enabled and becomes ADMIN again. A new secret
 * revokes the earlier one.
 */
export async function applyBootstrapToken({ db, time }: Pick<Domain, 'db' | 'time'>, secret: string): Promise<void> {
  const prefix = computePrefix(secret)
  await db.serializable(async (tx) => {
    const made = { id: newId('user', time.nowMs()), name: 'admin', level: 'ADMIN' } as const
    await tx.prisma.user.createMany({ data: made, skipDuplicates: true })
    const { id: userId } = await tx.prisma.user.findUniqueOrThrow({ where: { name: made.name } })
    await revokeTokens(tx, { userId, prefix: { startsWith: 'sha256_', not: prefix } })
    if ((await tx.prisma.apiToken.count({ where: { prefix } })) > 0) return
    const id = newId('token', time.nowMs())
    await insertToken(tx, { id, userId, name: 'bootstrap', secret, scopes: tokenScopes })
    await tx.prisma.user.update({ where: { id: userId }, data: { disabled: false, level: made.level, deny: [] } })
    await announceLimitsOfAllPools(tx)
    await audit(tx, null, [{ action: 'token.create', objectId: id, detail: { name: 'bootstrap' } }], time.nowMs())
  })
}

interface CheckedToken {
  readonly person: Person
  readonly prefix: string
  readonly scopes: readonly TokenScope[]
  readonly expiresAt: Date | null
  readonly expired: boolean
}

interface TokenRow extends Omit<CheckedToken, 'person'>, Person {
  readonly tokenId: string
  readonly hash: Buffer
  readonly due: boolean
}

const checksMax = 256

/**
 * Reads the token from the database every time, so a revoked token fails at once. null: the token is unknown or
 * revoked, or the user is disabled.
 */
export const createTokenCheck = ({ db }: Domain): ((secret: string) => Promise<CheckedToken | null>) =>
  createBatcher<string, CheckedToken | null>({
    max: checksMax,
    run: (secrets) => checkTokens(db.sql, secrets),
    mayBeOneItem: () => false,
  })

async function checkTokens(sql: Sql, secrets: readonly string[]): Promise<(CheckedToken | null)[]> {
  const rows = await sql.query<TokenRow>(checkSql, [secrets.map(computePrefix)], 'token_check')
  const byPrefix = new Map(rows.map((row) => [row.prefix, row]))
  const found = secrets.map((secret) => {
    const row = byPrefix.get(computePrefix(secret))
    return row && timingSafeEqual(row.hash, hashSecret(secret)) ? row : null
  })
  const due = found.flatMap((row) => (row?.due ? [row.tokenId] : []))
  if (due.length > 0) await sql.query(touchSql, [due])
  return found.map((row) => row && toCheckedToken(row))
}

const toCheckedToken = ({ prefix, scopes, expiresAt, expired, ...person }: TokenRow): CheckedToken => ({
  person: { id: person.id, name: person.name, level: person.level, allow: person.allow, deny: person.deny },
  prefix,
  scopes,
  expiresAt,
  expired,
})

const checkSql = `
SELECT t.id AS "tokenId", t.prefix, t.hash, t.scopes::text[] AS scopes, t.expires_at AS "expiresAt",
  coalesce(t.expires_at <= berth_now(), false) AS expired,
  coalesce(t.last_used_at < date_trunc('minute', berth_now()), true) AS due,
  u.id, u.name, u.level, u.allow, u.deny
FROM api_token t JOIN "user" u ON u.id = t.user_id
WHERE t.prefix = ANY($1::text[]) AND t.revoked_at IS NULL AND NOT u.disabled`

/** The time of the last use is rounded to the minute, so a busy token is written once a minute. */
const touchSql = `
UPDATE api_token SET last_used_at = date_trunc('minute', berth_now())
WHERE id = ANY($1::text[]) AND coalesce(last_used_at < date_trunc('minute', berth_now()), true)`
