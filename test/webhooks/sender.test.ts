import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { expireDeliveries } from '../../src/domain/webhooks/deliveries.ts'
import { applyWebhooks } from '../../src/domain/webhooks/endpoints.ts'
import { lookUpPrivate } from '../../src/webhooks/destination.ts'
import { createWebhookSender, type WebhookTarget } from '../../src/webhooks/sender.ts'
import { openTestDomain } from '../support/domain.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

const { database, it } = await openTestDomain()
const secret = `whsec_${randomBytes(32).toString('base64')}`
const running: { stop(): Promise<void> }[] = []

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)
const target = (name: string, url: string, more: Partial<WebhookTarget> = {}): WebhookTarget => ({
  name,
  url,
  secrets: [secret],
  events: null,
  filter: {},
  ...more,
})

beforeEach(() => sql('DELETE FROM webhook_endpoint'))
afterEach(async () => {
  for (const sender of running.splice(0)) await sender.stop()
  await applyWebhooks(it.domain, [])
})

async function send(...webhooks: WebhookTarget[]) {
  await applyWebhooks(it.domain, webhooks)
  const sender = createWebhookSender(it.domain, { webhooks, publicUrl: 'https://berth.example.org/' })
  sender.start()
  running.push(sender)
  return sender
}

async function submitted(spec: Record<string, unknown> = {}) {
  const id = await it.submit(spec)
  while ((await it.sequence()) > 0);
  return id
}

const deliveries = (endpoint: string) =>
  sql<{ id: string; state: string; tries: number; status: number | null; error: string | null }>(
    'SELECT id, state, tries, status, error FROM webhook_delivery WHERE endpoint = $1 ORDER BY created_at, id',
    [endpoint],
  )

/** Ends the pauses of failed deliveries, and removes their errors. */
const skipPauses = () =>
  sql(`UPDATE webhook_delivery SET due_at = berth_now(), error = NULL WHERE state = 'PENDING' AND error IS NOT NULL`)

test('a new endpoint starts at the end of the feed and receives later events', async () => {
  await using receiver = await startReceiver(secret)
  await submitted()
  await send(target('ci', receiver.url))
  const name = 'nightly'
  const labels = [
    { key: 'model', value: 'x1' },
    { key: 'api-token', value: 'abc' },
    { key: 'note', value: `whsec_${'a'.repeat(32)}` },
  ]
  const id = await submitted({ name, labels, environment: [{ name: 'PASSWORD', value: 'hunter2' }] })
  const message = await until(() => receiver.messages[0], { what: 'a message arrives' })
  expect(receiver.messages).toHaveLength(1)
  expect(receiver.refused).toEqual([])
  expect(message.headers['content-type']).toBe('application/json')
  expect(message.id).toMatch(/^msg_[0-9a-z]{26}$/)
  expect(message.content).toEqual({
    type: 'job.created',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      ...{ jobId: id, seq: 1, name, state: 'QUEUED', previousState: null, reason: null, exitCode: null, run: 1 },
      ...{ user: 'local', team: null, account: expect.any(String), project: null, pool: 'sim', queue: 'default' },
      labels: { model: 'x1' },
      url: `https://berth.example.org/jobs/${id}`,
    },
  })
  expect(message.body).not.toMatch(/hunter2|true"\]|whsec_|abc/)
})

test('the event types and the filter of an endpoint select its events', async () => {
  await using receiver = await startReceiver(secret)
  await send(
    target('all', `${receiver.url}?all`),
    target('failures', `${receiver.url}?failures`, { events: ['job.failed'] }),
    target('named', `${receiver.url}?named`, {
      events: ['job.created'],
      filter: { name: 'train-*', users: ['local'] },
    }),
    target('other', `${receiver.url}?other`, { filter: { pools: ['gpu'] } }),
    target('labelled', `${receiver.url}?labelled`, { filter: { labels: { team: 'x' } } }),
  )
  await submitted({ name: 'train-1', labels: [{ key: 'team', value: 'x' }] })
  await submitted({ name: 'test-1' })
  await until(() => receiver.messages.length === 4, { what: 'all messages arrive' })
  await until(async () => (await sql(`SELECT FROM webhook_delivery WHERE state = 'PENDING'`)).length === 0, {
    what: 'all are delivered',
  })
  const counts = await Promise.all(
    ['all', 'failures', 'named', 'other', 'labelled'].map(async (name) => (await deliveries(name)).length),
  )
  expect(counts).toEqual([2, 0, 1, 0, 1])
  expect(new Set(receiver.messages.map(({ id }) => id)).size).toBe(4)
})

