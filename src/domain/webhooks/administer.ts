import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { WebhookDelivery, WebhookEndpoint } from '../../platform/generated/client.ts'
import type { Sql } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { parseInput } from '../parse.ts'
import { toMessageId } from './body.ts'
import { insertDeliveries } from './deliveries.ts'
import { testEventType } from './event-types.ts'

/** Operations of administrators on webhooks. */

export interface WebhookStatus extends Omit<WebhookEndpoint, 'position' | 'conditionSeq'> {
  /** Number of events of the feed that were not read yet. */
  unread: number
  pending: number
  dead: number
  pendingSince: Date | null
}

export const resentMax = 1_000
/** Dead deliveries are counted up to this number. */
export const deadCountedMax = 10_000

/** `name` null: all endpoints. */
export function readWebhooks({ db }: Domain, viewer: Viewer, name: string | null): Promise<WebhookStatus[]> {
  demand(viewer, 'webhook.write')
  return db.sql.query<WebhookStatus>(statusSql, [name, deadCountedMax], 'webhook_status')
}

const statusSql = `
SELECT e.name, e.target, e.events, e.filter, e.disabled_at AS "disabledAt", e.disabled_reason AS "disabledReason",
  e.created_at AS "createdAt", greatest(h.position - e.position, 0) AS unread, p.pending, p.since AS "pendingSince",
  (SELECT count(*) FROM (SELECT FROM webhook_delivery WHERE endpoint = e.name AND state = 'DEAD' LIMIT $2) d) AS dead
FROM webhook_endpoint e CROSS JOIN feed_head h CROSS JOIN LATERAL (
  SELECT count(*) AS pending, min(created_at) AS since FROM webhook_delivery WHERE endpoint = e.name AND state = 'PENDING') p
WHERE $1::text IS NULL OR e.name = $1 ORDER BY e.name`

export function readDelivery({ db }: Domain, viewer: Viewer, id: string): Promise<WebhookDelivery | null> {
  demand(viewer, 'webhook.write')
  return db.prisma.webhookDelivery.findUnique({ where: { id } })
}

/** Writes a delivery of the type `webhook.test`, which is sent like any other. */
export async function testWebhook(domain: Domain, viewer: Viewer, name: string): Promise<{ id: string }> {
  demand(viewer, 'webhook.write')
  const { db, time } = domain
  const id = toMessageId(name, testEventType, randomUUID())
  await db.transaction(async (sql) => {
    const { disabledAt } = await lockEndpoint(sql, name)
    if (disabledAt !== null)
      throw InvalidInput.at('webhook', 'The webhook is disabled; enable it with enableWebhook first')
    const body = JSON.stringify({
      type: testEventType,
      timestamp: new Date(time.nowMs()).toISOString(),
      data: { webhook: name },
    })
    await insertDeliveries(sql, name, [{ id, type: testEventType, body }])
    await audit(sql, viewer, [{ action: 'webhook.test', objectId: name }], time.nowMs())
  })
  return { id }
}

const resendInput = z.strictObject({
  webhook: z.string(),
  deliveryIds: z
    .array(z.string())
    .min(1, 'must not be empty')
    .max(resentMax, `must have at most ${resentMax} entries`)
    .nullish(),
})

/**
 * Sends deliveries again, with ten new tries: the named ones, or the oldest dead ones and all that wait. Returns
 * their number, at most `resentMax`.
 */
export async function resendDeliveries(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ count: number }> {
  demand(viewer, 'webhook.write')
  const { webhook, deliveryIds = null } = parseInput(resendInput, raw)
  const { db, time } = domain
  return db.transaction(async (sql) => {
    await lockEndpoint(sql, webhook)
    const ids = deliveryIds && [...new Set(deliveryIds)]
    const resent = await (ids
      ? sql.query<{ id: string }>(`${resendSql} WHERE endpoint = $1 AND id = ANY($2::text[]) RETURNING id`, [
          webhook,
          ids,
        ])
      : sql.query<{ id: string }>(resendAllSql, [webhook, resentMax]))
    const missing = ids?.find((id) => !resent.some((each) => each.id === id))
    if (missing !== undefined)
      throw new NotFound(`The webhook ${webhook.slice(0, 64)} has no delivery ${missing.slice(0, 64)}`)
    const detail = { count: resent.length }
    await audit(sql, viewer, [{ action: 'webhook.resend', objectId: webhook, detail }], time.nowMs())
    return detail
  })
}

const resendSql = `
UPDATE webhook_delivery SET state = 'PENDING', tries = 0, lease = lease + 1, due_at = berth_now(), finished_at = NULL`

const resendAllSql = `${resendSql} WHERE id IN (
  (SELECT id FROM webhook_delivery WHERE endpoint = $1 AND state = 'PENDING' LIMIT $2)
  UNION ALL
  (SELECT id FROM webhook_delivery WHERE endpoint = $1 AND state = 'DEAD' ORDER BY finished_at LIMIT $2)
  LIMIT $2)
RETURNING id`

/** Continues where the endpoint was disabled: events since then are sent. */
export async function enableWebhook(domain: Domain, viewer: Viewer, name: string): Promise<{ name: string }> {
  demand(viewer, 'webhook.write')
  const { db, time } = domain
  await db.transaction(async (sql) => {
    const { disabledAt } = await lockEndpoint(sql, name)
    if (disabledAt === null) return
    await sql.query('UPDATE webhook_endpoint SET disabled_at = NULL, disabled_reason = NULL WHERE name = $1', [name])
    await sql.query(
      `UPDATE webhook_delivery SET due_at = berth_now() WHERE endpoint = $1 AND state = 'PENDING' AND due_at > (SELECT berth_now())`,
      [name],
    )
    await audit(sql, viewer, [{ action: 'webhook.enable', objectId: name }], time.nowMs())
  })
  return { name }
}

async function lockEndpoint(sql: Sql, name: string): Promise<{ disabledAt: Date | null }> {
  const [row] = await sql.query<{ disabledAt: Date | null }>(
    'SELECT disabled_at AS "disabledAt" FROM webhook_endpoint WHERE name = $1 FOR UPDATE',
    [name],
  )
  if (!row) throw new NotFound(`Webhook ${name.slice(0, 64)} not found`)
  return row
}
