/** A request failed and has no data. Refusals are not failures: they are part of the data. */
export class RequestFailed extends Error {
  override name = 'RequestFailed'
  /** `extensions.code` of the first error, or UNREACHABLE when no server answered. */
  readonly code: string
  /** The id of the request in the server's log. */
  readonly requestId: string | null
  readonly token: TokenTrouble | null
  /** The wait that the server requires before a retry. */
  readonly retryAfterMs: number
  /** true: the response is not from a GraphQL server, but from a proxy or another program. */
  readonly isForeign: boolean
  /** true: the connection opened but no byte arrived, because a proxy buffers the stream. */
  readonly isSilent: boolean

  constructor(code: string, message: string, options: FailureOptions = {}) {
    const { requestId = null, token = null, retryAfterMs = 0, isForeign = false, isSilent = false, ...rest } = options
    super(message, rest)
    this.code = code
    this.requestId = requestId
    this.token = token
    this.retryAfterMs = retryAfterMs
    this.isForeign = isForeign
    this.isSilent = isSilent
  }

  /** true: the request is correct and may succeed later. */
  get retryable(): boolean {
    return retryableCodes.has(this.code)
  }
}

/**
 * How the server rejected a token. REFUSED: do not retry. EXPIRED: the token is expired, revoked or unknown; retry with
 * another token. ENDED: the token was accepted before, but its permissions may have changed; retry with the same token.
 */
export type TokenTrouble = 'REFUSED' | 'EXPIRED' | 'ENDED'

type Detail = 'requestId' | 'token' | 'retryAfterMs' | 'isForeign' | 'isSilent'
export type FailureOptions = ErrorOptions & Partial<Pick<RequestFailed, Detail>>

const retryableCodes = new Set(['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED', 'SUBSCRIPTION_LIMIT', 'TIMEOUT'])

/** Returns the wait before a retry; null: do not retry. */
export const readRetryMs = (error: unknown): number | null =>
  error instanceof RequestFailed && error.retryable ? error.retryAfterMs : null

/** The error for a missing job. A deleted job and a job of another user get the same message. */
export const createJobNotFound = (jobId: string) => new RequestFailed('NOT_FOUND', `Job ${jobId} not found`)

/** Converts NOT_FOUND to the last message of a stream whose job was deleted; throws any other failure. */
export function convertToDeletion(error: unknown, cursor: string | undefined) {
  if (cursor === undefined || !(error instanceof RequestFailed) || error.code !== 'NOT_FOUND') throw error
  return { __typename: 'StreamReset', resetReason: 'DELETED', cursor } as const
}

/** Returns null for an invalid cursor, which comes from a database that was replaced. Throws any other failure. */
export function ignoreInvalidCursor(error: unknown): null {
  if (error instanceof RequestFailed && error.code === 'INVALID_CURSOR') return null
  throw error
}

export interface GraphqlError {
  message: string
  path?: readonly (string | number)[]
  extensions?: { code?: string; requestId?: string }
}

export function createFailure(errors: readonly GraphqlError[], options: FailureOptions = {}): RequestFailed {
  const [first] = errors
  const code = first?.extensions?.code ?? 'INTERNAL_SERVER_ERROR'
  return new RequestFailed(
    code,
    errors.map((error) => error.message).join('; ') || 'The server refused the request without a reason',
    {
      requestId: first?.extensions?.requestId ?? null,
      ...(code === 'UNAUTHENTICATED' && { token: 'EXPIRED' }),
      ...options,
    },
  )
}

/** The value of a field that is null only with an error, which `request` throws. */
export function requireField<Value>(value: Value | null): Value {
  if (value === null) throw new Error('The server sent null for a field without an error')
  return value
}
