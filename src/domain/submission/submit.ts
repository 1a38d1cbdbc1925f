import { z } from 'zod'
import { inSlices } from '../../platform/slices.ts'
import { Unavailable } from '../../platform/tx.ts'
import { basePriority, maySee, type Viewer } from '../access.ts'
import { type ApprovalNeed, describeApprovers } from '../control/approval-rules.ts'
import type { Domain } from '../domain.ts'
import { Rejected, settled } from '../errors.ts'
import { makeLane } from '../lanes.ts'
import { type Estimate, estimateUnstored } from '../queue/estimate.ts'
import { computeFit, type Fit, type FitSubject, isThere } from '../queue/fit.ts'
import { gatesOfSpec } from '../queue/gates.ts'
import { askLeader } from '../queue/questions.ts'
import { makeReason, type Reason, unnamed } from '../reason.ts'
import type { JobSpec } from '../spec.ts'
import type { JobState } from '../state.ts'
import type { NewJob } from './insert.ts'
import { readJob } from './stored-job.ts'
import { readSubmission } from './submission.ts'
import {
  jobDeleted,
  previewSubmission,
  readOutcome,
  readSubmissions,
  type SubmitOutcome,
  submitOne,
  throwMissingOutcome,
} from './submit-group.ts'

/**
 * The door of submission. Submissions with `dryRun` and `noWait` question the leader of the pool first. A dry run reports the
 * outcome and writes nothing. With `noWait` a job starts now or is refused, in one transaction of the leader.
 */

export interface DryRun {
  wouldBe: JobState
  nodes: string[]
  gpuIds: number[]
  reasons: Reason[]
  /** null: the job is stored already. */
  fit: Fit | null
  warnings: string[]
  /** null: the job would not wait in line. */
  position: number | null
  /** null: the start has no known time, or the job is stored already. */
  estimatedStart: Estimate | null
  idempotentJobId: string | null
  spec: JobSpec
}

/** The leader's answer for a job at the end of the line. */
export interface DryRunAnswer {
  wouldBe: 'STARTING' | 'QUEUED' | 'FAILED'
  /** `atMs`: the moment of the leader's state in which the job fits. */
  place: { nodes: string[]; gpuIds: number[]; atMs: number } | null
  reasons: Reason[]
  position: number
}

export type NoWaitAnswer =
  | { started: { jobId: string; warnings: string[] } }
  | { rejected: Reason[] }
  /** The submission would be refused or go to another pool now: the server decides again. */
  | { changed: true }

export type AskedJob = Pick<NewJob, 'spec' | 'teamId' | 'shareAccount'> & Pick<Viewer, 'userId' | 'userName' | 'level'>

export interface NoWaitQuestion {
  viewer: Omit<Viewer, 'permissions' | 'granted'> & { permissions: string[]; granted: string[] }
  input: unknown
}

export type SubmissionOutcome = SubmitOutcome | DryRun

const atOnceMax = 8
const attemptsMax = 3
/** After this time, a call sends no further questions to leaders. */
const questionsMsMax = 15_000

/**
 * One outcome per input, in order. Refusals are outcomes. In a batch an unexpected error is an outcome too, because the
 * others are stored and the client must learn about them.
 */
export async function submitAll(
  domain: Domain,
  viewer: Viewer,
  inputs: readonly unknown[],
): Promise<SubmissionOutcome[]> {
  const answered = (work: Promise<SubmissionOutcome>) =>
    inputs.length > 1 ? settleInBatch(domain, work) : settled(work)
  const wishes = await inSlices(inputs, readMode)
  const ordinary = wishes.flatMap(({ verb, input }) => (verb ? [] : [input]))
  const readings = await readSubmissions(domain, viewer, ordinary)
  const submitted = Promise.all(readings.map((read) => answered(submitOne(domain, read))))
  const asking = wishes.flatMap(({ verb, input }) => (verb ? [() => answered(verb(domain, viewer, input))] : []))
  const asked: SubmissionOutcome[] = []
  const untilMs = domain.clock.monotonicMs() + questionsMsMax
  while (asked.length < asking.length && domain.clock.monotonicMs() < untilMs)
    asked.push(...(await Promise.all(asking.slice(asked.length, asked.length + atOnceMax).map((one) => one()))))
  while (asked.length < asking.length) asked.push(notAsked(asking.length))
  const next = { ordinary: (await submitted).values(), asked: asked.values() }
  return wishes.map(({ verb }) => (verb ? next.asked : next.ordinary).next().value ?? throwMissingOutcome())
}

async function settleInBatch({ log }: Domain, work: Promise<SubmissionOutcome>): Promise<SubmissionOutcome> {
  try {
    return await settled(work)
  } catch (error) {
    log.error({ err: error }, 'a submission of a batch failed')
    return new Unavailable('This submission failed unexpectedly; the rest of the batch was processed', { cause: error })
  }
}

const notAsked = (count: number) =>
  new Unavailable(
    `The scheduler did not reach this submission within ${questionsMsMax / 1_000} s of the ${count} with dryRun or noWait in this call; send it again`,
  )

type Verb = (domain: Domain, viewer: Viewer, input: unknown) => Promise<SubmissionOutcome>

const wished = z.looseObject({ dryRun: z.boolean().nullish(), noWait: z.boolean().nullish() })

/** `noWait` does not change a dry run, which always says whether the job would start now. */
function readMode(raw: unknown): { verb: Verb | null; input: unknown } {
  const parsed = wished.safeParse(raw)
  if (!parsed.success) return { verb: null, input: raw }
  const { dryRun: dry, noWait, ...input } = parsed.data
  return { verb: dry ? dryRun : noWait ? startNow : null, input }
}

