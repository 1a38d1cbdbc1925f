/** A request without data, and the code of its error. A refusal in the data of an answer is no failure. */
export class RequestFailed extends Error {
  override name = 'RequestFailed'
  /** `extensions.code` of the first error, or UNREACHABLE when no server answered. */
  readonly code: string
  /** The id of the request in the server's log. */
  readonly requestId: string | null
  readonly token: TokenTrouble | null
  /** The server asks to wait so long. */
  readonly retryAfterMs: number
  /** Something else than a GraphQL server answered: a proxy, a page, another program. */
  readonly isForeign: boolean
  /** The connection was made, and not one byte came: a proxy holds the stream back. */
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
 * What a refused token allows. REFUSED: nothing. EXPIRED: a try with another token; it is expired, revoked or unknown. ENDED: a try with
 * the same one; it was accepted before, and what it permits may have changed.
 */
export type TokenTrouble = 'REFUSED' | 'EXPIRED' | 'ENDED'

export interface FailureOptions extends ErrorOptions {
  requestId?: string | null
  token?: TokenTrouble | null
  retryAfterMs?: number
  isForeign?: boolean
  isSilent?: boolean
}

const retryableCodes = new Set(['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED', 'SUBSCRIPTION_LIMIT', 'TIMEOUT'])

/** A job that was deleted, and one of others, look the same. */
export const createJobNotFound = (jobId: string) =>
  new RequestFailed('NOT_FOUND', `There is no job ${jobId} that you may see`)

/** The end of a stream whose job was deleted after it had given a cursor; throws any other failure. */
export function convertToDeletion(error: unknown, cursor: string | undefined) {
  if (cursor === undefined || !(error instanceof RequestFailed) || error.code !== 'NOT_FOUND') throw error
  return { __typename: 'StreamReset', resetReason: 'DELETED', cursor } as const
}

/** A page is refused where a stream begins with a reset: the cursor is of a database that is no more. null: begin anew. */
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
