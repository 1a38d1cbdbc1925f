import { RequestFailed } from '@berth-jobs/berth/client'
import {
  type JobSpecInput,
  type SubmitJobInput,
  SubmitManyDocument,
  SubmitOneDocument,
  type SubmitOneMutation,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import type { DraftSpec } from './spec-text.ts'
import { readTypeErrors, readViolations, type Violation } from './violations.ts'

export type SubmittedJob = Extract<SubmitOneMutation['submitJob'], { __typename: 'SubmitJobSuccess' }>

export interface Trouble {
  message: string
  violations: readonly Violation[]
  /** true: the idempotency key was used for a job with another spec. */
  isConflict: boolean
}

/** The result of submitting a job of a sweep. */
export interface SweepResult {
  index: number
  jobId: string | null
  /** Why the server refused the job; null: it was submitted. */
  message: string | null
}

/** Retries without limit, because a retry with the same idempotency key cannot submit a job twice. */
const untilAnswered = { attempts: Number.POSITIVE_INFINITY }
const jobsPerCall = 100

/** Makes the input of a submission. The cast is safe, because the server validates the spec. */
export const toInput = (spec: DraftSpec, idempotencyKey: string): SubmitJobInput => ({
  spec: spec as JobSpecInput,
  idempotencyKey,
})

export async function submitOne(input: SubmitJobInput, signal: AbortSignal): Promise<SubmittedJob | Trouble> {
  try {
    const { submitJob } = await client.request(SubmitOneDocument, { input }, { ...untilAnswered, signal })
    if (submitJob.__typename === 'SubmitJobSuccess') return submitJob
    const violations = submitJob.__typename === 'InvalidInputProblem' ? readViolations(submitJob) : []
    const isConflict = submitJob.__typename === 'IdempotencyConflictProblem'
    return trouble(submitJob.message, violations, isConflict)
  } catch (error) {
    return toTrouble(error, signal)
  }
}

const trouble = (message: string, violations: readonly Violation[] = [], isConflict = false): Trouble => ({
  message,
  violations,
  isConflict,
})

function toTrouble(error: unknown, signal: AbortSignal): Trouble {
  if (signal.aborted)
    return trouble('Stopped. The job may have been submitted already; submitting this form again makes no second one.')
  const message = error instanceof Error ? error.message : String(error)
  return trouble(message, error instanceof RequestFailed ? readTypeErrors(message) : [])
}

interface Batch {
  specs: readonly DraftSpec[]
  key: string
  signal: AbortSignal
  report: (results: readonly SweepResult[]) => void
}

/** Submits all jobs of a sweep in several calls. Returns what went wrong; null: all jobs were submitted. */
export async function submitSweep({ specs, key, signal, report }: Batch): Promise<Trouble | null> {
  const results: SweepResult[] = []
  try {
    for (let start = 0; start < specs.length; start += jobsPerCall) {
      const submissions = specs.slice(start, start + jobsPerCall).map((spec, i) => toInput(spec, `${key}/${start + i}`))
      const { submitJobs } = await client.request(
        SubmitManyDocument,
        { input: { submissions } },
        { ...untilAnswered, signal },
      )
      if (submitJobs.__typename !== 'SubmitJobsSuccess') return trouble(submitJobs.message)
      for (const [i, result] of submitJobs.results.entries())
        results.push(
          result.__typename === 'SubmitJobSuccess'
            ? { index: start + i, jobId: result.job.id, message: null }
            : { index: start + i, jobId: null, message: result.message },
        )
      report([...results])
    }
    const refused = results.filter(({ message }) => message !== null).length
    return refused === 0 ? null : trouble(`${refused} of ${specs.length} jobs were refused.`)
  } catch (error) {
    return toTrouble(error, signal)
  }
}
