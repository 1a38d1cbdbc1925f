import { demand, type Viewer } from '../access.ts'
import { InvalidInput } from '../errors.ts'
import { parseSubmission, type SubmissionInput } from '../input.ts'
import { maySeeFilesOfCaller } from './executor-violations.ts'
import { hashPayload, type SubmissionKey } from './keys.ts'
import { findBrokenRules } from './rules.ts'

/** A submission that passed the checks without the database. */
export interface Submission {
  viewer: Viewer
  input: SubmissionInput
  key: SubmissionKey | null
  retryOf: string | null
}

const keyTtlSeconds = 86_400

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

/**
 * The command line sends its current directory with every job. The directory is part of the payload only if the job
 * could start in it.
 */
function makePayload({ spec, requiresApproval, defaultWorkdir }: SubmissionInput): unknown {
  const counts = spec.workdir == null && spec.snapshot == null && maySeeFilesOfCaller(spec)
  return { spec, requiresApproval, ...(counts && { defaultWorkdir }) }
}

/** `payload`: the content that the client sent; the same key with another payload is a conflict. */
export function makeKey(input: Omit<SubmissionInput, 'spec'>, payload: unknown): SubmissionKey | null {
  const { idempotencyKey: key, idempotencyTtlSeconds: ttlSeconds } = input
  return key == null ? null : { key, hash: hashPayload(payload), ttlSeconds: ttlSeconds ?? keyTtlSeconds }
}
