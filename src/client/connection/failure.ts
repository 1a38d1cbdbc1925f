/** A request failed without data. Refusals are data. */
export class RequestFailed extends Error {
  override name = 'RequestFailed'
  /** `extensions.code` of the first error, or UNREACHABLE when no server answered. */
  readonly code: string
  /** The id of the request in the server's log. */
  readonly requestId: string | null
  readonly token: TokenTrouble | null
  /** The wait that the server requires before a retry. */
  readonly retryAfterMs: number
  /** The answer is not from a GraphQL server, but from a proxy or another program. */
  readonly isForeign: boolean
  /** The connection opened, but no byte arrived: a proxy holds the stream back. */
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

  /** The request is correct and may succeed later. */
  get retryable(): boolean {
    return retryableCodes.has(this.code)
  }
}

/**
 * Why a token was refused. REFUSED: do not retry. EXPIRED: expired, revoked or unknown; retry with another token. ENDED: accepted
 * before, but its permissions may have changed; retry with the same token.
 */
export type TokenTrouble = 'REFUSED' | 'EXPIRED' | 'ENDED'

type Detail = 'requestId' | 'token' | 'retryAfterMs' | 'isForeign' | 'isSilent'
export type FailureOptions = ErrorOptions & Partial<Pick<RequestFailed, Detail>>

const retryableCodes = new Set(['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED', 'SUBSCRIPTION_LIMIT', 'TIMEOUT'])

/** The same message for a deleted job and for a job of another user. */
export const createJobNotFound = (jobId: string) => new RequestFailed('NOT_FOUND', `Job ${jobId} not found`)

/** The last message of a stream whose job was deleted; throws any other failure. */
export function convertToDeletion(error: unknown, cursor: string | undefined) {
  if (cursor === undefined || !(error instanceof RequestFailed) || error.code !== 'NOT_FOUND') throw error
  return { __typename: 'StreamReset', resetReason: 'DELETED', cursor } as const
}

/** Returns null if the cursor is from a database that was replaced. Throws any other failure. */
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
