import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core'
import { makeCancellable } from './cancellable.ts'
import { createFailure, RequestFailed, readRetryMs } from './failure.ts'
import {
  type Answer,
  createSend,
  type DownloadOptions,
  download,
  type Operation,
  type UploadAnswer,
  upload,
} from './http.ts'
import { hasFewConnections } from './http1-browser.ts'
import { platformNetwork } from './online.ts'
import { createOutages } from './outages.ts'
import type { Resumable } from './resume.ts'
import { withAttempts } from './retry.ts'
import { createServers } from './servers.ts'
import { type Sleep, sleepFor } from './sleep.ts'
import { SocketStreams } from './sockets.ts'
import { subscribeOverSse } from './sse.ts'
import { rotateStreams } from './sse-rotation.ts'
import {
  checkTransports,
  type Routes,
  type StreamOptions,
  streamAnswers,
  streamData,
  type Transport,
  transports,
} from './streams.ts'
import { createTokens, type TokenSource } from './tokens.ts'

/** A document of this package or of your own code generator (`documentMode: 'string'`), or a text, for which you name the types. */
export type TypedDocument<Result, Variables> = DocumentTypeDecoration<Result, Variables> &
  Pick<string, 'length' | 'toString'>

/** Requests over HTTP, and subscriptions over WebSocket, server-sent events or polling, in Node and in browsers. */
export interface Connection {
  /** URL of the first server. */
  readonly url: string
  /** Sends a document and returns the data of the response. Throws RequestFailed. */
  request<Result extends object, Variables>(
    document: TypedDocument<Result, Variables>,
    variables: Variables,
    options?: RequestOptions,
  ): Promise<Result>
  /** Yields the messages of a subscription after the cursor `variables.after`. Reconnects as often as needed. */
  subscribe<Result extends object, Variables extends Resumable>(
    document: TypedDocument<Result, Variables>,
    variables: Variables,
    options?: StreamOptions<Result, Variables>,
  ): AsyncGenerator<Result, void, void>
  /** Returns the response with its errors, for links and exchanges. Throws RequestFailed if none arrives. */
  ask<Result>(operation: Operation, signal?: AbortSignal): Promise<Answer<Result>>
  /** Like `subscribe`, but yields responses with their errors, for links and exchanges. */
  stream<Result extends object>(operation: Operation, signal?: AbortSignal): AsyncGenerator<Answer<Result>, void, void>
  /** Streams a body to an upload URL of the server. Works in Node, and in browsers that can send streams. */
  upload(
    address: string,
    body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<UploadAnswer>
  /** Streams the file at a download URL of the server. */
  download(address: string, options?: DownloadOptions): AsyncGenerator<Uint8Array, void, void>
  /**
   * Why a stream is disconnected, or why a request with several attempts has no response yet; null: neither. The client
   * retries both automatically.
   */
  outage(): RequestFailed | null
  /** Calls the listener when `outage` changes; the returned function unsubscribes. */
  onOutage(listener: () => void): () => void
  close(): Promise<void>
}

export interface RequestOptions {
  /** Maximum number of tries; above 1 only for requests that are safe to repeat. Default 1. */
  attempts?: number
  signal?: AbortSignal | undefined
}

export interface ConnectionOptions {
  /** URL of the server, or of several servers over one database. If one does not respond, the client uses the next. */
  url: string | readonly string[]
  token?: TokenSource | undefined
  /** Transports of subscriptions, in the order in which they are tried. Default: websocket, sse, polling. */
  transports?: readonly Transport[]
  /** The class to use instead of the platform's WebSocket. */
  webSocket?: unknown
  sleep?: Sleep
}

/** true: the server is unreachable. A server that applies a rate limit is not. */
const isAway = (error: unknown): error is RequestFailed =>
  error instanceof RequestFailed && ['UNREACHABLE', 'UNAVAILABLE', 'TIMEOUT'].includes(error.code)

export function openConnection({ url, token, webSocket, sleep = sleepFor, ...options }: ConnectionOptions): Connection {
  const servers = createServers(url)
  const first = servers.endpoint()
  const tokens = createTokens(token)
  const ask = createSend(servers, tokens)
  const named = checkTransports(options.transports ?? transports)
  const sockets = named.includes('websocket')
    ? new SocketStreams(servers, tokens, webSocket ?? globalThis.WebSocket)
    : null
  const closing = new AbortController()
  const outages = createOutages(sleep)
  const routes: Routes = {
    transports: named,
    ...(sockets && { websocket: (...asked) => sockets.subscribe(...asked) }),
    sse: rotateStreams(
      (operation, signal, onOpen) => subscribeOverSse({ servers, tokens, onOpen }, operation, signal),
      () => hasFewConnections(servers.endpoint()),
    ),
    tokens,
    sleep,
    network: platformNetwork,
    nowMs: () => performance.now(),
    outages,
    silence: { untilMs: 0 },
    closed: closing.signal,
  }
  return {
    url: first.href.replace(/\/graphql$/, ''),
    request<Result extends object, Variables>(
      document: TypedDocument<Result, Variables>,
      variables: Variables,
      { attempts = 1, signal }: RequestOptions = {},
    ) {
      const outage = outages.track()
      return withAttempts(() => dataOf(ask<Result>({ query: document.toString(), variables }, signal)), {
        attempts,
        sleep,
        signal,
        again(outcome) {
          const waitMs = again(outcome)
          if (waitMs !== null && 'error' in outcome && isAway(outcome.error)) outage.begins(outcome.error)
          return waitMs
        },
      }).finally(outage.ends)
    },
    subscribe: (document, variables, stream) =>
      makeCancellable(
        (signal) => streamData(routes, { query: document.toString(), variables }, { ...stream, signal }),
        stream?.signal,
      ),
    ask,
    stream: (operation, signal) =>
      streamAnswers(routes, { ...operation, variables: (operation.variables ?? {}) as Resumable }, { signal }),
    upload: (address, body, { signal } = {}) => upload(servers, address, { body, signal }),
    download: (address, options = {}) => download(servers, address, options),
    outage: outages.current,
    onOutage: outages.onChange,
    async close() {
      closing.abort()
      await sockets?.close()
    },
  }
}

async function dataOf<Result extends object>(asked: Promise<Answer<Result>>): Promise<Result> {
  const { data, errors } = await asked
  if (errors || !data) throw createFailure(errors ?? [])
  return data
}

/** Returns the wait before a retry of a retryable failure or refusal; null: do not retry. */
function again(outcome: { result: object } | { error: unknown }): number | null {
  if ('error' in outcome) return readRetryMs(outcome.error)
  for (const field of Object.values(outcome.result) as unknown[])
    if (typeof field === 'object' && field !== null && 'retryable' in field && field.retryable === true) return 0
  return null
}
