/**
 * The backend did not respond, or a proxy responded instead. The state of the run and the effect of the request are
 * unknown.
 */
export class BackendUnreachable extends Error {
  override name = 'BackendUnreachable'
}

/** The backend refused a request. */
export class BackendRefused extends Error {
  override name = 'BackendRefused'
  /** HTTP status, or the exit code of a command. */
  readonly status: number
  /** The API's code for the rejection, such as `AlreadyExists`, or ''. */
  readonly reason: string
  constructor(status: number, message: string, reason = '') {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** The backend does not have the object. */
export const isNotFound = (error: unknown) => error instanceof BackendRefused && error.status === 404

/** For `catch`. Returns null if the backend does not have the object. */
export function ignoreNotFound(error: unknown): null {
  if (isNotFound(error)) return null
  throw error
}

export const isBackendError = (error: unknown): error is BackendUnreachable | BackendRefused =>
  error instanceof BackendUnreachable || error instanceof BackendRefused

const shownMax = 200

/** Shortens a response for a message. */
export const shorten = (body: string) => body.trim().slice(0, shownMax)
