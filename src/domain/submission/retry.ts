import { z } from 'zod'
import { demand, maySee, type Viewer } from '../access.ts'
import { accepts, needsOwnEnvironment } from '../actions.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, InvalidState, jobNotFound, settled } from '../errors.ts'
import { submissionFields } from '../input.ts'
import { demandVersion } from '../jobs/job-head.ts'
import { parseInput } from '../parse.ts'
import type { JobSpec } from '../spec.ts'
import type { JobState } from '../state.ts'
import { answeredByKey } from './accept.ts'
import { readKeys } from './keys.ts'
import { respec } from './respec.ts'
import { dryRunOfHit, type SubmissionOutcome, submit } from './start-now.ts'
import { keyOf } from './submission.ts'
import { leftOut, outcomeOf } from './submit.ts'

/**
 * A retry is a new job: final states never change. It is submitted with the spec of a final job; quotas, rules and
 * approval are checked again. It has its own key, whose payload is the job id and the overrides, so that the same retry
 * request is answered even if the original was deleted meanwhile. The submission carries both beside the resulting
 * spec, so the leader of a pool, which reads it again, finds the same key and the same original.
 */

const retryInput = z.strictObject({
  jobId: z.string(),
  overrides: z.record(z.string(), z.unknown()).nullish(),
  expectedVersion: z.number().nullish(),
  dryRun: z.boolean().nullish(),
  noWait: z.boolean().nullish(),
  ...submissionFields,
})

type RetryInput = z.output<typeof retryInput>

export async function retryJob(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmissionOutcome> {
  demand(viewer, 'job.submit')
  const input = parseInput(retryInput, raw)
  const known = await answerOfKey(domain, viewer, input)
  if (known && input.dryRun && 'hit' in known) return dryRunOfHit(domain, known.hit)
  const answered = known && (await outcomeOf(domain, known))
  if (answered) return answered
  const submission = await settled(readRetry(domain, viewer, input))
  if (submission instanceof Error) return submission
  const [outcome] = await submit(domain, viewer, [submission])
  return outcome instanceof InvalidInput ? inOwnWords(outcome, input) : (outcome ?? leftOut())
}

/** Violations are reported at the path of the override; the rest of the spec is the original's. */
function inOwnWords({ violations }: InvalidInput, { overrides }: RetryInput): InvalidInput {
  const changed = (field: string | undefined) => field !== undefined && Object.hasOwn(overrides ?? {}, field)
  return new InvalidInput(
    violations.map(({ path: [root = '', ...path], message }) => ({
      path: [root === 'spec' && changed(path[0]) ? 'overrides' : root, ...path],
      message,
    })),
  )
}

const payloadOf = ({ jobId, overrides }: RetryInput) => ({ retryOf: jobId, overrides })

/** The stored answer of its key, even if the original was deleted. */
async function answerOfKey({ db }: Domain, viewer: Viewer, input: RetryInput) {
  const key = keyOf(input, payloadOf(input))
  return answeredByKey({ viewer, key }, await readKeys(db.sql, key ? [{ userId: viewer.userId, key: key.key }] : []))
}

/** The submission of the retry. Throws refusals. */
async function readRetry(domain: Domain, viewer: Viewer, input: RetryInput): Promise<object> {
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
    throw new InvalidInput([
      {
        path: ['overrides', 'environment'],
        message: "Must be given: environment variables of another user's job are not copied",
      },
    ])
  return { ...rest, spec: respec(original.spec, changes), retried: payloadOf(input) }
}

interface Original {
  id: string
  userId: string
  state: JobState
  version: number
  spec: JobSpec
}

async function readOriginal({ db }: Domain, id: string): Promise<Original | null> {
  const select = { id: true, userId: true, state: true, version: true, spec: true } as const
  const job = await db.prisma.job.findUnique({ where: { id }, select })
  return job && { ...job, version: Number(job.version), spec: job.spec as unknown as JobSpec }
}
