import { z } from 'zod'
import { demand, maySee, type Viewer } from '../access.ts'
import { isActionAccepted, needsOwnEnvironment } from '../actions.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, InvalidState, jobNotFound, orRefusal, Refusal } from '../errors.ts'
import { submissionFields } from '../input.ts'
import { demandVersion } from '../jobs/job-head.ts'
import { parseInput } from '../parse.ts'
import type { JobSpec } from '../spec.ts'
import type { JobState } from '../state.ts'
import { matchStoredKey } from './accept.ts'
import { makeKey, readKeys } from './keys.ts'
import { applyOverrides } from './overrides.ts'
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
  unlessRetried: z.boolean().nullish(),
  ...submissionFields,
})

type RetryInput = z.output<typeof retryInput>

export async function retryJob(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmitOutcome> {
  const [outcome] = await retryAll(domain, viewer, [readRetryInput(viewer, raw)])
  return outcome ?? throwMissingOutcome()
}

interface BulkRetry {
  jobIds: readonly string[]
  /** The key of each retry is this key, `:` and the job id. */
  idempotencyKey?: string | null | undefined
  overrides?: Record<string, unknown> | null | undefined
  idempotencyTtlSeconds?: number | null | undefined
  unlessRetried?: boolean
}

export async function retryJobs(
  domain: Domain,
  viewer: Viewer,
  { jobIds, idempotencyKey: key, ...shared }: BulkRetry,
): Promise<SubmitOutcome[]> {
  const inputs = jobIds.map((jobId) =>
    readRetryInput(viewer, { ...shared, jobId, idempotencyKey: key == null ? null : `${key}:${jobId}` }),
  )
  return retryAll(domain, viewer, inputs)
}

/** One outcome per input, in order. */
async function retryAll(domain: Domain, viewer: Viewer, inputs: readonly RetryInput[]): Promise<SubmitOutcome[]> {
  const stored = await Promise.all(
    (await readStoredRetries(domain, viewer, inputs)).map((one) => one && readOutcome(domain, one)),
  )
  const originals = await readOriginals(
    domain,
    inputs.filter((_, index) => !stored[index]),
  )
  const readings = inputs.map((input, index) =>
    stored[index] ? null : orRefusal(() => buildRetry(viewer, input, originals.get(input.jobId))),
  )
  const submissions = readings.filter((one) => one !== null && !(one instanceof Refusal))
  const next = (await submitAll(domain, viewer, submissions)).values()
  return inputs.map((input, index) => {
    const known = stored[index] ?? readings[index]
    if (known instanceof Refusal || stored[index]) return known as SubmitOutcome
    const outcome = next.next().value ?? throwMissingOutcome()
    return outcome instanceof InvalidInput ? reportAtOverrides(outcome, input) : outcome
  })
}

export function readRetryInput(viewer: Viewer, raw: unknown): RetryInput {
  demand(viewer, 'job.submit')
  return parseInput(retryInput, raw)
}

/** Reports violations of overridden fields at the path of the override. */
export function reportAtOverrides({ violations }: InvalidInput, { overrides }: RetryInput): InvalidInput {
  const changed = (field: string | undefined) => field !== undefined && Object.hasOwn(overrides ?? {}, field)
  return new InvalidInput(
    violations.map(({ path: [root = '', ...path], message }) => ({
      path: [root === 'spec' && changed(path[0]) ? 'overrides' : root, ...path],
      message,
    })),
  )
}

const makePayload = ({ jobId, overrides }: RetryInput) => ({ retryOf: jobId, overrides })

/** Returns the job of the retry's key, or the conflict with its payload; undefined: the key is new. */
export async function readStoredRetry(domain: Domain, viewer: Viewer, input: RetryInput) {
  const [stored] = await readStoredRetries(domain, viewer, [input])
  return stored
}

async function readStoredRetries({ db }: Domain, viewer: Viewer, inputs: readonly RetryInput[]) {
  const keys = inputs.map((input) => makeKey(input, makePayload(input)))
  const wanted = keys.flatMap((key) => (key ? [{ userId: viewer.userId, key: key.key }] : []))
  const known = await readKeys(db.sql, wanted)
  return keys.map((key) => matchStoredKey({ viewer, key }, known))
}

export async function readRetry(domain: Domain, viewer: Viewer, input: RetryInput): Promise<object> {
  return buildRetry(viewer, input, (await readOriginals(domain, [input])).get(input.jobId))
}

function buildRetry(viewer: Viewer, input: RetryInput, original: Original | undefined): object {
  const { jobId, overrides, expectedVersion, ...rest } = input
  if (!original || !maySee(viewer, original)) throw jobNotFound(jobId)
  demandVersion(original, expectedVersion)
  if (!isActionAccepted('RETRY', original.state))
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

interface Original {
  id: string
  userId: string
  state: JobState
  version: number
  spec: JobSpec
}

async function readOriginals({ db }: Domain, inputs: readonly RetryInput[]): Promise<ReadonlyMap<string, Original>> {
  if (inputs.length === 0) return new Map()
  const select = { id: true, userId: true, state: true, version: true, spec: true } as const
  const ids = inputs.map(({ jobId }) => jobId)
  const jobs = await db.prisma.job.findMany({ where: { id: { in: ids } }, select })
  return new Map(
    jobs.map((job) => [job.id, { ...job, version: Number(job.version), spec: job.spec as unknown as JobSpec }]),
  )
}
