import { lockAppliedSettings, storeAppliedSetting } from '../applied.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import type { EventChoice } from './filter.ts'

/** Endpoints as stored. Their URLs and secrets stay in the configuration. */

interface DeclaredWebhook extends EventChoice {
  name: string
  url: string
}

/** Stores the endpoints of the configuration. A new one begins at the head of the feed; a missing one is removed. */
export async function applyWebhooks(domain: Domain, webhooks: readonly DeclaredWebhook[]): Promise<void> {
  const { db, time, log } = domain
  const declared = webhooks.map(({ name, url, events, filter }) => ({
    name,
    target: new URL(url).origin,
    events: [...(events ?? [])],
    filter: { ...filter },
  }))
  await db.serializable(async (tx) => {
    await lockAppliedSettings(tx)
    if (!(await storeAppliedSetting(tx, 'webhooks', declared))) return
    const { webhookEndpoint, feedHead, conditionCheck } = tx.prisma
    const known = await webhookEndpoint.findMany({ select: { name: true } })
    const names = declared.map(({ name }) => name)
    const ended = known.filter(({ name }) => !names.includes(name))
    const [head, check] = [await feedHead.findFirst(), await conditionCheck.findFirst()]
    await webhookEndpoint.deleteMany({ where: { name: { in: ended.map(({ name }) => name) } } })
    for (const { name, ...fields } of declared)
      await webhookEndpoint.upsert({
        where: { name },
        create: { name, ...fields, position: head?.position ?? 0, conditionSeq: check?.seq ?? 0 },
        update: fields,
      })
    const added = declared.filter(({ name }) => !known.some((each) => each.name === name))
    const records = [
      ...added.map(({ name, target }) => ({ action: 'webhook.create', objectId: name, detail: { target } })),
      ...ended.map(({ name }) => ({ action: 'webhook.delete', objectId: name })),
    ]
    await audit(tx, null, records, time.nowMs())
    for (const { name } of added) log.info({ webhook: name }, 'added a webhook from the configuration')
    for (const { name } of ended) log.info({ webhook: name }, 'removed a webhook that is no longer configured')
  })
}

/** For a receiver that wants no more messages. Its deliveries stay until an administrator enables the endpoint again. */
export async function disableEndpoint(domain: Domain, name: string, reason: string): Promise<void> {
  const { db, time, log } = domain
  await db.transaction(async (sql) => {
    const disabled = await sql.query(
      `UPDATE webhook_endpoint SET disabled_at = berth_now(), disabled_reason = $2
       WHERE name = $1 AND disabled_at IS NULL RETURNING 1`,
      [name, reason],
    )
    if (disabled.length === 0) return
    await audit(sql, null, [{ action: 'webhook.disable', objectId: name, detail: { reason } }], time.nowMs())
    log.warn({ webhook: name, reason }, 'disabled a webhook; enable it with "berth webhooks enable"')
  })
}
