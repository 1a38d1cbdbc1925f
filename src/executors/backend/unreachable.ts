/**
 * The backend did not respond, or a proxy responded in its place. Neither the state of a run nor the effect of a
 * request is known.
 */
export class BackendUnreachable extends Error {
  override name = 'BackendUnreachable'
}

/** The backend refused a request. */
export class BackendRefused extends Error {
  override name = 'BackendRefused'
  /** HTTP status, or the exit code of a command. */
  readonly status: number
  /** The API's code for the refusal, such as `AlreadyExists`; '': none. */
  readonly reason: string
  constructor(status: number, message: string, reason = '') {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** The backend does not have the object. */
export const isNotFound = (error: unknown) => error instanceof BackendRefused && error.status === 404

/** For `catch`. null: the backend does not have the object. */
export function unlessNotFound(error: unknown): null {
  if (isNotFound(error)) return null
  throw error
}

export const isBackendError = (error: unknown): error is BackendUnreachable | BackendRefused =>
  error instanceof BackendUnreachable || error instanceof BackendRefused

const shownMax = 200

/** Shortens a response for a message. */
export const shorten = (body: string) => body.trim().slice(0, shownMax)
