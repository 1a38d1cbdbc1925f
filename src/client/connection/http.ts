import { createFailure, type GraphqlError, RequestFailed } from './failure.ts'
import { hasFewConnections } from './http1-browser.ts'
import type { Servers } from './servers.ts'
import { bearerHeader, type Tokens } from './tokens.ts'

export interface Operation {
  query: string
  variables?: unknown
  operationName?: string | undefined
  extensions?: Readonly<Record<string, unknown>> | undefined
}

/** A replacer for JSON.stringify, which would write NaN and infinity as null, and null removes a value. */
export function refuseNotFinite(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new RangeError(`${key}: ${value} is not a finite number`)
  return value
}

/** The result of an operation: data, errors, or both. */
export interface Answer<Result> {
  data?: Result | null
  errors?: readonly GraphqlError[]
  extensions?: Record<string, unknown>
}

const requestMsMax = 30_000
/** Maximum for Retry-After: proxies may send any number, and timers above 24 days fire at once. */
const retryAfterMsMax = 600_000

/**
 * Creates the function that sends a document. If the token has expired, it renews the token and sends the document
 * again, which is safe because the server has not executed it. Throws RequestFailed if no GraphQL response arrives.
 */
export const createSend = (servers: Servers, tokens: Tokens) =>
  async function ask<Result>(operation: Operation, signal?: AbortSignal): Promise<Answer<Result>> {
    const token = await tokens.current(signal)
    const send = (shown: string | undefined) => post<Result>(servers, operation, { token: shown, signal })
    const answer = await send(token).catch(async (error: unknown) => {
      if (error instanceof RequestFailed && error.token && (await tokens.renew(token, signal))) return null
      throw error
    })
    return answer ?? send(await tokens.current(signal))
  }

async function post<Result>(
  servers: Servers,
  operation: Operation,
  { token, signal }: { token: string | undefined; signal: AbortSignal | undefined },
): Promise<Answer<Result>> {
  const body = JSON.stringify(operation, refuseNotFinite)
  const endpoint = servers.endpoint()
  const limit = AbortSignal.timeout(requestMsMax)
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearerHeader(token) },
      body,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    const text = await response.text()
    const answer = parseAnswer<Result>(text)
    const isLost = response.redirected && (!response.ok || answer?.errors?.[0]?.extensions?.code === 'BAD_REQUEST')
    if (response.status === 401 || isLost || !(answer?.errors || answer?.data))
      throw createResponseFailure(endpoint, response, text)
    if (answer.errors?.[0]?.extensions?.code === 'UNAUTHENTICATED') throw createFailure(answer.errors)
    return answer
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof RequestFailed) throw error
    servers.failed(endpoint)
    throw limit.aborted
      ? new RequestFailed(
          'TIMEOUT',
          `${endpoint.origin} did not answer within ${requestMsMax / 1_000} s${scarcityOf(endpoint)}`,
        )
      : createUnreachable(endpoint, error)
  }
}

/** Hashes of contents that the server lacks, and the upload URL; null: the server has all contents. */
export interface UploadAnswer {
  missing: readonly string[]
  uploadUrl: string | null
}

/**
 * Node requires `duplex` for a stream. Its fetch keeps a copy of the whole body in memory, to send it again, unless
 * redirects are errors and the window is null.
 */
const streamed = { method: 'PUT', duplex: 'half', redirect: 'error', window: null } as const

/** Sends a body to an upload URL from the server. Throws RequestFailed, or the error of the body. */
export async function upload(
  servers: Servers,
  address: string,
  { body, signal }: { body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>; signal: AbortSignal | undefined },
): Promise<UploadAnswer> {
  const endpoint = servers.endpoint()
  const pieces = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]()
  let failure: { error: unknown } | undefined
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        failure = { error }
        controller.error(error)
      }
    },
    cancel: async () => void (await pieces.return?.()),
  })
  try {
    const request = { ...streamed, body: stream, ...(signal && { signal }) }
    const response = await fetch(`${endpoint.href.replace(/\/graphql$/, '')}${address}`, request)
    const text = await response.text()
    const answer = parseAnswer<never>(text)
    if (!response.ok || !answer) throw createResponseFailure(endpoint, response, text)
    return answer as unknown as UploadAnswer
  } catch (error) {
    signal?.throwIfAborted()
    if (failure) throw failure.error
    if (error instanceof RequestFailed) throw error
    servers.failed(endpoint)
    throw createUnreachable(endpoint, error)
  }
}

