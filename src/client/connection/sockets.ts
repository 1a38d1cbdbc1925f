import { type Client, createClient, type SubscribePayload } from 'graphql-ws/client'
import { createFailure, type GraphqlError, RequestFailed } from './failure.ts'
import { type Answer, type Operation, refuseNotFinite } from './http.ts'
import type { Servers } from './servers.ts'
import { bearerHeader, type Tokens } from './tokens.ts'

const unreadMax = 64
const pingEveryMs = 10_000
const pongWaitMs = 5_000
const ackWaitMs = 15_000

/**
 * Subscriptions over one WebSocket, which opens with the first stream and closes with the last. A WebSocket has no backpressure
 * for one stream: at `unreadMax` unread messages a stream unsubscribes, and resumes from its cursor when its reader has taken
 * them.
 */
export class SocketStreams {
  readonly #servers: Servers
  readonly #client: Client
  #endpoint: URL
  /** true: the server has accepted the connection. */
  #isWelcome = false
  readonly #unopened = new Set<() => void>()
  #pongTimer: ReturnType<typeof setTimeout> | undefined

  constructor(servers: Servers, tokens: Tokens, Socket: unknown) {
    if (Socket === undefined)
      throw new TypeError(
        "This platform has no WebSocket: use Node 22 or newer, pass a class as `webSocket`, or set `transports: ['sse', 'polling']`",
      )
    this.#servers = servers
    this.#endpoint = servers.endpoint()
    this.#client = createClient({
      url: () => {
        this.#endpoint = servers.endpoint()
        return this.#endpoint.href.replace(/^http/, 'ws')
      },
      webSocketImpl: new Proxy(Socket as typeof WebSocket, { construct: constructSocket }),
      connectionParams: async () => bearerHeader(await tokens.current()),
      keepAlive: pingEveryMs,
      connectionAckWaitTimeout: ackWaitMs,
      retryAttempts: 0,
      jsonMessageReplacer: refuseNotFinite,
      on: {
        connecting: () => {
          this.#isWelcome = false
        },
        connected: () => this.#welcome(),
        ping: (received) => {
          if (!received) this.#pongTimer = setTimeout(() => this.#client.terminate(), pongWaitMs)
        },
        pong: (received) => {
          if (received) clearTimeout(this.#pongTimer)
        },
        error: () => clearTimeout(this.#pongTimer),
        closed: () => clearTimeout(this.#pongTimer),
      },
    })
  }

  async *subscribe<Result>(
    operation: Operation,
    signal: AbortSignal,
    onOpen: () => void,
  ): AsyncGenerator<Answer<Result>, void, void> {
    for (let isLeft = true; isLeft; ) {
      isLeft = false
      const inbox = createInbox<Answer<Result>>(signal)
      const leave = this.#client.subscribe<Result>(operation as SubscribePayload, {
        next: (answer) => {
          if (isLeft) return
          inbox.put(answer as Answer<Result>)
          if (inbox.size() < unreadMax) return
          isLeft = true
          inbox.end()
          leave()
        },
        error: (error) => inbox.end(this.#toFailure(error)),
        complete: () => inbox.end(),
      })
      // On a connection that is already open, only the first message shows that the server accepts the operation.
      if (!this.#isWelcome) this.#unopened.add(onOpen)
      try {
        yield* inbox.taken()
      } finally {
        this.#unopened.delete(onOpen)
        leave()
      }
    }
  }

  /** Closes the connection. If it is being established, waits for it first. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#client.dispose()])
  }

  #welcome(): void {
    this.#isWelcome = true
    for (const onOpen of this.#unopened) onOpen()
    this.#unopened.clear()
  }

  #toFailure(error: unknown): RequestFailed {
    if (Array.isArray(error)) return createFailure(error as GraphqlError[])
    const { code, reason } = closeOf(error)
    if (!this.#isWelcome) this.#servers.failed(this.#endpoint)
    if (code === undefined) {
      const message = this.#isWelcome
        ? `The connection to ${this.#endpoint.origin} broke`
        : `No WebSocket can be opened to ${this.#endpoint.href}`
      return new RequestFailed('UNREACHABLE', message, { cause: error })
    }
    const text = `The server closed the connection (${code}${reason ? `, ${reason}` : ''})`
    if (tokenCodes.has(code))
      return new RequestFailed('UNAUTHENTICATED', text, { token: this.#isWelcome ? 'ENDED' : 'EXPIRED' })
    return new RequestFailed(fatalCodes.has(code) ? 'BAD_REQUEST' : 'UNREACHABLE', text)
  }
}

/**
 * Constructs the socket. Some platforms throw in the constructor, for example for http from an https page; graphql-ws
 * would then wait forever.
 */
function constructSocket(Socket: typeof WebSocket, args: unknown[]): object {
  try {
    return Reflect.construct(Socket, args)
  } catch (error) {
    const refused = { onerror: (_failure: Error) => {}, close: () => {} }
    queueMicrotask(() => refused.onerror(new Error(String(error))))
    return refused
  }
}

/** 4401: unknown token. 4403: expired token, or changed permissions. */
const tokenCodes = new Set([4401, 4403])

/** Close codes that a retry cannot fix: a message is too large, or the protocol is violated. */
const fatalCodes = new Set([1002, 1009, 4004, 4005, 4400, 4406, 4409, 4429])

function closeOf(error: unknown): { code?: number; reason?: string } {
  const isClose = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
  return isClose ? (error as { code: number; reason?: string }) : {}
}

/** A queue of messages. Its reader gets all of them before it sees the end. */
function createInbox<Message>(signal: AbortSignal) {
  const unread: Message[] = []
  let ended: { failure?: RequestFailed } | undefined
  let wake = () => {}
  const end = (failure?: RequestFailed) => {
    ended ??= failure ? { failure } : {}
    wake()
  }
  const stop = () => wake() // wake changes
  return {
    size: () => unread.length,
    put(message: Message) {
      if (!ended) unread.push(message)
      wake()
    },
    end,
    async *taken(): AsyncGenerator<Message, void, void> {
      signal.addEventListener('abort', stop)
      try {
        for (;;) {
          signal.throwIfAborted()
          const message = unread.shift()
          if (message !== undefined) yield message
          else if (ended) break
          else
            await new Promise<void>((resolve) => {
              wake = resolve
            })
        }
        if (ended.failure) throw ended.failure
      } finally {
        signal.removeEventListener('abort', stop)
      }
    },
  }
}
