import { Agent as HttpAgent, type IncomingMessage, request as sendHttp } from 'node:http'
import { Agent as HttpsAgent, request as sendHttps } from 'node:https'
import type { Clock } from '../platform/clock.ts'
import { checkLiteralAddress, DestinationRefused, lookUpPrivate } from './destination.ts'

/** Posts messages to one endpoint, over its own connections. Does not follow redirects. */

export interface PostResult {
  /** null: no response. */
  status: number | null
  /** null: the receiver accepted the message. */
  error: string | null
  retryAfter?: string | undefined
}

/** Time limit of a try, from the connection to the end of the response. */
const tryMsMax = 15_000
/** Maximum size of a response. A longer one is cut off; its status counts. */
const responseBytesMax = 65_536

export class Poster {
  readonly #url: URL
  readonly #clock: Clock
  readonly #agent: HttpAgent

  constructor(url: string, { clock, connectionsMax }: { clock: Clock; connectionsMax: number }) {
    this.#url = new URL(url)
    this.#clock = clock
    const options = { keepAlive: true, maxSockets: connectionsMax, maxFreeSockets: connectionsMax }
    this.#agent =
      this.#url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent({ ...options, lookup: lookUpPrivate })
  }

  async post(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<PostResult> {
    const limit = new AbortController()
    const ended = new AbortController()
    void this.#clock.sleep(tryMsMax, ended.signal).then(() => limit.abort())
    try {
      const response = await this.#send(body, headers, AbortSignal.any([signal, limit.signal]))
      const { statusCode: status = 0, headers: received } = response
      await drain(response)
      if (status >= 200 && status < 300) return { status, error: null }
      return { status, error: `HTTP status ${status}`, retryAfter: received['retry-after'] }
    } catch (error) {
      return { status: null, error: limit.signal.aborted ? `no response within ${tryMsMax / 1_000} s` : explain(error) }
    } finally {
      ended.abort()
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage> {
    checkLiteralAddress(this.#url)
    const send = this.#url.protocol === 'https:' ? sendHttps : sendHttp
    const all = {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Berth-Webhooks',
    }
    return new Promise((resolve, reject) => {
      const sent = send(this.#url, { method: 'POST', agent: this.#agent, headers: all, signal }, resolve)
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

/** Reads the response to its end, so that the connection can be reused. */
async function drain(response: IncomingMessage): Promise<void> {
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    if (bytes > responseBytesMax) return // leaving the loop ends the connection
  }
}

/** Error messages of the system may contain the whole URL, so only their codes are shown. */
function explain(error: unknown): string {
  if (error instanceof DestinationRefused) return error.message
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? `connection failed: ${code}` : 'connection failed'
}
