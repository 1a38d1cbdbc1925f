import { z } from 'zod'
import { defineCounter } from '../../platform/metrics.ts'
import { mapInSlices } from '../../platform/slices.ts'
import { Unavailable } from '../../platform/tx.ts'
import { maySee, type Viewer } from '../access.ts'
import { type ApprovalNeed, describeApprovers } from '../control/approval-rules.ts'
import type { Domain } from '../domain.ts'
import { Rejected, settled } from '../errors.ts'
import { askLeader } from '../queue/questions.ts'
import { hideBlockingJob, makeReason, type Reason } from '../reason.ts'
import { readJob } from './stored-job.ts'
import { readSubmission } from './submission.ts'
import {
  makeJobDeletedError,
  previewSubmission,
  readOutcome,
  readSubmissions,
  type SubmitOutcome,
  submitOne,
  throwMissingOutcome,
} from './submit-group.ts'

/**
 * Entry point of all submissions. With `noWait` the leader of the pool starts the job now or refuses it, in one
 * transaction; all checks of a submission come first.
 */

export type NoWaitAnswer =
  | { started: { jobId: string; warnings: string[] } }
  | { rejected: Reason[] }
  /** The facts changed, so the submission would now be refused or go to another pool: the server must decide again. */
  | { changed: true }

export interface NoWaitQuestion {
  viewer: Omit<Viewer, 'permissions' | 'granted'> & { permissions: string[]; granted: string[] }
  input: unknown
}

const atOnceMax = 8
const attemptsMax = 3
/** After this time, a call sends no more questions to leaders. */
const questionsMsMax = 15_000

/**
 * Returns one outcome per input, in order. A refusal is an outcome. In a batch an unexpected error is an outcome too,
 * so that the client learns which of the others are stored.
 */
export async function submitAll(domain: Domain, viewer: Viewer, inputs: readonly unknown[]): Promise<SubmitOutcome[]> {
  const outcomes = await submitEach(domain, viewer, inputs)
  for (const outcome of outcomes) submissions.inc({ outcome: nameOutcome(outcome) })
  return outcomes
}

const submissions = defineCounter({
  name: 'berth_submissions_total',
  help: 'Submissions by outcome: stored, existing (the idempotency key was used before), refused or unavailable.',
  labelNames: ['outcome'],
})

function nameOutcome(outcome: SubmitOutcome): string {
  if (outcome instanceof Unavailable) return 'unavailable'
  if (!('idempotentHit' in outcome)) return 'refused'
  return outcome.idempotentHit ? 'existing' : 'stored'
}

async function submitEach(domain: Domain, viewer: Viewer, inputs: readonly unknown[]): Promise<SubmitOutcome[]> {
  const answered = (work: Promise<SubmitOutcome>) => (inputs.length > 1 ? settleInBatch(domain, work) : settled(work))
  const wishes = await mapInSlices(inputs, readWish)
  const ordinary = wishes.flatMap(({ noWait, input }) => (noWait ? [] : [input]))
  const readings = await readSubmissions(domain, viewer, ordinary)
  const submitted = Promise.all(readings.map((read) => answered(submitOne(domain, read))))
  const asking = wishes.flatMap(({ noWait, input }) =>
    noWait ? [() => answered(startNow(domain, viewer, input))] : [],
  )
  const asked: SubmitOutcome[] = []
  const untilMs = domain.clock.monotonicMs() + questionsMsMax
  while (asked.length < asking.length && domain.clock.monotonicMs() < untilMs)
    asked.push(...(await Promise.all(asking.slice(asked.length, asked.length + atOnceMax).map((one) => one()))))
  while (asked.length < asking.length) asked.push(notAsked(asking.length))
  const next = { ordinary: (await submitted).values(), asked: asked.values() }
  return wishes.map(({ noWait }) => (noWait ? next.asked : next.ordinary).next().value ?? throwMissingOutcome())
}

async function settleInBatch({ log }: Domain, work: Promise<SubmitOutcome>): Promise<SubmitOutcome> {
  try {
    return await settled(work)
  } catch (error) {
    log.error({ err: error }, 'a submission of a batch failed')
    return new Unavailable('This submission failed unexpectedly; the rest of the batch was processed', { cause: error })
  }
}

const notAsked = (count: number) =>
  new Unavailable(
    `The scheduler did not reach this submission within ${questionsMsMax / 1_000} s of the ${count} with noWait in this call; send it again`,
  )

const wished = z.looseObject({ noWait: z.boolean().nullish() })

/** Separates `noWait` from the rest of the submission. */
export function readWish(raw: unknown): { noWait: boolean; input: unknown } {
  const parsed = wished.safeParse(raw)
  if (!parsed.success) return { noWait: false, input: raw }
  const { noWait, ...input } = parsed.data
  return { noWait: noWait === true, input }
}

export const makeApprovalPendingReason = (need: ApprovalNeed, { singleUser }: Domain) =>
  makeReason(
    'APPROVAL_PENDING',
    `Waiting for the approval of ${describeApprovers(need, singleUser)}, ${need.expiresAfterSeconds} s from submission at most: ${need.reason}`,
  )

async function startNow(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmitOutcome> {
  for (let look = 0; look < attemptsMax; look++) {
    const decision = await previewSubmission(domain, readSubmission(viewer, raw, domain.time.nowMs()))
    if ('refusal' in decision) return decision.refusal
    if ('hit' in decision) {
      const answered = await readOutcome(domain, decision)
      if (answered) return answered
      continue
    }
    if (decision.job.approval) return new Rejected([makeApprovalPendingReason(decision.job.approval, domain)])
    const { permissions, granted } = viewer
    const asking = { ...viewer, permissions: [...permissions], granted: [...granted] }
    const payload: NoWaitQuestion = { viewer: asking, input: raw }
    const answer = (await askLeader(domain, decision.job.pool, { kind: 'NO_WAIT', payload })) as NoWaitAnswer
    if ('started' in answer) {
      const job = await readJob(domain, answer.started.jobId)
      return job ? { ...answer.started, job, idempotentHit: false } : makeJobDeletedError()
    }
    if ('rejected' in answer) return new Rejected(await hideJobs(domain, viewer, answer.rejected))
  }
  throw new Unavailable('The submission conflicted with other changes several times; send it again')
}

/** Removes ids of jobs that the viewer may not see from the reasons. */
export function hideJobs(domain: Domain, viewer: Viewer, reasons: readonly Reason[]): Promise<Reason[]> {
  return Promise.all(
    reasons.map(async (reason) => {
      const job = reason.jobId === null ? null : await readJob(domain, reason.jobId)
      return job && maySee(viewer, job) ? reason : hideBlockingJob(reason)
    }),
  )
}

export const restoreViewer = ({ viewer }: NoWaitQuestion): Viewer =>
  ({ ...viewer, permissions: new Set(viewer.permissions), granted: new Set(viewer.granted) }) as Viewer