test('a failed delivery is tried ten times with the same id, and is then dead', async () => {
  await using receiver = await startReceiver(secret, () => ({ status: 500 }))
  await send(target('ci', receiver.url))
  await submitted()
  const failed = () => until(async () => (await deliveries('ci'))[0]?.error, { what: 'a try fails' })
  await failed()
  const [first] = await sql<{ ms: string }>(
    'SELECT extract(epoch FROM due_at - berth_now()) * 1000 AS ms FROM webhook_delivery',
  )
  expect(Number(first?.ms)).toBeLessThanOrEqual(1_200)
  for (let tries = 1; tries < 10; tries++) {
    await skipPauses()
    await failed()
  }
  await until(async () => (await deliveries('ci'))[0]?.state === 'DEAD', { what: 'the delivery is dead' })
  expect(await deliveries('ci')).toMatchObject([{ tries: 10, status: 500, error: 'HTTP status 500' }])
  expect(new Set(receiver.messages.map(({ id }) => id)).size).toBe(1)
})

test('the pause that the header Retry-After requests is kept', async () => {
  await using receiver = await startReceiver(secret, () => ({ status: 503, headers: { 'retry-after': '1800' } }))
  await send(target('ci', receiver.url))
  await submitted()
  await until(async () => (await deliveries('ci'))[0]?.error, { what: 'the first try fails' })
  const [row] = await sql<{ s: string }>('SELECT extract(epoch FROM due_at - berth_now()) AS s FROM webhook_delivery')
  expect(Number(row?.s)).toBeGreaterThan(1_790)
})

test('the sender does not follow redirects', async () => {
  await using end = await startReceiver(secret)
  await using receiver = await startReceiver(secret, () => ({ status: 307, headers: { location: end.url } }))
  await send(target('ci', receiver.url))
  await submitted()
  await until(async () => (await deliveries('ci'))[0]?.error === 'HTTP status 307', { what: 'the try fails' })
  expect(end.messages).toEqual([])
})

test('a response with status 410 disables the endpoint, and its deliveries are kept', async () => {
  await using receiver = await startReceiver(secret, () => ({ status: 410 }))
  await send(target('ci', receiver.url))
  await submitted()
  const reason = await until(
    async () => (await sql<{ r: string | null }>('SELECT disabled_reason AS r FROM webhook_endpoint'))[0]?.r,
    { what: 'the endpoint is disabled' },
  )
  expect(reason).toBe('the receiver returned HTTP status 410')
  await skipPauses()
  await submitted()
  await it.domain.clock.sleep(1_200)
  expect(receiver.messages).toHaveLength(1)
  expect(await deliveries('ci')).toMatchObject([{ state: 'PENDING', tries: 1 }])
  expect(await sql(`SELECT FROM audit_entry WHERE action = 'webhook.disable'`)).toHaveLength(1)
})

test('an endpoint that does not respond does not delay others', async () => {
  await using hanging = await startReceiver(secret, () => null)
  await using receiver = await startReceiver(secret)
  await send(target('hangs', hanging.url), target('works', receiver.url))
  for (let i = 0; i < 20; i++) await submitted()
  await until(() => receiver.messages.length === 20, { what: 'the other endpoint gets all events', timeoutMs: 10_000 })
  expect(hanging.messages.length).toBeLessThanOrEqual(8)
})

test('an http: URL with a public address is rejected before the connection', async () => {
  await send(target('public', 'http://203.0.113.7/hook'))
  await submitted()
  const error = await until(async () => (await deliveries('public'))[0]?.error, { what: 'the try fails' })
  expect(error).toBe('http: is allowed only to private addresses, and 203.0.113.7 is not private; use https:')
})

