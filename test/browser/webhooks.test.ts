import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { adminToken, berth, describeConsole, localPools, row } from './support/console.ts'

describeConsole('webhooks', (subject) => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  let status = 204
  let receiver: WebhookReceiver
  let server: BerthServer
  beforeAll(async () => {
    receiver = await startReceiver(secret, () => ({ status }))
    const webhooks = [
      { name: 'ci', url: receiver.url, secret },
      { name: 'slack', url: `${receiver.url}/T000/B000`, secret, events: ['job.failed'] },
    ]
    const settings = { pools: localPools, webhooks }
    server = await subject.start('webhooks', settings, { BERTH_BOOTSTRAP_TOKEN: adminToken })
  })
  afterAll(async () => {
    await server?.end()
    await receiver?.[Symbol.asyncDispose]()
  })

  it('lists webhooks, sends a test event, resends deliveries, and enables a webhook', async () => {
    const context = await subject.openContext({}, { server, token: adminToken })
    const page = await context.newPage()
    await page.goto(`${server.url}/about`)
    await row(page, 'ci').getByText('enabled').waitFor()
    await page.getByRole('button', { name: 'Test ci' }).click()
    await page.getByText('ci accepted the test event').waitFor()
    // A busy machine also sends conditions.
    expect(receiver.messages.map(({ content }) => content.type)).toContain('webhook.test')
    status = 410
    await berth(server, ['submit', '--', 'true'], adminToken)
    await row(page, 'ci').getByText('the receiver returned HTTP status 410').waitFor()
    status = 500
    await page.getByRole('button', { name: 'Test slack' }).click()
    await page.getByText('The test event failed: HTTP status 500').waitFor()
    await page.getByRole('button', { name: 'Resend slack' }).click()
    await page.getByText('slack gets 1 event again').waitFor()
    status = 204
    await page.getByRole('button', { name: 'Enable ci' }).click()
    await page.getByText('Enabled ci').waitFor()
    expect(await page.content()).not.toMatch(/whsec_|B000/)
    await context.close()
  })
})
