import { RequestFailed } from '@berth-jobs/berth/client'
import { LogIn } from './log-in.tsx'

/** An error as a person reads it: the failure, its reason, and the next step. */
export interface Trouble {
  message: string
  /** Single fields that are wrong. */
  details: readonly string[]
  remedy: string | null
  /** The server wants a token, or another one. */
  needsToken: boolean
}

/** A member of `Problem` in the answer of a mutation. */
interface Problem {
  message: string
  retryable: boolean
  violations?: readonly { path: readonly string[]; message: string }[]
}

/** Of the answer to a mutation; null: it succeeded. */
export function troubleOf(answer: object): Trouble | null {
  if (!isProblem(answer)) return null
  const { message, retryable, violations = [] } = answer
  return {
    message,
    details: violations
      .map((each) => `${each.path.join('.')}: ${each.message}`)
      .filter((detail) => !message.includes(detail)),
    remedy: retryable ? 'Nothing was changed. Try again in a moment.' : null,
    needsToken: false,
  }
}

const isProblem = (answer: object): answer is Problem => 'message' in answer && 'retryable' in answer

/** Describes a request without an answer. Apollo and urql wrap what the link and the exchange throw. */
export function failureOf(error: Error & { networkError?: Error | undefined }): Trouble {
  const cause = error.networkError ?? error
  const { retryable: isPassing, code } = cause instanceof RequestFailed ? cause : { retryable: false, code: null }
  const needsToken = code === 'UNAUTHENTICATED'
  return {
    message: needsToken ? 'This server wants a token' : cause.message,
    details: [],
    remedy: isPassing ? 'The page tries again by itself.' : null,
    needsToken,
  }
}

export function TroubleBox({ trouble, onDismiss }: { trouble: Trouble | null; onDismiss?: () => void }) {
  if (!trouble) return null
  return (
    <div className="trouble" role="alert">
      <div>
        <strong>{trouble.message}</strong>
        {trouble.details.length > 0 && (
          <ul>
            {trouble.details.map((detail) => (
              <li key={detail}>{detail}</li>
            ))}
          </ul>
        )}
        {trouble.remedy && <p>{trouble.remedy}</p>}
        {trouble.needsToken && <LogIn />}
      </div>
      {onDismiss && (
        <button type="button" className="quiet" aria-label="Dismiss" onClick={onDismiss}>
          ✕
        </button>
      )}
    </div>
  )
}