const approvalPending = (need: ApprovalNeed, { singleUser }: Domain) =>
  makeReason(
    'APPROVAL_PENDING',
    `Waiting for the approval of ${describeApprovers(need, singleUser)}, ${need.expiresAfterSeconds} s from submission at most: ${need.reason}`,
  )

async function dryRun(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmissionOutcome> {
  const decision = await previewSubmission(domain, readSubmission(viewer, raw, domain.time.nowMs()))
  if ('refusal' in decision) return decision.refusal
  if ('hit' in decision) return dryRunHit(domain, decision.hit)
  const { job, warnings } = decision
  const { pool, spec, teamId, shareAccount } = job
  const { userId, userName, level } = viewer
  const payload: AskedJob = { spec, teamId, shareAccount, userId, userName, level }
  const asking = fitSubject(pool, payload)
  const found = { warnings, idempotentJobId: null, spec, fit: isThere }
  const judgeFit = async () => {
    const fit = await computeFit(domain, asking)
    return { fit, warnings: [...warnings, ...lastingWarnings(fit)] }
  }
  if (job.approval) {
    const reasons = [approvalPending(job.approval, domain)]
    return { ...found, ...(await judgeFit()), wouldBe: 'BLOCKED', ...notStarted, reasons }
  }
  const answer = (await askLeader(domain, pool, { kind: 'DRY_RUN', payload })) as DryRunAnswer
  if (answer.place) return { ...found, wouldBe: answer.wouldBe, ...startFields(answer.place) }
  const { wouldBe, position } = answer
  const judged = { ...found, ...(await judgeFit()) }
  const reasons = await hideJobs(domain, viewer, answer.reasons)
  if (wouldBe === 'FAILED') return { ...judged, wouldBe, ...notStarted, reasons }
  const waiting = { ...(await gatesOfSpec(domain.db.sql, spec)), reasons, position }
  const estimatedStart = judged.fit.never ? null : await estimateUnstored(domain, { ...asking, ...waiting })
  return { ...judged, wouldBe, ...notStarted, reasons, position, estimatedStart }
}

function fitSubject(pool: string, { spec, shareAccount, level, userName, ...asked }: AskedJob): FitSubject {
  const lane = makeLane({
    pool,
    spec,
    ...asked,
    account: shareAccount,
    basePriority: basePriority[level],
    override: null,
  })
  const { shape } = lane
  return { ...lane, userName, team: spec.team, gpu: shape.gpu * shape.copies, exclusive: shape.exclusive }
}

/** Submissions have all warnings but those about limits. */
const lastingWarnings = ({ never }: Fit): string[] =>
  never === null || never.scope === null ? [] : [`${never.message}; the job waits until the limit changes`]

const notStarted = { nodes: [], gpuIds: [], position: null, estimatedStart: null }

function startFields({ nodes, gpuIds, atMs }: NonNullable<DryRunAnswer['place']>) {
  const at = new Date(atMs)
  const estimatedStart: Estimate = { p50: at, p90: at, earliest: at, latest: at, basis: 'The job can start now' }
  return { nodes, gpuIds, reasons: [], position: null, estimatedStart }
}

/** For a submission whose key is stored. */
export async function dryRunHit({ db }: Domain, jobId: string): Promise<DryRun> {
  const job = await db.prisma.job.findUnique({ where: { id: jobId }, select: { state: true, spec: true } })
  if (!job) throw jobDeleted()
  return {
    wouldBe: job.state,
    spec: job.spec as unknown as JobSpec,
    ...notStarted,
    reasons: [],
    fit: null,
    warnings: [],
    idempotentJobId: jobId,
  }
}

async function startNow(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmissionOutcome> {
  for (let look = 0; look < attemptsMax; look++) {
    const decision = await previewSubmission(domain, readSubmission(viewer, raw, domain.time.nowMs()))
    if ('refusal' in decision) return decision.refusal
    if ('hit' in decision) {
      const answered = await readOutcome(domain, decision)
      if (answered) return answered
      continue
    }
    if (decision.job.approval) return new Rejected([approvalPending(decision.job.approval, domain)])
    const { permissions, granted } = viewer
    const asking = { ...viewer, permissions: [...permissions], granted: [...granted] }
    const payload: NoWaitQuestion = { viewer: asking, input: raw }
    const answer = (await askLeader(domain, decision.job.pool, { kind: 'NO_WAIT', payload })) as NoWaitAnswer
    if ('started' in answer) {
      const job = await readJob(domain, answer.started.jobId)
      return job ? { ...answer.started, job, idempotentHit: false } : jobDeleted()
    }
    if ('rejected' in answer) return new Rejected(await hideJobs(domain, viewer, answer.rejected))
  }
  throw new Unavailable('The submission conflicted with other changes several times; send it again')
}

function hideJobs(domain: Domain, viewer: Viewer, reasons: readonly Reason[]): Promise<Reason[]> {
  return Promise.all(
    reasons.map(async (reason) => {
      const job = reason.jobId === null ? null : await readJob(domain, reason.jobId)
      return job && maySee(viewer, job) ? reason : unnamed(reason)
    }),
  )
}

export const restoreViewer = ({ viewer }: NoWaitQuestion): Viewer =>
  ({ ...viewer, permissions: new Set(viewer.permissions), granted: new Set(viewer.granted) }) as Viewer
