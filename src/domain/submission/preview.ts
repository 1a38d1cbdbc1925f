import { Unavailable } from '../../platform/tx.ts'
import { basePriority, type Viewer } from '../access.ts'
import type { ApprovalNeed } from '../control/approval-rules.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { makeLane } from '../lanes.ts'
import { type Estimate, estimateStartOfUnstored } from '../queue/estimate.ts'
import { computeFit, correctByLeader, type Fit, type FitSubject, placedFit } from '../queue/fit.ts'
import type { ForecastStart } from '../queue/forecasts.ts'
import { readGatesOfSpec } from '../queue/gates.ts'
import { askLeader } from '../queue/questions.ts'
import type { Reason } from '../reason.ts'
import type { JobSpec } from '../spec.ts'
import type { JobState } from '../state.ts'
import type { QuotaEffect, SubmissionVerdict } from './accept.ts'
import type { NewJob } from './insert.ts'
import { readRetry, readRetryInput, readStoredRetry, reportAtOverrides } from './retry.ts'
import { readSubmission } from './submission.ts'
import { hideJobs, makeApprovalPendingReason, readWish } from './submit.ts'
import { makeJobDeletedError, previewSubmission } from './submit-group.ts'

/**
 * Predicts the outcome of a submission or a retry, without writing. Makes all checks of a submission first; then the
 * leader of the pool tries to place the job at the end of the queue. Throws the refusal of a submission that would be
 * refused.
 */

export interface JobPreview {
  wouldBe: JobState
  nodes: string[]
  gpuIds: number[]
  reasons: Reason[]
  /** null: the idempotency key already has a job. */
  fit: Fit | null
  warnings: string[]
  /** null: the job would not be queued. */
  position: number | null
  /** null: the start cannot be estimated, or the idempotency key already has a job. */
  estimatedStart: Estimate | null
  approval: ApprovalNeed | null
  /** null: unknown or unbounded. */
  cost: { amount: number; pool: string } | null
  quotas: QuotaEffect[]
  preempts: string[]
  idempotentJobId: string | null
  spec: JobSpec
}

/** The answer of the leader for a job at the end of the queue. */
export interface PreviewAnswer {
  wouldBe: 'STARTING' | 'QUEUED' | 'FAILED'
  /** `atMs`: the time of the leader's state in which the job fits. */
  place: { nodes: string[]; gpuIds: number[]; atMs: number } | null
  reasons: Reason[]
  position: number
  preempts: string[]
}

/** The forecast of the leader for this job; null: the job starts after the end of the forecast, or never. */
export type ForecastAnswer = { p50Ms: number; p90Ms: number | null; basis: string } | null

export type AskedJob = Pick<NewJob, 'spec' | 'teamId' | 'shareAccount'> & Pick<Viewer, 'userId' | 'userName' | 'level'>

/** A preview ignores `noWait`, because it always reports whether the job would start now. */
export async function previewJob(domain: Domain, viewer: Viewer, raw: unknown): Promise<JobPreview> {
  const { input } = readWish(raw)
  const decision = await previewSubmission(domain, readSubmission(viewer, input, domain.time.nowMs()))
  if (!('job' in decision)) return previewStored(domain, decision)
  const { job, warnings, quotas = [], cost } = decision
  const { pool, spec, teamId, shareAccount } = job
  const { userId, userName, level } = viewer
  const payload: AskedJob = { spec, teamId, shareAccount, userId, userName, level }
  const subject = fitSubject(pool, payload)
  const consequences = {
    approval: job.approval,
    cost: cost == null ? null : { amount: cost, pool },
    quotas,
    preempts: [],
  }
  const found = { ...consequences, warnings, idempotentJobId: null, spec, fit: placedFit }
  const judgeFit = async (reason: Reason | null = null) => {
    const fit = correctByLeader(await computeFit(domain, subject), reason)
    return { fit, warnings: [...warnings, ...lastingWarnings(fit)] }
  }
  if (job.approval) {
    const reasons = [makeApprovalPendingReason(job.approval, domain)]
    return { ...found, ...(await judgeFit()), wouldBe: 'BLOCKED', ...notStarted, reasons }
  }
  const answer = (await askLeader(domain, pool, { kind: 'PREVIEW', payload })) as PreviewAnswer
  if (answer.place) return { ...found, wouldBe: answer.wouldBe, ...startFields(answer.place) }
  const { wouldBe, position, preempts } = answer
  const reasons = await hideJobs(domain, viewer, answer.reasons)
  const judged = { ...found, preempts, ...(await judgeFit(reasons[0])) }
  if (wouldBe === 'FAILED') return { ...judged, wouldBe, ...notStarted, reasons }
  const readForecast = () => forecastStart(domain, pool, payload)
  const waiting = { ...(await readGatesOfSpec(domain.db.sql, spec)), reasons, position, readForecast }
  const estimatedStart = judged.fit.never ? null : await estimateStartOfUnstored(domain, { ...subject, ...waiting })
  return { ...judged, wouldBe, ...notStarted, reasons, position, estimatedStart }
}

const forecastMsMax = 3_000

/** null: the leader has no forecast, or no time for one. */
async function forecastStart(domain: Domain, pool: string, payload: AskedJob): Promise<ForecastStart | null> {
  const asking = askLeader(domain, pool, { kind: 'FORECAST', payload, waitMsMax: forecastMsMax })
  const answer = (await asking.catch(nullIfUnavailable)) as { start: ForecastAnswer } | null
  if (!answer?.start) return null
  const { p50Ms, p90Ms, basis } = answer.start
  return { p50: new Date(p50Ms), p90: p90Ms === null ? null : new Date(p90Ms), basis }
}

function nullIfUnavailable(error: unknown): null {
  if (error instanceof Unavailable) return null
  throw error
}

export async function previewRetry(domain: Domain, viewer: Viewer, raw: unknown): Promise<JobPreview> {
  const input = readRetryInput(viewer, raw)
  const stored = await readStoredRetry(domain, viewer, input)
  if (stored) return previewStored(domain, stored)
  try {
    return await previewJob(domain, viewer, await readRetry(domain, viewer, input))
  } catch (error) {
    throw error instanceof InvalidInput ? reportAtOverrides(error, input) : error
  }
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

/** Warnings about limits that keep the job from starting. A submission does not return them. */
const lastingWarnings = ({ never }: Fit): string[] =>
  never === null || never.scope === null ? [] : [`${never.message}; the job waits until the limit changes`]

const notStarted = { nodes: [], gpuIds: [], position: null, estimatedStart: null }

function startFields({ nodes, gpuIds, atMs }: NonNullable<PreviewAnswer['place']>) {
  const at = new Date(atMs)
  const basis = 'The job can start now'
  const estimatedStart: Estimate = { p50: at, p90: at, earliest: at, latest: at, basis, unknown: [] }
  return { nodes, gpuIds, reasons: [], position: null, estimatedStart }
}

/** The preview of a submission that is refused, or whose key already has a job. */
async function previewStored(
  { db }: Domain,
  decision: Exclude<SubmissionVerdict, { job: unknown }>,
): Promise<JobPreview> {
  if ('refusal' in decision) throw decision.refusal
  const { hit: id } = decision
  const job = await db.prisma.job.findUnique({ where: { id }, select: { state: true, spec: true } })
  if (!job) throw makeJobDeletedError()
  return {
    wouldBe: job.state,
    spec: job.spec as unknown as JobSpec,
    ...notStarted,
    reasons: [],
    approval: null,
    cost: null,
    quotas: [],
    preempts: [],
    fit: null,
    warnings: [],
    idempotentJobId: id,
  }
}
