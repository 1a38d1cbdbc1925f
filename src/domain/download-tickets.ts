import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { createViewer, type Person, type Viewer } from './access.ts'
import type { Domain } from './domain.ts'
import { loadInstallationKey } from './installation-key.ts'

/**
 * A ticket lets a browser download one object without a token: a link cannot send a header, and a token must not appear
 * in a URL. Uploads of snapshots have tickets as well. A ticket is valid for one target and a few minutes, as long as its
 * user may log in and its token is not revoked. Tickets are not stored: they contain the user, the prefix of the token,
 * the expiry, and an HMAC over these and the target.
 */

export const ticketSecondsMax = 300
const secondMs = 1_000

const content = z.tuple([z.string(), z.string().nullable(), z.int()])
const form = /^([\w-]{1,512})\.([\w-]{43})$/

async function sign(domain: Domain, payload: string, target: string): Promise<Buffer> {
  const key = createHmac('sha256', await loadInstallationKey(domain))
    .update('download tickets')
    .digest()
  return createHmac('sha256', key).update(`${payload} ${target}`).digest()
}

export async function createTicket(
  domain: Domain,
  viewer: Viewer,
  target: string,
): Promise<{ ticket: string; expiresAt: Date }> {
  const latestMs = domain.time.nowMs() + ticketSecondsMax * secondMs
  const expires = Math.floor(Math.min(latestMs, viewer.expiresAtMs ?? latestMs) / secondMs)
  const payload = Buffer.from(JSON.stringify([viewer.userId, viewer.token, expires])).toString('base64url')
  const mac = await sign(domain, payload, target)
  return { ticket: `${payload}.${mac.toString('base64url')}`, expiresAt: new Date(expires * secondMs) }
}

/**
 * Returns the viewer for whom the ticket was made; null: the ticket has another target or has expired, or its user lost
 * access.
 */
export async function checkTicket(
  domain: Domain,
  { ticket, target, ip }: { ticket: string; target: string; ip: string | null },
): Promise<Viewer | null> {
  const [, payload, mac] = form.exec(ticket) ?? []
  if (payload === undefined || mac === undefined) return null
  const expected = await sign(domain, payload, target)
  if (!timingSafeEqual(Buffer.from(mac, 'base64url'), expected)) return null
  const [userId, token, expires] = content.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  const expiresAtMs = expires * secondMs
  if (expiresAtMs <= domain.time.nowMs()) return null
  const [person] = await domain.db.sql.query<Person>(personSql, [userId, token], 'person_of_ticket')
  return person ? createViewer(person, { scopes: ['READ'], ip, token, expiresAtMs: null }) : null
}

const personSql = `
SELECT u.id, u.name, u.level, u.allow, u.deny FROM "user" u
WHERE u.id = $1 AND NOT u.disabled
  AND ($2::text IS NULL OR EXISTS (SELECT FROM api_token t WHERE t.prefix = $2 AND t.user_id = u.id AND t.revoked_at IS NULL))`
