import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

/** Callers of the server: plain HTTP with any headers, SSE, and the stock WebSocket client. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface Sent {
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string
  /** false: over a new connection. */
  agent?: false
}

/** Sends headers as given, including Host, which `fetch` would not send. */
export function send(url: string, sent: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    open(url, sent, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    }).on('error', reject)
  })
}

function open(
  url: string,
  { method = 'POST', path = '/graphql', headers = {}, body, ...connection }: Sent,
  answer: (r: IncomingMessage) => void,
) {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const request = httpRequest(new URL(path, url), { method, headers: { ...length, ...headers }, ...connection }, answer)
  request.end(body)
  return request
}

export interface GraphqlError {
  message: string
  path?: (string | number)[]
  extensions: { code: string; requestId?: string; retryAfterSeconds?: number }
}

export interface Result {
  // The query of the test determines the type.
  data: Record<string, Json> | null
  errors?: GraphqlError[]
  extensions?: { cost?: number }
}

/** Tests know the types of the responses that they request. */
export type Json = ReturnType<typeof JSON.parse>

const json = { 'content-type': 'application/json' }

export async function ask(
  url: string,
  query: string,
  variables: object = {},
  token?: string,
): Promise<Result & { status: number }> {
  const headers = { ...json, ...(token && { authorization: `Bearer ${token}` }) }
  const answer = await send(url, { headers, body: JSON.stringify({ query, variables }) })
  return { status: answer.status, ...(JSON.parse(answer.text) as Result) }
}

/** Returns the data of a query that must succeed. */
export async function data(
  url: string,
  query: string,
  variables: object = {},
  token?: string,
): Promise<Record<string, Json>> {
  const { data: answer, errors } = await ask(url, query, variables, token)
  if (errors || !answer) throw new Error(JSON.stringify(errors))
  return answer
}

export interface Stream extends AsyncIterator<Result, void, void> {
  /** Cuts the connection without a closing message. */
  cut(): void
}

/** A subscription over SSE. Ends with `complete`; throws when the connection ends without it. */
export function streamSse(url: string, query: string, variables: object = {}): Stream & AsyncIterable<Result> {
  const sent = { headers: { ...json, accept: 'text/event-stream' }, body: JSON.stringify({ query, variables }) }
  let request: ReturnType<typeof open> | undefined
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request = open(url, sent, resolve).on('error', reject)
  })
  const events = readEvents(response)
  const stream = {
    next: () => events.next(),
    cut: () => void request?.destroy(),
    [Symbol.asyncIterator]: () => stream,
  }
  return stream
}

async function* readEvents(response: Promise<IncomingMessage>): AsyncGenerator<Result, void, void> {
  let text = ''
  for await (const chunk of await response) {
    text += String(chunk)
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end)
      text = text.slice(end + 2)
      if (event.startsWith('event: complete')) return
      const payload = event.match(/^data: (.*)$/m)?.[1]
      if (payload) yield JSON.parse(payload) as Result
    }
  }
  throw new Error('The stream was cut')
}

/** A subscription or query over a separate WebSocket. Throws the list of the operation's errors. */
export function streamSocket(
  url: string,
  query: string,
  variables: object = {},
  { authorization, headers, ...more }: More = {},
): Stream & AsyncIterable<Result> {
  let socket: WebSocket | undefined
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: headers ? withHeaders(headers) : WebSocket,
    retryAttempts: 0,
    connectionParams: authorization === undefined ? {} : { authorization },
    on: {
      opened: (opened) => {
        socket = opened as WebSocket
      },
    },
  })
  const results = client.iterate({ query, variables: { ...variables }, ...(more as object) })
  const stream = {
    next: () => results.next() as Promise<IteratorResult<Result, void>>,
    return: async () => {
      await results.return?.()
      return { done: true as const, value: undefined }
    },
    cut: () => socket?.terminate(),
    [Symbol.asyncIterator]: () => stream,
  }
  return stream
}

const withHeaders = (headers: Record<string, string>) =>
  class extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers })
    }
  }

/** Further fields of a request. */
export interface More {
  headers?: Record<string, string>
  authorization?: string
  operationName?: string
  documentId?: string
  extensions?: object
}

function asked(
  { authorization, headers: given, ...more }: More,
  body: object,
  accept: Record<string, string> = {},
): Sent {
  const headers = { ...json, ...accept, ...given, ...(authorization === undefined ? {} : { authorization }) }
  return { headers, body: JSON.stringify({ ...body, ...more }) }
}

/** The response of any of the three transports, in one form. */
export const transports = {
  http: async (url: string, query: string | undefined, variables: object = {}, more: More = {}) => {
    const { status, headers, text } = await send(url, asked(more, { query, variables }))
    return { status, headers, ...(JSON.parse(text) as Result) }
  },
  sse: async (url: string, query: string | undefined, variables: object = {}, more: More = {}) => {
    const answer = await send(url, asked(more, { query, variables }, { accept: 'text/event-stream' }))
    const payload = answer.text.match(/^data: (.*)$/m)?.[1] ?? answer.text
    return JSON.parse(payload) as Result
  },
  socket: async (url: string, query = '', variables: object = {}, more: More = {}): Promise<Result> => {
    try {
      const first = await streamSocket(url, query, variables, more).next()
      return first.value ?? { data: null }
    } catch (error) {
      if (Array.isArray(error)) return { data: null, errors: error as GraphqlError[] }
      throw error
    }
  },
} as const
