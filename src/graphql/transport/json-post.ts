import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { type GraphQLParams, processRegularResult } from 'graphql-yoga'
import { anonymous, type Viewer } from '../../domain/access.ts'
import type { TrustedDocuments } from '../admission/trusted-documents.ts'
import { limits } from '../caller-limits.ts'
import { KeyedLimit, type Share } from '../keyed-limit.ts'
import type { FindAddress } from './client-address.ts'
import { type Exchange, sendCompressible } from './compression.ts'
import type { GraphqlEngine, Requester } from './engine.ts'
import { readBody } from './read-body.ts'
import { sendError, sendRateLimited } from './refused-bodies.ts'

const typeByAccept: Readonly<Record<string, string>> = {
  '*/*': 'application/json',
  'application/json': 'application/json',
  'application/graphql-response+json': 'application/graphql-response+json',
  'application/graphql-response+json, application/json': 'application/graphql-response+json',
  // The Accept header of Apollo Client 4 and urql 5.
  'application/graphql-response+json,application/json;q=0.9': 'application/graphql-response+json',
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed':
    'application/graphql-response+json',
}

/** The request that is passed to yoga's hooks. */
const postRequest = new Request('http://localhost/graphql', { method: 'POST' })

class TooManyLargeBodies extends Error {}

const tooManyLargeBodies =
  `${limits.largeBodiesInFlightMax} of your requests above ${limits.largeBodyBytes} bytes are in flight, ` +
  `and this one waited ${limits.waitMsMax / 1_000} s`

/**
 * Handles JSON requests that are posted as a whole and get one response. It avoids yoga's transport, whose Fetch API
 * costs more than executing a mutation; yoga only executes the document, with all hooks of the engine. All other
 * requests (a stream, a list, an unknown length, a malformed body) go to yoga's transport, after their body was read
 * within the limits.
 */
export class PostHandler {
  readonly #engine: GraphqlEngine
  readonly #documents: TrustedDocuments
  readonly #findAddress: FindAddress
  readonly #bodyBytes = new KeyedLimit(limits.bodyBytesInFlightMax)
  /**
   * Limits large bodies, because parsing one blocks the event loop for a tenth of a second before its cost is known.
   */
  readonly #largeBodies = new KeyedLimit(limits.largeBodiesInFlightMax, {
    msMax: limits.waitMsMax,
    refusal: () => new TooManyLargeBodies(),
  })

  constructor(engine: GraphqlEngine, documents: TrustedDocuments, findAddress: FindAddress) {
    this.#engine = engine
    this.#findAddress = findAddress
    this.#documents = documents
  }

  async handle(requester: Requester, exchange: Exchange): Promise<void> {
    const { viewer } = requester
    const share = this.#bodyBytes.open(
      viewer === anonymous ? (this.#findAddress(exchange.request) ?? '') : viewer.userId,
    )
    const onStreamStart = (end: () => void) => {
      share.release()
      requester.onStreamStart?.(end)
    }
    try {
      const text = await readText(requester, share, exchange)
      if (text !== null) await this.#waitIfLarge({ ...requester, onStreamStart }, exchange, text)
    } finally {
      share.release()
    }
  }

  /**
   * Waits for other large bodies. The wait begins when the body is complete, so a stalled body does not delay other
   * requests.
   */
  async #waitIfLarge(requester: Requester, exchange: Exchange, text: string): Promise<void> {
    const execute = () => this.#execute(requester, exchange, text)
    if (text.length <= limits.largeBodyBytes) return execute()
    try {
      await this.#largeBodies.run(requester.viewer.userId, 1, execute)
    } catch (error) {
      if (!(error instanceof TooManyLargeBodies)) throw error
      sendBusy(exchange, tooManyLargeBodies)
    }
  }

  async #execute(requester: Requester, exchange: Exchange, text: string): Promise<void> {
    const type = findResponseType(exchange.request)
    const params = type && this.#parseParams(text, requester.viewer)
    if (!params) return this.#passToYoga(requester, exchange, text)
    const result = await this.#engine.getResultForParams({ params, request: postRequest }, { ...requester })
    if (!result || Symbol.asyncIterator in result) throw new Error('A query or mutation returned a stream')
    if (result.errors) return this.#sendErrors(exchange, result, type)
    exchange.response.setHeader('content-type', `${type}; charset=utf-8`)
    await sendCompressible(exchange, JSON.stringify(result))
  }

  /** Parses the body; null: yoga's transport must handle the request, and reports why it is refused. */
  #parseParams(text: string, viewer: Viewer): GraphQLParams | null {
    try {
      const body: unknown = JSON.parse(text)
      const params = isPlain(body) ? this.#documents.resolve(body, viewer) : null
      // Any document that contains this word goes to yoga's slower transport, which handles subscriptions.
      return params?.query && !params.query.includes('subscription') ? params : null
    } catch (error) {
      if (error instanceof GraphQLError || error instanceof SyntaxError) return null
      throw error
    }
  }

  /** Passes the request on. Yoga gets the body as a stream, because it would list every character of a text. */
  async #passToYoga(requester: Requester, { request, response }: Exchange, text: string): Promise<void> {
    const body = Buffer.from(text)
    const read = Object.assign(request, { body: Readable.from([body]) })
    await this.#engine(read, response, { ...requester, bodyBytes: body.length })
  }

  async #sendErrors(exchange: Exchange, result: ExecutionResult, type: string): Promise<void> {
    const made = processRegularResult(result, this.#engine.fetchAPI, type)
    const text = await made.text()
    exchange.response.statusCode = made.status
    for (const [name, value] of made.headers) if (name !== 'content-length') exchange.response.setHeader(name, value)
    await sendCompressible(exchange, text)
  }
}

