import { RequestFailed } from '../connection/failure.ts'
import type { SubmitJobAnswer } from '../jobs/client.ts'
import { InvalidJobException, SubmitException } from './exceptions.ts'

/** Which of PSI/J's exceptions says that a job was not taken. */

const wrongDocuments = new Set(['BAD_REQUEST', 'GRAPHQL_VALIDATION_FAILED'])

export function createRefusal(answer: Exclude<SubmitJobAnswer, { __typename: 'SubmitJobSuccess' }>): Error {
  if (answer.__typename === 'DryRun') return new SubmitException('Nothing was submitted', { isTransient: false })
  if (answer.__typename !== 'InvalidInputProblem')
    return new SubmitException(answer.message, { isTransient: answer.retryable })
  const details = answer.violations.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return new InvalidJobException(details.join('; ') || answer.message)
}

/** A request that brought no answer. */
export function toSubmitException(error: unknown): unknown {
  if (!(error instanceof RequestFailed)) return error
  if (wrongDocuments.has(error.code)) return new InvalidJobException(error.message, { cause: error })
  return new SubmitException(error.message, { isTransient: error.retryable, cause: error })
}
