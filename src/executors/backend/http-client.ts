import { once } from 'node:events'
import type { ClientRequest, IncomingMessage, request as openHttp, RequestOptions } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../platform/clock.ts'
import { BackendUnreachable, shorten } from './unreachable.ts'

/**
 * Sends HTTP requests to a backend that may be down, frozen or behind a proxy. Every failure is a BackendUnreachable.
 */

export interface HttpServer {
  address: string
  open: typeof openHttp
  options: RequestOptions
}

export type Query = Readonly<Record<string, string | number | boolean>>

export interface HttpRequest {
  method: string
  path: string
  query?: Query | undefined
  headers?: Readonly<Record<string, string>>
  /** Pieces are sent at the speed of the backend. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined
  /** Aborts the request, also while its response streams. */
  signal?: AbortSignal | undefined
}

const answerMsMax = 30_000
/** Interval at which idle connections are probed, to notice a peer that disappeared. */
const keepAliveMs = 15_000

export class HttpClient {
  readonly #name: string
  readonly #clock: Clock
  readonly #closing = new AbortController()

  constructor(name: string, clock: Clock) {
    this.#name = name
    this.#clock = clock
  }

  /** Sends a request. Resolves with the head of the response. */
  send({ address, open, options }: HttpServer, request: HttpRequest): Promise<IncomingMessage> {
    const { method, headers, body, signal } = request
    const isStreamed = typeof body === 'object' && Symbol.asyncIterator in body
    const length = body === undefined || isStreamed ? {} : { 'content-length': Buffer.byteLength(body) }
    const signals = AbortSignal.any(signal ? [signal, this.#closing.signal] : [this.#closing.signal])
    return new Promise((resolve, reject) => {
      const all = {
        ...options,
        method,
        path: pathWithQuery(request),
        headers: { ...headers, ...length },
        signal: signals,
      }
      const sent = open(all)
      const over = new AbortController()
      let stopLimit = isStreamed ? () => undefined : this.#limit(sent)
      const arrived = () => {
        over.abort()
        stopLimit()
      }
      sent.on('socket', (socket) => socket.setKeepAlive(true, keepAliveMs))
      sent.on('error', (cause) => {
        arrived()
        reject(new BackendUnreachable(`${address}: ${cause.message}`, { cause }))
      })
      sent.on('upgrade', (response, socket, head) => {
        arrived()
        socket.unshift(head)
        resolve(response)
      })
      sent.on('response', (response) => {
        arrived()
        resolve(response)
      })
      if (!isStreamed) return void sent.end(body)
      this.#sendPieces(sent, body, over.signal).then(
        () => {
          if (!over.signal.aborted) stopLimit = this.#limit(sent)
        },
        (error: unknown) => {
          if (over.signal.aborted) return
          reject(error)
          sent.destroy()
        },
      )
    })
  }

  /** Sends the pieces. Stops when the request is over. The time limit applies to each wait for the backend. */
  async #sendPieces(sent: ClientRequest, body: AsyncIterable<Uint8Array>, over: AbortSignal): Promise<void> {
    for await (const piece of body) {
      if (over.aborted) return
      if (sent.write(piece)) continue
      const taken = this.#limit(sent)
      await once(sent, 'drain', { signal: over }).finally(taken)
    }
    sent.end()
  }

  async readText(response: IncomingMessage): Promise<string> {
    return this.limited(response, () => text(response))
  }

  /** Reads the response. Fails if `read` does not finish within the time limit, or the response is incomplete. */
  async limited<T>(response: IncomingMessage, read: () => Promise<T>): Promise<T> {
    const finished = this.#limit(response)
    try {
      return await read()
    } catch (cause) {
      throw new BackendUnreachable(`The ${this.#name} closed the connection in the middle of an answer`, { cause })
    } finally {
      finished()
    }
  }

  async readJson<T>(response: IncomingMessage, path: string): Promise<T> {
    const body = await this.readText(response)
    const value = parseJson(body)
    if (value === undefined || value === null) throw this.foreign(path, body)
    return value as T
  }

  /** Returns the error for a response that did not come from the backend, but for example from a proxy. */
  foreign(path: string, answer: unknown): BackendUnreachable {
    const shown = shorten(typeof answer === 'string' ? answer : JSON.stringify(answer))
    return new BackendUnreachable(`The answer to ${path} did not come from the ${this.#name}: ${shown}`)
  }

  close(): void {
    this.#closing.abort()
  }

  /** Destroys the message at the time limit, unless the returned function is called before. */
  #limit(message: ClientRequest | IncomingMessage): () => void {
    const done = new AbortController()
    const late = new Error(`no answer within ${answerMsMax / 1000} s`)
    void this.#clock.sleep(answerMsMax, done.signal).then(() => done.signal.aborted || message.destroy(late))
    return () => done.abort()
  }
}

export function pathWithQuery({ path, query = {} }: Pick<HttpRequest, 'path' | 'query'>): string {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  return search ? `${path}?${search}` : path
}

/** Returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
