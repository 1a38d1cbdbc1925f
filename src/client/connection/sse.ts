import { RequestFailed } from './failure.ts'
import {
  type Answer,
  createResponseFailure,
  createUnreachable,
  type Operation,
  parseAnswer,
  refuseNotFinite,
} from './http.ts'
import type { Servers } from './servers.ts'
import { bearerHeader, type Tokens } from './tokens.ts'

/**
 * Reads a subscription as server-sent events. The server sends a first byte at once and then at least every 15 s; 45 s
 * of silence mean a dead connection. If the first byte is missing, a proxy buffers the stream: the failure is
 * `isSilent`.
 */
const beginningMsMax = 15_000
const silenceMsMax = 45_000

export async function* subscribeOverSse<Result>(
  { servers, tokens, onOpen }: { servers: Servers; tokens: Tokens; onOpen: () => void },
  operation: Operation,
  signal: AbortSignal,
): AsyncGenerator<Answer<Result>, void, void> {
  const endpoint = servers.endpoint()
  const leave = new AbortController()
  const token = await tokens.current(signal)
  let isSilent = true
  const body = await open(endpoint, { token, operation }, { leave, signal }).catch((error) => {
    signal.throwIfAborted()
    if (error instanceof RequestFailed) throw error
    if (leave.signal.aborted) throw wasCut(error)
    servers.failed(endpoint)
    throw createUnreachable(endpoint, error)
  })
  try {
    onOpen()
    for await (const { name, data } of readEvents(body, leave, () => (isSilent = false))) {
      if (name === 'complete') return
      const answer = data && parseAnswer<Result>(data)
      if (answer) yield answer
    }
  } catch (error) {
    signal.throwIfAborted()
    throw wasCut(error)
  } finally {
    leave.abort()
  }
  throw wasCut()

  function wasCut(cause?: unknown): RequestFailed {
    servers.failed(endpoint)
    return new RequestFailed('UNREACHABLE', `The stream of ${endpoint.origin} was cut`, {
      cause,
      isSilent: isSilent && leave.signal.aborted,
    })
  }
}

async function open(
  endpoint: URL,
  { token, operation }: { token: string | undefined; operation: Operation },
  { leave, signal }: { leave: AbortController; signal: AbortSignal },
): Promise<ReadableStream<Uint8Array>> {
  const silence = setTimeout(() => leave.abort(), beginningMsMax)
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearerHeader(token) },
      body: JSON.stringify(operation, refuseNotFinite),
      signal: AbortSignal.any([signal, leave.signal]),
    })
    const isStream = response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!isStream || !response.body) throw createResponseFailure(endpoint, response, await response.text())
    return response.body
  } finally {
    clearTimeout(silence)
  }
}

async function* readEvents(body: ReadableStream<Uint8Array>, leave: AbortController, onByte: () => void) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let waitMs = beginningMsMax; ; waitMs = silenceMsMax) {
    const silence = setTimeout(() => leave.abort(), waitMs)
    const { done, value } = await reader.read().finally(() => clearTimeout(silence))
    if (done) return
    onByte()
    text += decoder.decode(value, { stream: true }).replaceAll('\r', '')
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) yield parseEvent(event)
  }
}

/** Lines that start with a colon are keep-alive comments. */
function parseEvent(text: string) {
  const valuesOf = (field: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).replace(/^ /, ''))
  return { name: valuesOf('event').join(), data: valuesOf('data').join('\n') }
}
