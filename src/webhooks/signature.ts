import { createHmac } from 'node:crypto'

/** Computes the headers of Standard Webhooks 1.0: https://www.standardwebhooks.com. */

const secretPrefix = 'whsec_'

export interface WebhookMessage {
  id: string
  body: string
  /** Time of this try. */
  atMs: number
}

/** Signs with each secret, so that a receiver may have the old or the new one while a secret is replaced. */
export function signMessage({ id, body, atMs }: WebhookMessage, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
