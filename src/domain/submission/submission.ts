import { demand, type Viewer } from '../access.ts'
import { InvalidInput } from '../errors.ts'
import { parseSubmission, type SubmissionInput } from '../input.ts'
import { makeKey, makePayload, type SubmissionKey } from './keys.ts'
import { findBrokenRules } from './spec-rules.ts'

/** A submission that passed the checks without the database. */
export interface Submission {
  viewer: Viewer
  input: SubmissionInput
  key: SubmissionKey | null
  retryOf: string | null
}

/** Throws refusals. `raw`: a SubmitJobInput, or the input of a retry. */
export function readSubmission(viewer: Viewer, raw: unknown, nowMs: number): Submission {
  demand(viewer, 'job.submit')
  const input = parseSubmission(raw)
  const violations = findBrokenRules(input.spec, nowMs)
  if (violations.length > 0) throw new InvalidInput(violations)
  return {
    viewer,
    input,
    key: makeKey(input, input.retried ?? makePayload(input)),
    retryOf: input.retried?.retryOf ?? null,
  }
}
