import { z } from 'zod'
import type { Sql } from '../../platform/tx.ts'
import { demandMayActOn, type Viewer } from '../access.ts'
import { isActionAccepted } from '../actions.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { jobNotFound, orRefusal, Refusal, takeOnlyOutcome } from '../errors.ts'
import { demandVersion, type JobHead, lockJobs } from '../jobs/job-head.ts'
import { type Move, transition } from '../jobs/transition.ts'
import { parseInput } from '../parse.ts'
import { stateCategory } from '../state.ts'
import { closeApprovals } from './approvals.ts'

/**
 * Cancels jobs. BLOCKED and QUEUED jobs end at once; STARTING and RUNNING jobs become CANCELLING, and the runner stops
 * them. A start that the backend has not finished is abandoned, and a run that started anyway is stopped
 * (scheduler/run-carrier.ts). Other jobs do not change: `changed: false`.
 */

interface CancelInput {
  jobId: string
  reason?: string | null | undefined
  expectedVersion?: number | null | undefined
}

export interface Cancelled {
  jobId: string
  changed: boolean
}

const reasonMax = 1_000
const reasonInput = z.string().max(reasonMax, `must have at most ${reasonMax} characters`).nullish()

export async function cancelJob(domain: Domain, viewer: Viewer, input: CancelInput): Promise<Cancelled> {
  return takeOnlyOutcome(await cancelJobs(domain, viewer, [input]))
}

export async function cancelJobs(
  domain: Domain,
  viewer: Viewer,
  inputs: readonly CancelInput[],
): Promise<(Cancelled | Refusal)[]> {
  const outcomes = await domain.db.transaction(async (sql) => {
    const jobs = await lockJobs(
      sql,
      inputs.map(({ jobId }) => jobId),
    )
    const ofTeams = await readJobsOfTeams(sql, viewer, [...jobs.keys()])
    const decided = inputs.map((input, index) => {
      const first = inputs.findIndex(({ jobId }) => jobId === input.jobId) === index
      const job = jobs.get(input.jobId)
      return decide(viewer, input, job && { ...job, sharesTeam: ofTeams.has(job.id) }, first)
    })
    const moves = decided.flatMap((one) => ('move' in one ? [one.move] : []))
    await transition(sql, moves, domain.time.nowMs())
    const blocked = moves.filter(({ from }) => from === 'BLOCKED').map(({ jobId }) => jobId)
    await closeApprovals(sql, blocked, 'CANCELLED', viewer.userId)
    const records = moves.map(({ jobId }) => ({ action: 'job.cancel', objectId: jobId }))
    await audit(sql, viewer, records, domain.time.nowMs())
    return decided.map((one) => ('move' in one ? { jobId: one.move.jobId, changed: true } : one.outcome))
  })
  for (const topic of ['event', 'queue', 'run'] as const) domain.wakeups.poke(topic)
  return outcomes
}

/** The jobs that belong to a team of the viewer; read only if the permission depends on it. */
async function readJobsOfTeams(sql: Sql, viewer: Viewer, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { permissions, userId } = viewer
  if (permissions.has('job.cancel.all') || !permissions.has('job.cancel.team')) return new Set()
  const rows = await sql.query<{ id: string }>(
    `SELECT j.id FROM job j JOIN team_member m ON m.team_id = j.team_id
     WHERE j.id = ANY($1::text[]) AND m.user_id = $2`,
    [ids, userId],
  )
  return new Set(rows.map(({ id }) => id))
}

interface Head extends JobHead {
  sharesTeam: boolean
}

type Decided = { move: Move } | { outcome: Cancelled | Refusal }

function decide(viewer: Viewer, input: CancelInput, head: Head | undefined, first: boolean): Decided {
  const job = orRefusal(() => demandCancel(viewer, input, head))
  if (job instanceof Refusal) return { outcome: job }
  if (!first || !isActionAccepted('CANCEL', job.state)) return { outcome: { jobId: input.jobId, changed: false } }
  const move: Move = {
    jobId: job.id,
    run: job.run,
    from: job.state,
    to: stateCategory[job.state] === 'WAITING' ? 'CANCELLED' : 'CANCELLING',
    reason: 'CANCELLED',
    info: input.reason || `Cancelled by ${viewer.userName}`,
    actorId: viewer.userId,
  }
  return { move }
}

function demandCancel(viewer: Viewer, input: CancelInput, job: Head | undefined): JobHead {
  if (!job) throw jobNotFound(input.jobId)
  demandMayActOn(viewer, job, 'cancel')
  demandVersion(job, input.expectedVersion)
  parseInput(reasonInput, input.reason, ['reason'])
  return job
}
