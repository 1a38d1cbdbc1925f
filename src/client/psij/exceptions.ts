import { RequestFailed } from '../connection/failure.ts'
import type { SubmitJobAnswer } from '../jobs/client.ts'

/** The specification of the job is wrong: submitting it again fails again. */
export class InvalidJobException extends Error {
  override name = 'InvalidJobException'
  readonly isTransient = () => false
}

/** The job is in a state in which the call has no meaning. */
export class InvalidStateException extends Error {
  override name = 'InvalidStateException'
  readonly isTransient = () => false
}

/** The request did not succeed for a reason that lies outside the job. */
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

/** Throws the exception for a failed request. */
export function throwException(error: unknown): never {
  if (!(error instanceof RequestFailed)) throw error
  if (['BAD_REQUEST', 'GRAPHQL_VALIDATION_FAILED'].includes(error.code))
    throw new InvalidJobException(error.message, { cause: error })
  throw new SubmitException(error.message, { isTransient: error.retryable, cause: error })
}
