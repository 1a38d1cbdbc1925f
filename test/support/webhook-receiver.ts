import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

export interface ReceivedMessage {
  id: string
  headers: Record<string, string>
  body: string
  /** The parsed body, after its signature was verified. */
  content: { type: string; timestamp: string; data: Record<string, unknown> }
}

interface Answer {
  status: number
  headers?: Record<string, string>
}

/** A receiver of webhooks that verifies each message with the library `standardwebhooks`. */
export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string
  /** Messages with a valid signature, in order of arrival. */
  readonly messages: readonly ReceivedMessage[]
  /** Messages that the library rejected. */
  readonly refused: readonly string[]
  secret: string
}

/** `answer` null: the receiver never responds. */
export async function startReceiver(
  secret: string,
  answer: (message: ReceivedMessage, count: number) => Answer | null = () => ({ status: 204 }),
): Promise<WebhookReceiver> {
  const messages: ReceivedMessage[] = []
  const refused: string[] = []
  const receiver = { secret }
  async function receive(request: IncomingMessage, response: ServerResponse) {
    const body = await text(request)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, String(value)]))
    let content: ReceivedMessage['content']
    try {
      content = new Webhook(receiver.secret).verify(body, headers) as ReceivedMessage['content']
    } catch (error) {
      refused.push(String(error))
      response.writeHead(401).end()
      return
    }
    const message = { id: headers['webhook-id'] ?? '', headers, body, content }
    messages.push(message)
    const answered = answer(message, messages.length)
    if (answered) response.writeHead(answered.status, answered.headers).end()
  }
  const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    messages,
    refused,
    get secret() {
      return receiver.secret
    },
    set secret(value) {
      receiver.secret = value
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
