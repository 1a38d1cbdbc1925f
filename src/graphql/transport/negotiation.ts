import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuseMethod, sendError } from './refused-bodies.ts'

const corsMaxAgeSeconds = 600

/**
 * false: the response was already sent, because of a preflight, a wrong method, or an Accept header without a supported
 * type.
 */
export function negotiateContent(
  request: IncomingMessage,
  response: ServerResponse,
  allowedHeaders: readonly string[],
): boolean {
  const { method, headers } = request
  if (method === 'OPTIONS') sendPreflight(response, allowedHeaders)
  else if (method !== 'GET' && method !== 'POST') refuseMethod(response, 'GET, POST, OPTIONS', wrongMethodText)
  else if (!isAcceptable(request)) sendError(response, 406, 'BAD_REQUEST', notAcceptableText)
  else {
    // Without this header, proxies buffer streams.
    if (headers.accept?.includes('text/event-stream')) response.setHeader('x-accel-buffering', 'no')
    return true
  }
  return false
}

/**
 * Allows the origin, which the gate has already checked. Credentials are not allowed, because the server uses no
 * cookies.
 */
export function allowOrigin({ headers: { origin } }: IncomingMessage, response: ServerResponse) {
  response.setHeader('vary', 'Origin')
  if (origin === undefined) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', 'retry-after, x-request-id')
}

const usualHeaders = [
  'authorization',
  'content-type',
  'last-event-id',
  'traceparent',
  'tracestate',
  'x-request-id',
  'apollographql-client-name',
  'apollographql-client-version',
]

export function sendPreflight(response: ServerResponse, allowedHeaders: readonly string[]) {
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': [...usualHeaders, ...allowedHeaders].join(', '),
    'access-control-max-age': String(corsMaxAgeSeconds),
  })
  response.end()
}

const wrongMethodText =
  'Use GET or POST. The single connection mode of graphql-sse is not supported; open a connection for each stream'

/** text/html is accepted for browsers, which get GraphiQL. */
const isAcceptable = ({ method, headers: { accept } }: IncomingMessage) =>
  accept === undefined ||
  (method === 'GET' && accept.includes('text/html')) ||
  /(^|[\s,])(\*\/\*|application\/(\*|json|graphql-response\+json)|text\/(\*|event-stream))($|[\s,;])/i.test(accept)

const notAcceptableText =
  'Responses are application/graphql-response+json, application/json or text/event-stream; put one of them into Accept'