test('a host name is rejected if one of its addresses is public', async () => {
  const look = (name: string) =>
    new Promise<string>((resolve) =>
      lookUpPrivate(name, { all: true }, (error, found) => resolve(error?.message ?? JSON.stringify(found))),
    )
  expect(await look('localhost')).toMatch(/127\.0\.0\.1|::1/)
  expect(await look('203.0.113.7')).toMatch(/203\.0\.113\.7 is not private/)
})

test('an https: URL requires a trusted certificate', async () => {
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-subj', '/CN=localhost', '-days', '1']
  const pem = execFileSync('openssl', ['req', '-x509', '-nodes', '-keyout', '-', '-out', '-', ...options], {
    stdio: 'pipe',
  })
  const requests: unknown[] = []
  const server = createServer({ key: pem, cert: pem }, (request) => requests.push(request)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await send(target('tls', `https://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  await submitted()
  const error = await until(async () => (await deliveries('tls'))[0]?.error, { what: 'the try fails' })
  expect(error).toBe('connection failed: DEPTH_ZERO_SELF_SIGNED_CERT')
  expect(requests).toEqual([])
  server.close()
})

test('a server that stops releases its deliveries at once', async () => {
  await using receiver = await startReceiver(secret, () => null)
  const sender = await send(target('ci', receiver.url))
  await submitted()
  await until(() => receiver.messages.length, { what: 'the receiver has the message' })
  await sender.stop()
  const [row] = await sql<{ tries: number; isDue: boolean }>(
    'SELECT tries, due_at <= berth_now() AS "isDue" FROM webhook_delivery',
  )
  expect(row).toEqual({ tries: 0, isDue: true })
})

test('two processes share the deliveries of webhooks, and each event has one id', async () => {
  await using receiver = await startReceiver(secret)
  const webhook = target('ci', receiver.url)
  await send(webhook)
  await send(webhook)
  for (let i = 0; i < 50; i++) await it.submit()
  await it.sequence()
  await until(async () => (await sql(`SELECT FROM webhook_delivery WHERE state = 'DELIVERED'`)).length === 50, {
    what: 'all are delivered',
  })
  expect(receiver.messages).toHaveLength(50)
  expect(new Set(receiver.messages.map(({ id }) => id)).size).toBe(50)
})

test('the log reports an endpoint whose events were removed before they were sent', async () => {
  await using receiver = await startReceiver(secret)
  const errors = vi.spyOn(it.domain.log, 'error')
  await applyWebhooks(it.domain, [target('ci', receiver.url)])
  await submitted()
  await sql('UPDATE feed_head SET forgotten = position')
  await sql('UPDATE webhook_endpoint SET position = 0')
  await send(target('ci', receiver.url))
  await until(() => errors.mock.calls.length > 0, { what: 'the log names it' })
  expect(errors).toHaveBeenCalledWith(
    expect.objectContaining({ webhook: 'ci', position: 0 }),
    'events were removed by retention before this webhook got them',
  )
})

test('the body of a delivery has at most 20 kB', async () => {
  await using receiver = await startReceiver(secret)
  await send(target('ci', receiver.url))
  const labels = Array.from({ length: 64 }, (_, i) => ({ key: `k${i}`, value: 'ü'.repeat(1_000) }))
  await submitted({ labels })
  const { body, content } = await until(() => receiver.messages[0], { what: 'a message arrives' })
  expect(Buffer.byteLength(body)).toBeLessThan(20_000)
  expect(content.data['labels']).toBeNull()
})

test('successful deliveries are deleted after an hour, and dead ones after 30 days', async () => {
  await applyWebhooks(it.domain, [target('ci', 'https://a.example')])
  const rows = [
    ['DELIVERED', 0.5],
    ['DELIVERED', 1.5],
    ['DEAD', 29 * 24],
    ['DEAD', 31 * 24],
  ]
  for (const [state, hours] of rows)
    await sql(
      `INSERT INTO webhook_delivery (id, endpoint, type, body, state, finished_at)
       VALUES (gen_random_uuid()::text, 'ci', 'job.created', '{}', $1::webhook_delivery_state, berth_now() - $2 * interval '1 hour')`,
      [state, hours],
    )
  await expireDeliveries(it.domain, ['ci'])
  expect((await deliveries('ci')).map(({ state }) => state).sort()).toEqual(['DEAD', 'DELIVERED'])
})
