import { StartFailed } from '../executor.ts'

/** An error of a start between two processes: its message, and the code of the system if there is one. */
export interface Failure {
  reason: StartFailed['reason'] | null
  message: string
  code: string | null
  cause: Failure | null
}

export function toFailure(error: unknown): Failure {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  const reason = error instanceof StartFailed ? error.reason : null
  return { reason, message, code, cause: cause === undefined ? null : toFailure(cause) }
}

export function fromFailure({ reason, message, code, cause }: Failure): Error {
  const why = cause === null ? {} : { cause: fromFailure(cause) }
  if (reason !== null) return new StartFailed(reason, message, why)
  return Object.assign(new Error(message, why), code === null ? {} : { code })
}
