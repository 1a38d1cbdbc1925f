import { StartFailed } from '../executor.ts'

/** Messages of the spawner to the server: the result of a request, or the end of a run. */
export type SpawnerMessage = { order: number; failure: Failure | null } | { ended: string }

export interface Failure {
  reason: StartFailed['reason'] | null
  message: string
  code: string | null
  cause: Failure | null
}

export function encodeFailure(error: unknown): Failure {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  const reason = error instanceof StartFailed ? error.reason : null
  return { reason, message, code, cause: cause === undefined ? null : encodeFailure(cause) }
}

export function decodeFailure({ reason, message, code, cause }: Failure): Error {
  const why = cause === null ? {} : { cause: decodeFailure(cause) }
  if (reason !== null) return new StartFailed(reason, message, why)
  return Object.assign(new Error(message, why), code === null ? {} : { code })
}
