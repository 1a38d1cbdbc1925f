import { z } from 'zod'
import { demand, maySee, type Viewer } from '../access.ts'
import { accepts, needsOwnEnvironment } from '../actions.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, InvalidState, jobNotFound, settled } from '../errors.ts'
import { submissionFields } from '../input.ts'
import { demandVersion } from '../jobs/job-head.ts'
import { parseInput } from '../parse.ts'
import type { JobSpec } from '../spec.ts'
import { matchStoredKey } from './accept.ts'
import { readKeys } from './keys.ts'
import { applyOverrides } from './overrides.ts'
import { makeKey } from './submission.ts'
import { submitAll } from './submit.ts'
import { readOutcome, type SubmitOutcome, throwMissingOutcome } from './submit-group.ts'

/**
 * A retry is a new job with the spec of a final job. The payload of its idempotency key is the job id and the
 * overrides, so a repeated request gets its job even if the original was deleted. The submission contains both, so that
 * the leader computes the same key.
 */

const retryInput = z.strictObject({
  jobId: z.string(),
  overrides: z.record(z.string(), z.unknown()).nullish(),
  expectedVersion: z.number().nullish(),
  noWait: z.boolean().nullish(),
  ...submissionFields,
})

type RetryInput = z.output<typeof retryInput>

export async function retryJob(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmitOutcome> {
  const input = readRetryInput(viewer, raw)
  const stored = await readStoredRetry(domain, viewer, input)
  const answered = stored && (await readOutcome(domain, stored))
  if (answered) return answered
  const submission = await settled(readRetry(domain, viewer, input))
  if (submission instanceof Error) return submission
  const [outcome] = await submitAll(domain, viewer, [submission])
  return outcome instanceof InvalidInput ? atOverrides(outcome, input) : (outcome ?? throwMissingOutcome())
}

export function readRetryInput(viewer: Viewer, raw: unknown): RetryInput {
  demand(viewer, 'job.submit')
  return parseInput(retryInput, raw)
}

/** Reports violations of overridden fields at the path of the override. */
export function atOverrides({ violations }: InvalidInput, { overrides }: RetryInput): InvalidInput {
  const changed = (field: string | undefined) => field !== undefined && Object.hasOwn(overrides ?? {}, field)
  return new InvalidInput(
    violations.map(({ path: [root = '', ...path], message }) => ({
      path: [root === 'spec' && changed(path[0]) ? 'overrides' : root, ...path],
      message,
    })),
  )
}

const makePayload = ({ jobId, overrides }: RetryInput) => ({ retryOf: jobId, overrides })

/** The job of the retry's key, or the conflict with it; undefined: the key is new. */
export async function readStoredRetry({ db }: Domain, viewer: Viewer, input: RetryInput) {
  const key = makeKey(input, makePayload(input))
  return matchStoredKey({ viewer, key }, await readKeys(db.sql, key ? [{ userId: viewer.userId, key: key.key }] : []))
}

/** Builds the submission of the retry. Throws refusals. */
export async function readRetry(domain: Domain, viewer: Viewer, input: RetryInput): Promise<object> {
  const { jobId, overrides, expectedVersion, ...rest } = input
  const original = await readOriginal(domain, jobId)
  if (!original || !maySee(viewer, original)) throw jobNotFound(jobId)
  demandVersion(original, expectedVersion)
  if (!accepts('RETRY', original.state))
    throw new InvalidState(`The job is ${original.state}; only a final job can be retried`, jobId)
  const changes = { ...(original.userId === viewer.userId ? {} : { account: null, team: null }), ...overrides }
  if (
    needsOwnEnvironment(viewer, { ...original, hasEnvironment: original.spec.environment.length > 0 }) &&
    !('environment' in changes)
  )
    throw InvalidInput.at(
      'overrides.environment',
      "Must be given: environment variables of another user's job are not copied",
    )
  return { ...rest, spec: applyOverrides(original.spec, changes), retried: makePayload(input) }
}

async function readOriginal({ db }: Domain, id: string) {
  const select = { id: true, userId: true, state: true, version: true, spec: true } as const
  const job = await db.prisma.job.findUnique({ where: { id }, select })
  return job && { ...job, version: Number(job.version), spec: job.spec as unknown as JobSpec }
}
