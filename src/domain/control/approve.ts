import { z } from 'zod'
import type { Sql } from '../../platform/tx.ts'
import { maySee, type UserLevel, type Viewer } from '../access.ts'
import { isActionAccepted } from '../actions.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidState, jobNotFound, orRefusal, Refusal, takeOnlyOutcome } from '../errors.ts'
import { jobChangeSql } from '../jobs/job-change.ts'
import { demandVersion, lockJobs } from '../jobs/job-head.ts'
import { type Move, transition } from '../jobs/transition.ts'
import { parseInput } from '../parse.ts'
import type { JobState } from '../state.ts'
import { readApprovals } from './approvals.ts'
import { demandApprover } from './approvers.ts'

/**
 * Approves and rejects jobs. Decisions, cancellation and expiry all lock the row of the job first, so exactly one of
 * them wins. The decision is stored as an event right before the change of state.
 */

export interface Decided {
  jobId: string
}

type Verdict = 'APPROVED' | 'REJECTED'

const wordsMax = 1_000
const words = z.string().max(wordsMax, `must have at most ${wordsMax} characters`)
const version = z.int().min(1, 'must be at least 1')
const approveInput = z.strictObject({ jobId: z.string(), comment: words.nullish(), expectedVersion: version })
const rejectInput = z.strictObject({
  jobId: z.string(),
  reason: words.refine((reason) => reason.trim() !== '', 'must give a reason'),
  expectedVersion: version,
})

interface Decision {
  verdict: Verdict
  jobId: string
  words: string | null
  expectedVersion: number
}

function readApproval(raw: unknown): Decision {
  const { jobId, comment, expectedVersion } = parseInput(approveInput, raw)
  return { verdict: 'APPROVED', jobId, words: comment || null, expectedVersion }
}

function readRejection(raw: unknown): Decision {
  const { jobId, reason, expectedVersion } = parseInput(rejectInput, raw)
  return { verdict: 'REJECTED', jobId, words: reason, expectedVersion }
}

export const approveJobs = (domain: Domain, viewer: Viewer, raw: readonly unknown[]): Promise<(Decided | Refusal)[]> =>
  decideAll(domain, viewer, raw.map(parsed(readApproval)))

export const rejectJobs = (domain: Domain, viewer: Viewer, raw: readonly unknown[]): Promise<(Decided | Refusal)[]> =>
  decideAll(domain, viewer, raw.map(parsed(readRejection)))

export const approveJob = async (domain: Domain, viewer: Viewer, raw: unknown): Promise<Decided> =>
  takeOnlyOutcome(await approveJobs(domain, viewer, [raw]))

export const rejectJob = async (domain: Domain, viewer: Viewer, raw: unknown): Promise<Decided> =>
  takeOnlyOutcome(await rejectJobs(domain, viewer, [raw]))

const parsed = (read: (raw: unknown) => Decision) => (raw: unknown) => orRefusal(() => read(raw))

async function decideAll(
  domain: Domain,
  viewer: Viewer,
  asked: readonly (Decision | Refusal)[],
): Promise<(Decided | Refusal)[]> {
  const outcomes = await domain.db.transaction(async (sql) => {
    const jobs = await readBlocked(
      sql,
      asked.flatMap((each) => (each instanceof Refusal ? [] : [each.jobId])),
    )
    const decided = new Set<string>()
    const checked = asked.map((each) => {
      if (each instanceof Refusal) return each
      const outcome = orRefusal(() => check(domain, viewer, { decision: each, job: jobs.get(each.jobId), decided }))
      if (!(outcome instanceof Refusal)) decided.add(each.jobId)
      return outcome
    })
    const moves = checked.flatMap((each) => (each instanceof Refusal ? [] : [each]))
    const won = await write(sql, viewer, { moves, nowMs: domain.time.nowMs() })
    return checked.map((each) => {
      if (each instanceof Refusal) return each
      return won.has(each.jobId) ? { jobId: each.jobId } : notOpen(each.jobId)
    })
  })
  for (const topic of ['event', 'queue'] as const) domain.wakeups.poke(topic)
  return outcomes
}

interface BlockedJob {
  id: string
  userId: string
  state: JobState
  run: number
  version: number
  requiredLevel: UserLevel | null
  open: boolean
  requesterDisabled: boolean
}

