import { randomUUID } from 'node:crypto'
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'
import { Refusal } from '../domain/errors.ts'
import type { Log } from '../platform/log.ts'
import { isUnavailable, sqlState, Unavailable, whyUnavailable } from '../platform/tx.ts'

/**
 * What a caller learns of a failure. Every error that leaves the server passes `presentError`, on every transport:
 * refusals keep their message and get their code, and so does what is unavailable now; everything else is a defect,
 * told as INTERNAL_SERVER_ERROR and logged once with its cause under the same requestId. No stack, SQL or host name
 * leaves.
 *
 * `extensions.http` is for the HTTP transport (status; `spec` = only for application/graphql-response+json) and is
 * removed before anything is sent.
 */

export type ErrorCode =
  | 'BAD_REQUEST'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'QUERY_TOO_COMPLEX'
  | 'QUERY_TOO_DEEP'
  | 'DOCUMENT_NOT_TRUSTED'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'INVALID_CURSOR'
  | 'SUBSCRIPTION_LIMIT'
  | 'QUERY_TIMEOUT'
  | 'UNAVAILABLE'
  | 'INTERNAL_SERVER_ERROR'

/** Errors that one answer tells; how many more there were is in `extensions.errorsLeftOut`. */
export const errorsMax = 20
/** A message that quotes what the caller sent is cut here. */
const messageCharactersMax = 1_000

/** The body of an answer to a request that GraphQL never got. */
export const buildErrorBody = (code: ErrorCode, message: string, told: { retryAfterSeconds?: number } = {}) => ({
  errors: [{ message, extensions: { code, requestId: randomUUID(), ...told } }],
})

/** A refusal of the edge itself. */
export const refusal = (code: ErrorCode, message: string) => new GraphQLError(message, { extensions: { code } })

/** A refusal before anything was executed; the same request may be sent again after a wait. */
export const rateLimited = (message: string, retryAfterSeconds: number) =>
  new GraphQLError(`${message}; try again in ${retryAfterSeconds} s`, {
    extensions: { code: 'RATE_LIMITED', retryAfterSeconds },
  })

/** Codes that end the whole request with a status for every content type: nothing was executed. */
const statusOf: Readonly<Record<string, number>> = {
  QUERY_TOO_COMPLEX: 400,
  QUERY_TOO_DEEP: 400,
  DOCUMENT_NOT_TRUSTED: 400,
  UNAUTHENTICATED: 401,
  SUBSCRIPTION_LIMIT: 429,
  RATE_LIMITED: 429,
}

export function presentError(error: unknown, log: Log): GraphQLError {
  const located = error instanceof GraphQLError ? error : undefined
  const cause = rootCause(error)
  const { message: whole, code, http, retryAfterSeconds } = describe(cause, located)
  const message = whole.length > messageCharactersMax ? `${whole.slice(0, messageCharactersMax)}…` : whole
  const requestId = randomUUID()
  if (code === 'INTERNAL_SERVER_ERROR') log.error({ err: cause, path: located?.path, requestId }, 'a request failed')
  return new GraphQLError(message, {
    nodes: located?.nodes ?? null,
    source: located?.source ?? null,
    positions: located?.positions ?? null,
    path: located?.path ?? null,
    extensions: {
      code,
      requestId,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(http ? { http } : {}),
    },
  })
}

/** Whether the database does not answer now, so that trying again later is right. */
export function isUnavailableError(error: unknown): boolean {
  const cause = rootCause(error)
  return cause instanceof Unavailable || isUnavailable(cause)
}

/** GraphQL wraps what a resolver throws, sometimes twice. */
function rootCause(error: unknown): unknown {
  let cause = error
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError
  return cause
}

/** What only PostgreSQL notices of a request: NUL in a name or id, and the date of a forged cursor. */
const sqlRefusals: Readonly<Record<string, Description>> = {
  '22021': { message: 'Text must not contain the character NUL', code: 'BAD_REQUEST' },
  '22P05': { message: 'Text must not contain the character NUL', code: 'BAD_REQUEST' },
  '22008': { message: 'Invalid cursor: it belongs to another list or stream', code: 'INVALID_CURSOR' },
}

interface Description {
  message: string
  code: string
  http?: unknown
  retryAfterSeconds?: unknown
}

function describe(cause: unknown, located: GraphQLError | undefined): Description {
  if (cause instanceof Refusal)
    return { message: cause.message, code: cause.code === 'INVALID_INPUT' ? 'BAD_REQUEST' : cause.code }
  if (cause instanceof Unavailable) return { message: `${cause.message}; try again`, code: 'UNAVAILABLE' }
  if (isUnavailable(cause)) return { message: `${whyUnavailable(cause)}; try again`, code: 'UNAVAILABLE' }
  const refused = sqlRefusals[sqlState(cause) ?? '']
  if (refused) return refused
  if (cause instanceof GraphQLError && typeof cause.extensions['code'] === 'string' && !cause.extensions['unexpected'])
    return told(cause, cause.extensions['code'])
  // GraphQL's own complaint about the request (a variable of the wrong type, an unknown operation) has no path yet.
  if (cause instanceof GraphQLError && !located?.path)
    return { message: cause.message, code: 'BAD_REQUEST', http: { spec: true, status: 400 } }
  return { message: 'An unexpected error occurred', code: 'INTERNAL_SERVER_ERROR', http: { spec: true, status: 500 } }
}

function told({ message, extensions }: GraphQLError, code: string): Description {
  // Yoga keeps the parser's complaint here when the body is no JSON: then there was no GraphQL request at all.
  const status = 'originalError' in extensions ? 400 : statusOf[code]
  const { http, retryAfterSeconds } = extensions
  if (status === undefined) return { message, code, http, retryAfterSeconds }
  const headers = retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }
  return { message, code, http: { spec: false, status, ...headers }, retryAfterSeconds }
}

/** A result with as many errors as are told. */
export function limitErrors(result: ExecutionResult): ExecutionResult {
  const leftOut = (result.errors?.length ?? 0) - errorsMax
  if (!result.errors || leftOut <= 0) return result
  const extensions = { ...result.extensions, errorsLeftOut: leftOut }
  return { ...result, errors: result.errors.slice(0, errorsMax), extensions }
}

/** The form that goes over a socket. */
export function formatError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON()
  const { http: _, ...told } = extensions ?? {}
  return { ...rest, extensions: told }
}
