import { z } from 'zod'
import type { Sql } from '../platform/tx.ts'
import { answeredByKey } from './accept.ts'
import { demand, maySee, type Viewer } from './access.ts'
import { demandVersion } from './cancel.ts'
import type { Domain } from './domain.ts'
import { InvalidInput, InvalidState, jobNotFound } from './errors.ts'
import { submissionFields } from './input.ts'
import { readKeys } from './keys.ts'
import { parseInput } from './parse.ts'
import { respec } from './respec.ts'
import type { JobSpec } from './spec.ts'
import { isFinal, type JobState } from './state.ts'
import { keyOf, readSubmission, type Submission } from './submission.ts'
import { outcomeOf, type SubmitOutcome, submitOne } from './submit.ts'

/**
 * A retry is a new job: final states never change. It is submitted from the spec of one that is over; quotas, rules and
 * approval are asked again. It takes its own key, whose payload is the job and the overrides, so that a retry of the
 * retry's request is answered though the original was deleted meanwhile.
 */
const retryInput = z.strictObject({
  jobId: z.string(),
  overrides: z.record(z.string(), z.unknown()).nullish(),
  expectedVersion: z.number().nullish(),
  ...submissionFields,
})

type RetryInput = z.output<typeof retryInput>

export async function retryJob(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmitOutcome> {
  demand(viewer, 'job.submit')
  const input = parseInput(retryInput, raw)
  const key = retryKey(input)
  const keys = await readKeys(domain.db.sql, key ? [{ userId: viewer.userId, key: key.key }] : [])
  const answered = answeredByKey({ viewer, key }, keys)
  if (answered) return outcomeOf(answered)
  return submitOne(domain, () => readRetry(domain, viewer, input))
}

const retryKey = (input: RetryInput) => keyOf(input, { retryOf: input.jobId, overrides: input.overrides })

/** Throws refusals. */
async function readRetry(domain: Domain, viewer: Viewer, input: RetryInput): Promise<Submission> {
  const { jobId, overrides, expectedVersion, ...rest } = input
  const original = await readOriginal(domain.db.sql, jobId)
  if (!original || !maySee(viewer, original)) throw jobNotFound(jobId)
  demandVersion(original, expectedVersion)
  if (!isFinal(original.state))
    throw new InvalidState(`The job is ${original.state}; only one that is over can be retried`, jobId)
  const changes = { ...(original.userId === viewer.userId ? {} : { account: null, team: null }), ...overrides }
  if (original.userId !== viewer.userId && original.spec.environment.length > 0 && !('environment' in changes))
    throw new InvalidInput([
      { path: ['overrides', 'environment'], message: "Must be given: the variables of another's job are not yours" },
    ])
  const spec = respec(original.spec, changes)
  const submission = readSubmission(viewer, { ...rest, spec }, domain.clock.now())
  return { ...submission, key: retryKey(input), retryOf: jobId }
}

interface Original {
  id: string
  userId: string
  state: JobState
  version: number
  spec: JobSpec
}

async function readOriginal(sql: Sql, jobId: string): Promise<Original | undefined> {
  const [row] = await sql.query<Original>(
    'SELECT id, user_id AS "userId", state, version, spec FROM job WHERE id = $1',
    [jobId],
  )
  return row
}
