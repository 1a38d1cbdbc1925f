import { createClient, type SubscribePayload } from 'graphql-ws/client'
import { createFailure, type GraphqlError, RequestFailed } from './failure.ts'
import type { Answer, Operation } from './http.ts'
import type { Servers } from './servers.ts'
import type { Open } from './streams.ts'
import { bearerHeader, type Tokens } from './tokens.ts'

/**
 * Subscriptions over one WebSocket that opens with the first stream and closes with the last. A broken connection ends
 * all of its streams with a failure; coming back is the work of streams.ts.
 *
 * A socket cannot be read slowly: from `unreadMax` messages on a stream leaves, and subscribes again from its cursor when
 * its reader has taken them. So a slow reader neither grows the heap nor holds back the other streams.
 */

export interface SocketStreams {
  subscribe: Open
  close(): Promise<void>
}

interface SocketOptions {
  servers: Servers
  tokens: Tokens
  /** The class to use instead of the platform's WebSocket. */
  webSocket?: unknown
}

const unreadMax = 64
const pingEveryMs = 10_000
const pongWaitMs = 5_000
const ackWaitMs = 15_000

export function createSocketStreams({ servers, tokens, webSocket }: SocketOptions): SocketStreams {
  const Socket = webSocket ?? globalThis.WebSocket
  if (Socket === undefined)
    throw new TypeError(
      "There is no WebSocket here: use Node 22 or newer, give a class as `webSocket`, or `transports: ['sse', 'polling']`",
    )
  let endpoint = servers.endpoint()
  let isWelcome = false
  const unopened = new Set<() => void>()
  let pongTimer: ReturnType<typeof setTimeout> | undefined
  const client = createClient({
    url: () => {
      endpoint = servers.endpoint()
      return endpoint.href.replace(/^http/, 'ws')
    },
    webSocketImpl: new Proxy(Socket as typeof WebSocket, { construct: connecting }),
    connectionParams: async () => bearerHeader(await tokens.current()),
    keepAlive: pingEveryMs,
    connectionAckWaitTimeout: ackWaitMs,
    retryAttempts: 0,
    on: {
      connecting: () => {
        isWelcome = false
      },
      connected: () => {
        isWelcome = true
        for (const onOpen of unopened) onOpen()
        unopened.clear()
      },
      ping: (received) => {
        if (!received) pongTimer = setTimeout(() => client.terminate(), pongWaitMs)
      },
      pong: (received) => {
        if (received) clearTimeout(pongTimer)
      },
      error: () => clearTimeout(pongTimer),
      closed: () => clearTimeout(pongTimer),
    },
  })

  function failureFrom(error: unknown): RequestFailed {
    if (Array.isArray(error)) return createFailure(error as GraphqlError[])
    const { code, reason } = closeOf(error)
    if (!isWelcome) servers.failed(endpoint)
    if (code === undefined) {
      const what = isWelcome
        ? `The connection to ${endpoint.origin} broke`
        : `No WebSocket can be opened to ${endpoint.href}`
      return new RequestFailed('UNREACHABLE', what, { cause: error })
    }
    const text = `The server closed the connection (${code}${reason ? `, ${reason}` : ''})`
    if (tokenCodes.has(code))
      return new RequestFailed('UNAUTHENTICATED', text, { token: isWelcome ? 'ENDED' : 'EXPIRED' })
    return new RequestFailed(fatalCodes.has(code) ? 'BAD_REQUEST' : 'UNREACHABLE', text)
  }

  return {
    async *subscribe<Result>(operation: Operation, signal: AbortSignal, onOpen: () => void) {
      for (let isLeft = true; isLeft; ) {
        isLeft = false
        const inbox = createInbox<Answer<Result>>(signal)
        const leave = client.subscribe<Result>(operation as SubscribePayload, {
          next: (answer) => {
            if (isLeft) return
            inbox.put(answer as Answer<Result>)
            if (inbox.size() < unreadMax) return
            isLeft = true
            inbox.end()
            leave()
          },
          error: (error) => inbox.end(failureFrom(error)),
          complete: () => inbox.end(),
        })
        // On a connection that is open already, only an answer says that the server accepts the operation.
        if (!isWelcome) unopened.add(onOpen)
        try {
          yield* inbox.taken()
        } finally {
          unopened.delete(onOpen)
          leave()
        }
      }
    },
    // It waits for a connection that is being made, and rejects when that fails: then there is none to close.
    close: async () => void (await Promise.allSettled([client.dispose()])),
  }
}

/**
 * A platform may refuse a connection in the constructor, as from a page of https to http. graphql-ws would wait for ever, so
 * the failure is told as that of any other connection.
 */
function connecting(Socket: typeof WebSocket, args: unknown[]): object {
  try {
    return Reflect.construct(Socket, args)
  } catch (error) {
    const refused = { onerror: (_failure: Error) => {}, close: () => {} }
    queueMicrotask(() => refused.onerror(new Error(String(error))))
    return refused
  }
}

/** 4401: no such token. 4403: it has expired, or what it permits has changed. */
const tokenCodes = new Set([4401, 4403])

/** The same again would fail again: too large a message, and violations of the protocol. */
const fatalCodes = new Set([1002, 1009, 4004, 4005, 4400, 4406, 4409, 4429])

function closeOf(error: unknown): { code?: number; reason?: string } {
  const isClose = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
  return isClose ? (error as { code: number; reason?: string }) : {}
}

/** Messages between the one who puts and the one who takes; those before the end are taken before it is told. */
function createInbox<Message>(signal: AbortSignal) {
  const unread: Message[] = []
  let ended: { failure?: RequestFailed } | undefined
  let wake = () => {}
  const end = (failure?: RequestFailed) => {
    ended ??= failure ? { failure } : {}
    wake()
  }
  const stop = () => wake()
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
