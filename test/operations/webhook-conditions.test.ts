import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { enableWebhook, resendDeliveries } from '../../src/domain/webhooks/administer.ts'
import { applyWebhooks, disableEndpoint } from '../../src/domain/webhooks/endpoints.ts'
import { createWebhookSender } from '../../src/webhooks/sender.ts'
import { watchConditions } from '../support/conditions.ts'
import { openTestDomain } from '../support/domain.ts'
import { until } from '../support/until.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const { database, it } = await openTestDomain()
const { sql } = database.db
const conditions = watchConditions({ domain: it.domain, database })
const secret = `whsec_${randomBytes(32).toString('base64')}`
const minuteMs = 60_000
const running: { stop(): Promise<void> }[] = []

afterEach(async () => {
  for (const sender of running.splice(0)) await sender.stop()
  await applyWebhooks(it.domain, [])
})

async function send({ url }: WebhookReceiver, events: readonly string[]) {
  const webhooks = [{ name: 'ci', url, secrets: [secret], events, filter: {} }]
  await applyWebhooks(it.domain, webhooks)
  const sender = createWebhookSender(it.domain, { webhooks, publicUrl: null })
  sender.start()
  running.push(sender)
}

async function submit() {
  await it.submit()
  while ((await it.sequence()) > 0);
}

const pending = () => sql.query(`SELECT error FROM webhook_delivery WHERE state = 'PENDING'`)
const resend = () => resendDeliveries(it.domain, it.admin, { webhook: 'ci' })

test('WEBHOOK_LATE: begins when a receiver has failed for ten minutes, and ends when it accepts the delivery', async () => {
  let status = 500
  await using receiver = await startReceiver(secret, () => ({ status }))
  await send(receiver, ['job.created'])
  await submit()
  await until(() => receiver.messages.length, { what: 'the receiver fails' })
  await conditions.ends('WEBHOOK_LATE')
  await database.moveTime(10 * minuteMs)
  const { evidence } = await conditions.begins('WEBHOOK_LATE')
  expect(evidence).toEqual([expect.stringMatching(/^webhook ci: the oldest event that was not delivered is of 20/)])
  status = 204
  await resend()
  await until(async () => (await pending()).length === 0, { what: 'the delivery is accepted' })
  await conditions.ends('WEBHOOK_LATE')
})

test('WEBHOOK_LATE: begins when no server sends webhooks', async () => {
  await applyWebhooks(it.domain, [{ name: 'ci', url: 'https://ci.example.org', events: null, filter: {} }])
  await submit()
  await database.moveTime(10 * minuteMs)
  await conditions.begins('WEBHOOK_LATE')
  await applyWebhooks(it.domain, [])
  await conditions.ends('WEBHOOK_LATE')
})

test('WEBHOOK_LATE: does not hold for a disabled webhook, whose events wait for an administrator', async () => {
  await applyWebhooks(it.domain, [{ name: 'ci', url: 'https://ci.example.org', events: null, filter: {} }])
  await disableEndpoint(it.domain, 'ci', 'the receiver returned HTTP status 410')
  await submit()
  await database.moveTime(10 * minuteMs)
  await conditions.begins('WEBHOOK_DEAD')
  expect(await conditions.find('WEBHOOK_LATE')).toBeUndefined()
  await enableWebhook(it.domain, it.admin, 'ci')
  await conditions.begins('WEBHOOK_LATE')
})

test('WEBHOOK_DEAD: begins when a receiver disables its webhook, and ends when the webhook is enabled', async () => {
  let status = 410
  await using receiver = await startReceiver(secret, () => ({ status }))
  await send(receiver, ['job.created'])
  await submit()
  const isDisabled = async () => (await sql.query('SELECT FROM webhook_endpoint WHERE disabled_at IS NOT NULL')).length
  await until(isDisabled, { what: 'the webhook is disabled' })
  const { evidence } = await conditions.begins('WEBHOOK_DEAD')
  expect(evidence).toEqual([
    expect.stringMatching(/^webhook ci is disabled since .*: the receiver returned HTTP status 410$/),
  ])
  status = 204
  await enableWebhook(it.domain, it.admin, 'ci')
  await conditions.ends('WEBHOOK_DEAD')
})

test('WEBHOOK_DEAD: begins when a delivery has failed ten times', async () => {
  let status = 500
  await using receiver = await startReceiver(secret, () => ({ status }))
  await send(receiver, ['job.created'])
  await submit()
  const isDead = async () => {
    await sql.query(
      `UPDATE webhook_delivery SET due_at = berth_now(), error = NULL WHERE state = 'PENDING' AND error IS NOT NULL`,
    )
    return (await sql.query(`SELECT FROM webhook_delivery WHERE state = 'DEAD'`)).length > 0
  }
  await until(isDead, { what: 'the delivery is dead' })
  const { evidence } = await conditions.begins('WEBHOOK_DEAD')
  expect(evidence).toEqual([expect.stringMatching(/^webhook ci: the last dead delivery is of 20/)])
  status = 204
  await resend()
  await conditions.ends('WEBHOOK_DEAD')
})

test('the beginning and the end of a condition are each sent once', async () => {
  await using receiver = await startReceiver(secret)
  await send(receiver, ['condition.began', 'condition.over'])
  await sql.query(`UPDATE node SET state = 'LOST', state_before = 'READY'`)
  const { meaning, remedy } = await conditions.begins('NODE_LOST')
  await sql.query(`UPDATE node SET state = 'READY', state_before = NULL`)
  await conditions.ends('NODE_LOST')
  const find = () => receiver.messages.filter(({ content }) => content.data['condition'] === 'NODE_LOST')
  await until(() => find().length >= 2, { what: 'both events arrive' })
  expect(
    find()
      .map(({ content: { type } }) => type)
      .sort(),
  ).toEqual(['condition.began', 'condition.over'])
  expect(find()[0]?.content.data).toEqual({
    ...{ condition: 'NODE_LOST', severity: 'TICKET', meaning, remedy, since: expect.stringMatching(/^20/) },
    evidence: [expect.stringContaining('node n1 of pool sim')],
  })
})