export interface DownloadOptions {
  /** Number of bytes to skip. */
  from?: number
  signal?: AbortSignal | undefined
}

/** Reads a file from a download URL of the server. Throws RequestFailed. */
export async function* download(
  servers: Servers,
  address: string,
  { from = 0, signal }: DownloadOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const endpoint = servers.endpoint()
  try {
    const response = await fetch(`${endpoint.href.replace(/\/graphql$/, '')}${address}`, {
      ...(from > 0 && { headers: { range: `bytes=${from}-` } }),
      ...(signal && { signal }),
    })
    if (!response.ok) throw createResponseFailure(endpoint, response, await response.text())
    if (from > 0 && response.status !== 206) {
      await response.body?.cancel()
      throw new RequestFailed('BAD_REQUEST', `${endpoint.origin} ignores byte ranges; a proxy may remove them`)
    }
    for await (const piece of response.body ?? []) yield piece
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof RequestFailed) throw error
    servers.failed(endpoint)
    throw createUnreachable(endpoint, error)
  }
}

const scarcityOf = (endpoint: URL) =>
  hasFewConnections(endpoint)
    ? '; streams of other pages may have all six connections of this browser to it: let WebSockets pass, or serve HTTP/2'
    : ''

export const createUnreachable = (endpoint: URL, cause: unknown) =>
  new RequestFailed('UNREACHABLE', `No server answers at ${endpoint.origin}${reasonOf(cause)}`, { cause })

/** The reason of a failed request, such as an untrusted certificate. Node gives one; browsers do not. */
const reasonOf = (error: unknown) =>
  error instanceof Error && error.cause instanceof Error && error.cause.message ? `: ${shortReason(error.cause)}` : ''

/** Returns the readable reason of OpenSSL, whose message contains memory addresses and source files. */
function shortReason(cause: Error & { reason?: unknown }): string {
  const reason = typeof cause.reason === 'string' && cause.reason !== '' ? cause.reason : cause.message
  return explained[reason] ?? reason
}

const plainHttp = 'the server speaks HTTP, not HTTPS; write http://'
const explained: Readonly<Record<string, string>> = {
  'wrong version number': plainHttp,
  'packet length too long': plainHttp,
  'bad port': 'browsers and Node block this port; serve on another one',
}

/** Creates the failure for a response without a GraphQL result, from the server's gate or from a proxy. */
export function createResponseFailure(endpoint: URL, response: Response, text: string): RequestFailed {
  const { status, headers } = response
  const retryAfterMs = Math.min((Number(headers.get('retry-after')) || 0) * 1_000, retryAfterMsMax)
  const token = status === 401 ? ({ token: 'EXPIRED' } as const) : {}
  const errors = parseAnswer(text)?.errors
  if (errors && !response.redirected) return createFailure(errors, { retryAfterMs, ...token })
  // A redirect may turn the request into a GET and drop its token.
  const from = response.redirected
    ? `${endpoint.href} redirects to ${response.url} (use that URL), which`
    : endpoint.href
  const reason = `${from} answered ${status}: ${wordsOf(text).slice(0, reasonCharactersMax).trim()}`
  const code = status >= 502 ? 'UNREACHABLE' : codeOfStatus(status)
  return new RequestFailed(code, reason, { retryAfterMs, isForeign: true, ...token })
}

/** Longer texts are pages of proxies; the longest refusal of the server's gate is shorter. */
const reasonCharactersMax = 600

const wordsOf = (text: string) => /<title>([^<]*)/i.exec(text)?.[1] ?? text

/** Derives an error code from the HTTP status, because the server's gate responds in plain text without a code. */
function codeOfStatus(status: number): string {
  if (status === 401) return 'UNAUTHENTICATED'
  if (status === 403) return 'FORBIDDEN'
  if (status === 429) return 'RATE_LIMITED'
  return status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST'
}

export function parseAnswer<Result>(text: string): Answer<Result> | undefined {
  try {
    return JSON.parse(text) as Answer<Result>
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
