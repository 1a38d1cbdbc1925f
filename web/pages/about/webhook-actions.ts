import {
  ReadTestEventDocument,
  ResendDeliveriesDocument,
  SendTestEventDocument,
  TurnWebhookOnDocument,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { plural } from '../../parts/format.ts'
import { isRefused } from '../../parts/refusal.ts'

/** Actions on a webhook. Each returns the message that the page shows. If the server refuses the action, it throws. */

const pollMs = 500
/** A delivery attempt may take 15 s. */
const testMsMax = 20_000

/** Sends a test event, and waits for the result of the first delivery attempt. */
export async function sendTestEvent(webhook: string): Promise<string> {
  const { testWebhook } = await client.request(SendTestEventDocument, { input: { webhook } })
  if (isRefused(testWebhook)) throw new Error(testWebhook.message)
  const { id } = testWebhook.delivery
  for (let waitedMs = 0; waitedMs < testMsMax; waitedMs += pollMs) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    const { node: delivery } = await client.request(ReadTestEventDocument, { id })
    if (delivery?.__typename !== 'WebhookDelivery') continue
    if (delivery.state === 'DELIVERED') return `${webhook} accepted the test event`
    if (delivery.error) throw new Error(`The test event failed: ${delivery.error}`)
  }
  throw new Error(`No server has sent the test event within ${testMsMax / 1_000} s`)
}

export async function resendDeliveries(webhook: string): Promise<string> {
  const { resendWebhookDeliveries: result } = await client.request(ResendDeliveriesDocument, { input: { webhook } })
  if (isRefused(result)) throw new Error(result.message)
  return `${webhook} gets ${plural(result.count, 'event')} again`
}

export async function enableWebhook(webhook: string): Promise<string> {
  const { enableWebhook: result } = await client.request(TurnWebhookOnDocument, { input: { webhook } })
  if (isRefused(result)) throw new Error(result.message)
  return `Enabled ${webhook}`
}
