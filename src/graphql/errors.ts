import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'
import { Refusal } from '../domain/errors.ts'
import type { Log } from '../platform/log.ts'
import { explainUnavailability, isUnavailable, readSqlState, Unavailable } from '../platform/tx.ts'
import { currentRequest } from './request-scope.ts'

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

/** Maximum errors in one response; `extensions.errorsLeftOut` counts the rest. */
export const errorsMax = 20
const messageCharactersMax = 1_000

export const refusal = (code: ErrorCode, message: string) => new GraphQLError(message, { extensions: { code } })

export const rateLimited = (message: string, retryAfterSeconds: number) =>
  new GraphQLError(`${message}; try again in ${retryAfterSeconds} s`, {
    extensions: { code: 'RATE_LIMITED', retryAfterSeconds },
  })

export const badRequest = (message: string, status = 400) =>
  new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status } } })

/** HTTP status by code, for requests that were not executed; used for every content type. */
const statuses: Readonly<Record<string, number>> = {
  QUERY_TOO_COMPLEX: 400,
  QUERY_TOO_DEEP: 400,
  DOCUMENT_NOT_TRUSTED: 400,
  UNAUTHENTICATED: 401,
  SUBSCRIPTION_LIMIT: 429,
  RATE_LIMITED: 429,
}

/**
 * Converts every error that leaves the server. Refusals keep their message and code. An error without a code is a
 * defect: INTERNAL_SERVER_ERROR, logged once with its cause and the same requestId. Stack, SQL and host names never
 * leave the server. The HTTP transport reads and removes `extensions.http` (`spec`: the status applies only to
 * application/graphql-response+json).
 */
export function presentError(error: unknown, log: Log): GraphQLError {
  const located = error instanceof GraphQLError ? error : undefined
  const cause = findRootCause(error)
  const { message: whole, code, http, retryAfterSeconds } = describe(cause, located)
  const message = whole.length > messageCharactersMax ? `${whole.slice(0, messageCharactersMax)}…` : whole
  const requestId = currentRequest().id
  if (code === 'INTERNAL_SERVER_ERROR') log.error({ err: cause, path: located?.path, requestId }, 'a request failed')
  const { nodes = null, source = null, positions = null, path = null } = located ?? {}
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    extensions: {
      code,
      requestId,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(http ? { http } : {}),
    },
  })
}

export function isUnavailableError(error: unknown): boolean {
  const cause = findRootCause(error)
  return cause instanceof Unavailable || isUnavailable(cause)
}

/** Finds the original error: GraphQL wraps the errors of resolvers, sometimes twice. */
function findRootCause(error: unknown): unknown {
  let cause = error
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError
  return cause
}

const hasNul: Description = { message: 'Text must not contain the character NUL', code: 'BAD_REQUEST' }

/** Refusals for errors that only PostgreSQL detects: NUL in a name or id, or an invalid date in a forged cursor. */
const sqlRefusals: Readonly<Record<string, Description>> = {
  '22021': hasNul,
  '22P05': hasNul,
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
  if (isUnavailable(cause)) return { message: `${explainUnavailability(cause)}; try again`, code: 'UNAVAILABLE' }
  const refused = sqlRefusals[readSqlState(cause) ?? '']
  if (refused) return refused
  if (cause instanceof GraphQLError && typeof cause.extensions['code'] === 'string' && !cause.extensions['unexpected'])
    return describeCoded(cause, cause.extensions['code'])
  // An error of graphql-js about the request itself (the type of a variable, an unknown operation) has no path.
  if (cause instanceof GraphQLError && !located?.path)
    return { message: cause.message, code: 'BAD_REQUEST', http: { spec: true, status: 400 } }
  return { message: 'An unexpected error occurred', code: 'INTERNAL_SERVER_ERROR', http: { spec: true, status: 500 } }
}

function describeCoded({ message, extensions }: GraphQLError, code: string): Description {
  // Yoga sets `originalError` to the parser's error if the body is not JSON.
  const status = 'originalError' in extensions ? 400 : statuses[code]
  const { http, retryAfterSeconds } = extensions
  if (status === undefined) return { message, code, http, retryAfterSeconds }
  const headers = retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }
  return { message, code, http: { spec: false, status, ...headers }, retryAfterSeconds }
}

export function limitErrors(result: ExecutionResult): ExecutionResult {
  const leftOut = (result.errors?.length ?? 0) - errorsMax
  if (!result.errors || leftOut <= 0) return result
  const extensions = { ...result.extensions, errorsLeftOut: leftOut }
  return { ...result, errors: result.errors.slice(0, errorsMax), extensions }
}

export function formatError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON()
  const { http: _, ...sent } = extensions ?? {}
  return { ...rest, extensions: sent }
}
