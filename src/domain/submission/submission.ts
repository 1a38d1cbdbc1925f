import { demand, type Viewer } from '../access.ts'
import { InvalidInput } from '../errors.ts'
import { parseSubmission, type SubmissionInput } from '../input.ts'
import { payloadHash, type SubmissionKey } from './keys.ts'
import { maySeeFilesOfCaller } from './routing.ts'
import { brokenRules } from './rules.ts'

/** A submission that was checked by itself, without the database. */
export interface Submission {
  viewer: Viewer
  input: SubmissionInput
  key: SubmissionKey | null
  /** The job that it retries. */
  retryOf: string | null
}

const keyTtlSeconds = 86_400

/** Throws refusals. `raw`: a SubmitJobInput of the contract, or the input that a retry made. */
export function readSubmission(viewer: Viewer, raw: unknown, nowMs: number): Submission {
  demand(viewer, 'job.submit')
  const input = parseSubmission(raw)
  const violations = brokenRules(input.spec, nowMs)
  if (violations.length > 0) throw new InvalidInput(violations)
  return {
    viewer,
    input,
    key: keyOf(input, input.retried ?? payloadOf(input)),
    retryOf: input.retried?.retryOf ?? null,
  }
}

/**
 * The directory of the caller counts only for a job that could begin in it. The command line sends it with every job, and
 * a repetition may come from another directory.
 */
function payloadOf({ spec, requiresApproval, defaultWorkdir }: SubmissionInput): unknown {
  const counts = spec.workdir == null && maySeeFilesOfCaller(spec)
  return { spec, requiresApproval, ...(counts && { defaultWorkdir }) }
}

/** `payload`: what the client sent; the same key with another payload is a conflict. */
export function keyOf(input: Omit<SubmissionInput, 'spec'>, payload: unknown): SubmissionKey | null {
  const { idempotencyKey: key, idempotencyTtlSeconds: ttlSeconds } = input
  return key == null ? null : { key, hash: payloadHash(payload), ttlSeconds: ttlSeconds ?? keyTtlSeconds }
}
