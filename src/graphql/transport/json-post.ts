import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { type GraphQLParams, processRegularResult } from 'graphql-yoga'
import { anonymous } from '../../domain/access.ts'
import type { Documents } from '../admission/trusted-documents.ts'
import type { Portion } from '../cap-per-key.ts'
import { errorBody } from '../errors.ts'
import { limits } from '../request-limits.ts'
import { type Exchange, endWith } from './compression.ts'
import type { GraphqlEngine, Requester } from './engine.ts'
import type { LargeBodies } from './large-bodies.ts'
import { readBody } from './read-body.ts'
import { answerJson } from './refused-bodies.ts'

/**
 * The ordinary request: a JSON document posted as a whole and answered once. Yoga's transport speaks the Fetch API,
 * whose requests, bodies and streams cost more than executing a mutation, so these are read and answered on the sockets
 * of Node and only executed by yoga, with every hook of the engine. Every body is read here, within its limits;
 * whatever is out of the ordinary (a stream, a subscription, a list, an unknown length, a malformed body) is then left
 * to yoga's transport, which says what is wrong with it.
 */

const typeOfAccept: Readonly<Record<string, string>> = {
  '*/*': 'application/json',
  'application/json': 'application/json',
  'application/graphql-response+json': 'application/graphql-response+json',
  'application/graphql-response+json, application/json': 'application/graphql-response+json',
  // Apollo Client 4 and urql 5.
  'application/graphql-response+json,application/json;q=0.9': 'application/graphql-response+json',
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed':
    'application/graphql-response+json',
}

/** The request that the hooks of yoga see; its body was read already. */
const posted = new Request('http://localhost/graphql', { method: 'POST' })

/** The type of the answer; null: the request is left to yoga. */
function ordinary({ headers }: IncomingMessage): string | null {
  if (headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined) return null
  if (!/^[1-9]\d*$/.test(headers['content-length'] ?? '')) return null
  return typeOfAccept[headers.accept ?? '*/*'] ?? null
}

interface Answering {
  engine: GraphqlEngine
  documents: Documents
}

export async function answerPost(
  { portion, largeBodies, ...answering }: Answering & { portion: Portion; largeBodies: LargeBodies },
  caller: Requester,
  { request, response }: Exchange,
): Promise<void> {
  if (request.method !== 'POST') return void (await answering.engine(request, response, caller))
  const text = await bodyOf(caller, portion, { request, response })
  if (text === null) return
  const sender = { userId: caller.viewer.userId, bytes: text.length, response }
  await largeBodies(sender, () => answerBody(answering, caller, { request, response, text }))
}

async function answerBody(
  { engine, documents }: Answering,
  caller: Requester,
  { request, response, text }: Exchange & { text: string },
): Promise<void> {
  const type = ordinary(request)
  const params = type && parseParams(text, (given) => documents.resolve(given, caller.viewer))
  if (!params) return leave(engine, caller, { request, response, text })
  const result = await engine.getResultForParams({ params, request: posted }, { ...caller })
  if (!result || Symbol.asyncIterator in result)
    throw new Error('A document that is no subscription was answered by one')
  if (result.errors) return answerErrors(engine, { request, response }, { result, type })
  response.setHeader('content-type', `${type}; charset=utf-8`)
  await endWith({ request, response }, JSON.stringify(result))
}

/** Yoga reads the body that was read already from a stream: of a text it would list every character. */
async function leave(
  engine: GraphqlEngine,
  caller: Requester,
  { request, response, text }: Exchange & { text: string },
): Promise<void> {
  const body = Buffer.from(text)
  const read = Object.assign(request, { body: Readable.from([body]) })
  await engine(read, response, { ...caller, bodyBytes: body.length })
}

/** null: it was refused, or its sender is gone. */
async function bodyOf({ viewer }: Requester, portion: Portion, exchange: Exchange): Promise<string | null> {
  const { request } = exchange
  const bytesMax = viewer === anonymous ? limits.anonymousBodyBytesMax : limits.bodyBytesMax
  const body = await readBody(request, { bytesMax, valuesMax: limits.bodyValuesMax, portion })
  if (typeof body === 'object') return body.text
  if (body === 'gone') return null
  if (body === 'too many values')
    refuse(exchange, 400, `The body contains more than ${limits.bodyValuesMax} values; send it in several requests`)
  else if (body === 'too large' && viewer === anonymous)
    refuse(exchange, 401, `Authentication required: without a token the body is limited to ${bytesMax} bytes`)
  else if (body === 'too large')
    refuse(exchange, 413, `The body is larger than ${bytesMax} bytes; send it in several requests`)
  else
    refuse(exchange, 429, `Your requests under way have ${limits.bodiesBytesMax} bytes; wait for some of their answers`)
  return null
}

const codes = { 400: 'QUERY_TOO_COMPLEX', 401: 'UNAUTHENTICATED', 413: 'BAD_REQUEST', 429: 'RATE_LIMITED' } as const
const retryAfterSeconds = 1

function refuse({ response }: Exchange, status: keyof typeof codes, message: string): void {
  if (status === 429) response.setHeader('retry-after', String(retryAfterSeconds))
  answerJson(response, status, errorBody(codes[status], message, status === 429 ? { retryAfterSeconds } : {}))
}

/** Yoga chooses the status. */
async function answerErrors(engine: GraphqlEngine, exchange: Exchange, { result, type }: Answer): Promise<void> {
  const made = processRegularResult(result, engine.fetchAPI, type)
  const text = await made.text()
  exchange.response.statusCode = made.status
  for (const [name, value] of made.headers) if (name !== 'content-length') exchange.response.setHeader(name, value)
  await endWith(exchange, text)
}

interface Answer {
  result: ExecutionResult
  type: string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Resolve = (params: GraphQLParams) => GraphQLParams

function parseParams(text: string, resolve: Resolve): GraphQLParams | null {
  const body = parseJson(text)
  if (!isObject(body)) return null
  const { query, variables, operationName, extensions, documentId: _, ...rest } = body
  const plain =
    (query == null || typeof query === 'string') &&
    (variables == null || isObject(variables)) &&
    (extensions == null || isObject(extensions)) &&
    (operationName == null || typeof operationName === 'string') &&
    Object.keys(rest).length === 0
  const params = plain ? resolved(body, resolve) : null
  // The word may also be in a query or mutation, which then takes yoga's slower transport.
  return params?.query && !params.query.includes('subscription') ? params : null
}

/** null: the document is refused, and yoga says why. */
function resolved(params: GraphQLParams, resolve: Resolve): GraphQLParams | null {
  try {
    return resolve(params)
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
