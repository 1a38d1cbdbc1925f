import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { send } from '../support/client.ts'
import type { Asked } from './documents.ts'
import { infinite } from './values.ts'

/** The transports of a request, with their responses in one form. */
export const ways = ['POST', 'GET', 'SSE', 'SOCKET'] as const
export type Way = (typeof ways)[number]

export interface Came {
  /** HTTP status; 0: a WebSocket. */
  status: number
  text: string
}

export interface Caller {
  name: string
  /** null: anonymous. */
  token: string | null
}

/** A live stream without messages is closed after this time. */
const streamMs = 100
/** A stream over SSE may not have begun its response, because the head comes with the first event. */
const silentMs = 300
/** A request without a response after this time hangs. */
export const answerMs = 30_000

const json = { 'content-type': 'application/json' }

const bodyOf = ({ query, variables }: Asked) =>
  JSON.stringify({ query, variables }).replaceAll(JSON.stringify(infinite), '1e999')

export class Ways {
  readonly #url: string
  readonly #sockets = new Map<string, Client>()

  constructor(url: string) {
    this.#url = url
  }

  ask(way: Way, { token }: Caller, asked: Asked): Promise<Came> {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` }
    if (way === 'SOCKET' && token !== null) return this.#bySocket(token, asked)
    if (way === 'GET') return this.#byGet(headers, asked)
    const accept = way === 'SSE' || asked.kind === 'subscription' ? { accept: 'text/event-stream' } : {}
    return this.#byPost({ ...json, ...headers, ...accept }, asked)
  }

  async #byPost(headers: Record<string, string>, asked: Asked): Promise<Came> {
    const left = AbortSignal.timeout(asked.kind === 'subscription' ? silentMs : answerMs)
    const response = await fetch(`${this.#url}/graphql`, { method: 'POST', headers, body: bodyOf(asked), signal: left })
    const text = asked.kind === 'subscription' ? await firstPart(response) : await response.text()
    return { status: response.status, text }
  }

  #byGet(headers: Record<string, string>, { query, variables }: Asked): Promise<Came> {
    const text = JSON.stringify(variables).replaceAll(JSON.stringify(infinite), '1e999')
    const path = `/graphql?${new URLSearchParams({ query, variables: text })}`
    // The server may close an idle connection at the moment when it is used again, and the next one of the pool, too.
    return send(this.#url, { method: 'GET', path, headers, agent: false })
  }

  #bySocket(token: string, asked: Asked): Promise<Came> {
    const client = this.#sockets.get(token) ?? this.#connect(token)
    return new Promise((resolve) => {
      const parts: string[] = []
      const done = () => {
        clearTimeout(timer)
        resolve({ status: 0, text: parts.join('\n') })
      }
      const leave = client.subscribe(JSON.parse(bodyOf(asked)) as { query: string }, {
        next(result) {
          parts.push(JSON.stringify(result))
          if (asked.kind === 'subscription') leave()
        },
        error(error) {
          parts.push(error instanceof Error ? error.message : JSON.stringify(error))
          done()
        },
        complete: done,
      })
      const timer = setTimeout(leave, asked.kind === 'subscription' ? streamMs : answerMs)
    })
  }

  #connect(token: string): Client {
    const client = createClient({
      url: `${this.#url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
      lazyCloseTimeout: answerMs,
    })
    this.#sockets.set(token, client)
    return client
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sockets.values()].map((client) => client.dispose()))
  }
}

/** Reads the first part of a stream. */
async function firstPart(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const timer = setTimeout(() => void reader.cancel(), streamMs)
  const { value } = await reader.read()
  clearTimeout(timer)
  await reader.cancel()
  return value ? Buffer.from(value).toString() : ''
}
