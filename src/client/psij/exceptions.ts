import { RequestFailed } from '../connection/failure.ts'
import type { SubmitJobAnswer } from '../jobs/client.ts'

/** The specification of the job is invalid. Another submission of it would fail, too. */
export class InvalidJobException extends Error {
  override name = 'InvalidJobException'
  readonly isTransient = () => false
}

/** The state of the job does not allow the call. */
export class InvalidStateException extends Error {
  override name = 'InvalidStateException'
  readonly isTransient = () => false
}

/** The request failed for a reason that is not in the job. */
export class SubmitException extends Error {
  override name = 'SubmitException'
  readonly isTransient: () => boolean

  constructor(message: string, { isTransient, ...options }: ErrorOptions & { isTransient: boolean }) {
    super(message, options)
    this.isTransient = () => isTransient
  }
}

export function createRefusal(answer: Exclude<SubmitJobAnswer, { __typename: 'SubmitJobSuccess' }>): Error {
  if (answer.__typename !== 'InvalidInputProblem')
    return new SubmitException(answer.message, { isTransient: answer.retryable })
  const details = answer.violations.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return new InvalidJobException(details.join('; ') || answer.message)
}

/** Converts a failed request to an exception of PSI/J, and throws it. */
export function throwException(error: unknown): never {
  if (!(error instanceof RequestFailed)) throw error
  if (['BAD_REQUEST', 'GRAPHQL_VALIDATION_FAILED'].includes(error.code))
    throw new InvalidJobException(error.message, { cause: error })
  throw new SubmitException(error.message, { isTransient: error.retryable, cause: error })
}