/** Reads the requests after it has locked the jobs. */
async function readBlocked(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, BlockedJob>> {
  const jobs = await lockJobs(sql, ids)
  const requests = new Map((await readApprovals(sql, 'job_id', ids)).map((request) => [request.jobId, request]))
  return new Map(
    [...jobs].map(([id, job]) => {
      const request = requests.get(id)
      const { requiredLevel = null, requesterDisabled = false } = request ?? {}
      return [id, { ...job, requiredLevel, open: request?.status === 'PENDING', requesterDisabled }]
    }),
  )
}

interface PendingDecision {
  decision: Decision
  job: BlockedJob | undefined
  /** Jobs that an earlier item of the same call has decided. */
  decided: ReadonlySet<string>
}

interface DecidedMove extends Move {
  verdict: Verdict
  words: string | null
}

function check(domain: Domain, viewer: Viewer, { decision, job, decided }: PendingDecision): DecidedMove {
  const { verdict, jobId, words, expectedVersion } = decision
  if (!job || !maySee(viewer, job)) throw jobNotFound(jobId)
  demandApprover(viewer, job, domain.singleUser)
  if (!isActionAccepted(verdict === 'APPROVED' ? 'APPROVE' : 'REJECT', job.state) || !job.open || decided.has(jobId))
    throw notOpen(jobId)
  // In single-user mode every other user is disabled, but their jobs continue.
  if (verdict === 'APPROVED' && job.requesterDisabled && !domain.singleUser)
    throw new InvalidState('The user of the job is disabled; reject the job, or enable the user first', jobId)
  demandVersion(job, expectedVersion)
  const by = `${verdict === 'APPROVED' ? 'Approved' : 'Rejected'} by ${viewer.userName}`
  return {
    verdict,
    words,
    jobId,
    run: job.run,
    from: 'BLOCKED',
    to: verdict === 'APPROVED' ? 'QUEUED' : 'FAILED',
    reason: verdict === 'APPROVED' ? 'APPROVED' : 'APPROVAL_REJECTED',
    info: words === null ? by : `${by}: ${words}`,
    actorId: viewer.userId,
  }
}

const notOpen = (jobId: string) =>
  new InvalidState('The job has no pending approval request: it was decided, has expired, or was never required', jobId)

/** Returns the jobs whose request was still open. */
async function write(
  sql: Sql,
  viewer: Viewer,
  { moves, nowMs }: { moves: readonly DecidedMove[]; nowMs: number },
): Promise<ReadonlySet<string>> {
  if (moves.length === 0) return new Set()
  const rows = moves.map(({ jobId, verdict, words, info }) => ({ job_id: jobId, verdict, words, info }))
  const decided = await sql.query<{ jobId: string }>(decideSql, [JSON.stringify(rows), viewer.userId], 'decide')
  const won = new Set(decided.map(({ jobId }) => jobId))
  const winners = moves.filter(({ jobId }) => won.has(jobId))
  await transition(
    sql,
    winners.map(({ verdict: _, words: __, ...move }) => move),
    nowMs,
  )
  const records = winners.map(({ verdict, jobId, words }) => ({
    action: verdict === 'APPROVED' ? 'job.approve' : 'job.reject',
    objectId: jobId,
    detail: { words },
  }))
  await audit(sql, viewer, records, nowMs)
  return won
}

const decideSql = `
WITH clock AS MATERIALIZED (SELECT berth_now() AS now),
asked AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS a(job_id text, verdict approval_status, words text, info text)
),
decided AS (
  UPDATE approval SET status = a.verdict, decided_by = $2, decided_at = clock.now, comment = a.words
  FROM asked a, clock
  WHERE approval.job_id = a.job_id AND approval.status = 'PENDING' AND approval.expires_at > clock.now
  RETURNING a.*
),
${jobChangeSql({
  jobs: 'FROM decided d, clock WHERE job.id = d.job_id',
  type: 'APPROVAL_DECIDED',
  event: {
    at: 'clock.now',
    reason: `CASE d.verdict WHEN 'APPROVED' THEN 'APPROVED' ELSE 'APPROVAL_REJECTED' END`,
    message: 'd.info',
    run: 'job.run_number',
    actor_id: '$2',
    metadata: `jsonb_build_object('comment', d.words)`,
  },
})}
SELECT job_id AS "jobId" FROM told`
