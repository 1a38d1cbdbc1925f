import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { failureOf, type GraphqlError, RequestFailed } from './failure.ts'
import type { TypedDocumentString } from './generated/graphql.ts'
import { type Flow, followed, type Resumable } from './resume.ts'
import { retryWaitMs, withAttempts } from './retry.ts'

/**
 * One server: requests over HTTP, live streams over one WebSocket that opens with the first stream, closes with the
 * last, and reconnects for as long as a stream has a reader.
 */

export interface Connection {
  readonly url: string
  /** Throws RequestFailed. `attempts` above 1 is only for requests that are safe to repeat. */
  request<Result extends object, Variables>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    options?: { attempts?: number },
  ): Promise<Result>
  /** The messages after `variables.after`, over any number of connections. */
  follow<Result extends object, Variables extends Resumable>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
  ): AsyncGenerator<Result, void, void>
  close(): Promise<void>
}

interface ConnectionOptions {
  /** URL of the server without /graphql. */
  url: string
  token?: string | undefined
  sleep?: (ms: number) => Promise<unknown>
}

const requestMsMax = 30_000
const pingEveryMs = 10_000
const pongWaitMs = 5_000

export function connect({ url, token, sleep = pause }: ConnectionOptions): Connection {
  const endpoint = new URL('graphql', url.endsWith('/') ? url : `${url}/`)
  const authorization = token ? `Bearer ${token}` : undefined
  const sockets = createSockets(endpoint, authorization, sleep)
  return {
    url,
    request: (document, variables, { attempts = 1 } = {}) =>
      withAttempts(() => post({ endpoint, authorization, query: document.toString(), variables }), {
        attempts,
        sleep,
        again: (outcome) =>
          'error' in outcome
            ? outcome.error instanceof RequestFailed && outcome.error.retryable
            : isRetryableProblem(outcome.result),
      }),
    follow: (document, variables) => followed(sockets.client, { query: document.toString(), variables }, sockets.flow),
    // It waits for a connection that is being made, and rejects when that fails: then there is none to close.
    close: async () => void (await Promise.allSettled([sockets.client.dispose()])),
  }
}

/** Whether the data is a refusal that allows a later try. */
const isRetryableProblem = (data: object) =>
  Object.values(data).some(
    (field: unknown) => typeof field === 'object' && field !== null && 'retryable' in field && field.retryable === true,
  )

interface Post {
  endpoint: URL
  authorization: string | undefined
  query: string
  variables: unknown
}

async function post<Result>({ endpoint, authorization, query, variables }: Post): Promise<Result> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(requestMsMax),
  }).catch((error: Error) => {
    throw error.name === 'TimeoutError'
      ? new RequestFailed('TIMEOUT', `${endpoint.origin} did not answer within ${requestMsMax / 1_000} s`)
      : new RequestFailed('UNREACHABLE', `No server answers at ${endpoint.origin}`, { cause: error })
  })
  const text = await response.text()
  const answer = parseAnswer<Result>(text)
  if (answer?.errors) throw failureOf(answer.errors)
  if (answer?.data) return answer.data
  const reason = `${endpoint.origin} answered ${response.status}: ${text.slice(0, 200).trim()}`
  throw new RequestFailed(response.status >= 502 ? 'UNREACHABLE' : codeOfStatus(response.status), reason)
}

/** The gate of the server answers in plain text, so only the status says the code. */
function codeOfStatus(status: number): string {
  if (status === 401) return 'UNAUTHENTICATED'
  if (status === 403) return 'FORBIDDEN'
  if (status === 429) return 'RATE_LIMITED'
  return status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST'
}

interface Answer<Result> {
  data?: Result | null
  errors?: GraphqlError[]
}

function parseAnswer<Result>(text: string): Answer<Result> | undefined {
  try {
    return JSON.parse(text) as Answer<Result>
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const isForbidden = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 4403

/** The shared socket, and its flow control. Pings detect a silent server, except while the client itself has paused. */
function createSockets(endpoint: URL, authorization: string | undefined, sleep: (ms: number) => Promise<unknown>) {
  let socket: WebSocket | undefined
  let pongTimer: NodeJS.Timeout | undefined
  let welcome = false
  const client = createClient({
    url: endpoint.href.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: authorization ? { authorization } : {},
    keepAlive: pingEveryMs,
    retryAttempts: Number.POSITIVE_INFINITY,
    // 4403 refuses the token. Another try makes sense only if the server accepted the token before.
    shouldRetry: (error) => welcome || !isForbidden(error),
    retryWait: async (retries) => void (await sleep(retryWaitMs(retries))),
    on: {
      connecting: () => {
        welcome = false
      },
      opened: (opened) => {
        socket = opened as WebSocket
      },
      connected: () => {
        welcome = true
      },
      ping: (received) => {
        if (received || socket?.isPaused) return
        pongTimer = setTimeout(() => client.terminate(), pongWaitMs)
      },
      pong: (received) => {
        if (received) clearTimeout(pongTimer)
      },
      closed: () => clearTimeout(pongTimer),
    },
  })
  const flow: Flow = {
    pause: () => {
      clearTimeout(pongTimer)
      if (socket?.readyState === WebSocket.OPEN) socket.pause()
    },
    resume: () => {
      if (socket?.isPaused) socket.resume()
    },
    rest: (failures) => sleep(retryWaitMs(failures)),
  }
  return { client, flow }
}
