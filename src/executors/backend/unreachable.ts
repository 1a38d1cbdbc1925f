/** The backend did not answer, or a proxy answered in its place. It says nothing about a run, or whether a request had an effect. */
export class BackendUnreachable extends Error {
  override name = 'BackendUnreachable'
}

/** The backend refused a request. */
export class BackendRefused extends Error {
  override name = 'BackendRefused'
  /** HTTP status, or the exit code of a command. */
  readonly status: number
  /** Word of the API for the refusal, such as `AlreadyExists`; '': none. */
  readonly reason: string
  constructor(status: number, message: string, reason = '') {
    super(message)
    this.status = status
    this.reason = reason
  }
}

export const isBackendError = (error: unknown): error is BackendUnreachable | BackendRefused =>
  error instanceof BackendUnreachable || error instanceof BackendRefused

const shownMax = 200

/** The part of an answer that a message shows. */
export const shorten = (body: string) => body.trim().slice(0, shownMax)
