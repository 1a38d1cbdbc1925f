import type { IncomingMessage, ServerResponse } from 'node:http'
import { buildErrorBody } from '../errors.ts'
import { sendJson } from './refused-bodies.ts'

/** What a client may send, and what it may be answered with, by the headers of its request. */

const corsMaxAgeSeconds = 600

/** false: the request was answered here, because it is a preflight, or accepts no type that the server sends. */
export function negotiateContent(
  request: IncomingMessage,
  response: ServerResponse,
  allowedHeaders: readonly string[],
): boolean {
  const { method, headers } = request
  if (method === 'OPTIONS') preflight(response, allowedHeaders)
  else if (method !== 'GET' && method !== 'POST') methodNotAllowed(response)
  else if (!isAcceptable(request)) sendJson(response, 406, buildErrorBody('BAD_REQUEST', notAcceptableText))
  else {
    // Proxies hold streams back otherwise.
    if (headers.accept?.includes('text/event-stream')) response.setHeader('x-accel-buffering', 'no')
    return true
  }
  return false
}

/** Only origins that the gate lets through come this far. Never with credentials: there are no cookies to send. */
export function allowOrigin({ headers: { origin } }: IncomingMessage, response: ServerResponse) {
  response.setHeader('vary', 'Origin')
  if (origin === undefined) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', 'retry-after')
}

/** What pages send: the login, traces, and the names by which Apollo's client introduces itself. */
const headersOfPages = [
  'authorization',
  'content-type',
  'traceparent',
  'tracestate',
  'apollographql-client-name',
  'apollographql-client-version',
]

function preflight(response: ServerResponse, allowedHeaders: readonly string[]) {
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': [...headersOfPages, ...allowedHeaders].join(', '),
    'access-control-max-age': String(corsMaxAgeSeconds),
  })
  response.end()
}

function methodNotAllowed(response: ServerResponse) {
  response.setHeader('allow', 'GET, POST, OPTIONS')
  const message =
    'Use GET or POST. The single connection mode of graphql-sse is not supported; open a connection for each stream'
  sendJson(response, 405, buildErrorBody('BAD_REQUEST', message))
}

/** A browser that asks for a page by GET gets GraphiQL. */
const isAcceptable = ({ method, headers: { accept } }: IncomingMessage) =>
  accept === undefined ||
  (method === 'GET' && accept.includes('text/html')) ||
  /(^|[\s,])(\*\/\*|application\/(\*|json|graphql-response\+json)|text\/(\*|event-stream))($|[\s,;])/i.test(accept)

const notAcceptableText =
  'Answers are application/graphql-response+json, application/json or text/event-stream; name one of them in Accept'
