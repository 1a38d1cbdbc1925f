/** A request without data, and the code of its error. A refusal in the data of an answer is no failure. */
export class RequestFailed extends Error {
  override name = 'RequestFailed'
  /** `extensions.code` of the first error, or UNREACHABLE when no server answered. */
  readonly code: string
  /** The id of the request in the server's log. */
  readonly requestId: string | null

  constructor(code: string, message: string, { requestId = null, ...options }: FailureOptions = {}) {
    super(message, options)
    this.code = code
    this.requestId = requestId
  }

  /** The request is correct and may succeed later. */
  get retryable(): boolean {
    return retryableCodes.has(this.code)
  }
}

export interface FailureOptions extends ErrorOptions {
  requestId?: string | null
}

const retryableCodes = new Set(['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED', 'TIMEOUT'])

export interface GraphqlError {
  message: string
  extensions?: { code?: string; requestId?: string }
}

export function failureOf(errors: readonly GraphqlError[]): RequestFailed {
  const [first] = errors
  return new RequestFailed(
    first?.extensions?.code ?? 'INTERNAL_SERVER_ERROR',
    errors.map((error) => error.message).join('; ') || 'The server refused the request without a reason',
    { requestId: first?.extensions?.requestId ?? null },
  )
}