/** Chooses the content type of the response; null: yoga's transport must handle the request. */
function findResponseType({ headers }: IncomingMessage): string | null {
  if (headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined) return null
  if (!/^[1-9]\d*$/.test(headers['content-length'] ?? '')) return null
  return typeByAccept[headers.accept ?? '*/*'] ?? null
}

/** Reads the body; null: the body was refused, or its sender has disconnected. */
async function readText({ viewer }: Requester, share: Share, exchange: Exchange): Promise<string | null> {
  const bytesMax = viewer === anonymous ? limits.anonymousBodyBytesMax : limits.bodyBytesMax
  const body = await readBody(exchange.request, { bytesMax, valuesMax: limits.bodyValuesMax, share })
  if (typeof body === 'object') return body.text
  if (body === 'gone') return null
  const { response } = exchange
  if (body === 'no room')
    sendBusy(exchange, `Your requests in flight exceed ${limits.bodyBytesInFlightMax / 1024 ** 2} MiB`)
  else if (body === 'too many values') {
    const message = `The body contains more than ${limits.bodyValuesMax} values; send it in several requests`
    sendError(response, 400, 'QUERY_TOO_COMPLEX', message)
  } else if (viewer === anonymous) {
    const message = `Authentication required: without a token the body is limited to ${bytesMax} bytes`
    sendError(response, 401, 'UNAUTHENTICATED', message)
  } else {
    const message = `The body is larger than ${bytesMax} bytes; send it in several requests`
    sendError(response, 413, 'BAD_REQUEST', message)
  }
  return null
}

const sendBusy = ({ response }: Exchange, message: string) =>
  sendRateLimited(response, `${message}; try again in 1 s`, 1)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isPlain(body: unknown): body is GraphQLParams {
  if (!isObject(body)) return false
  const { query, variables, operationName, extensions, documentId: _, ...rest } = body
  return (
    (query == null || typeof query === 'string') &&
    (variables == null || isObject(variables)) &&
    (extensions == null || isObject(extensions)) &&
    (operationName == null || typeof operationName === 'string') &&
    Object.keys(rest).length === 0
  )
}
