import { z } from 'zod'
import type { Sql } from '../../platform/tx.ts'
import { demand, maySee, type Viewer } from '../access.ts'
import { accepts } from '../actions.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, InvalidState, jobNotFound } from '../errors.ts'
import { jobChangeSql } from '../jobs/job-change.ts'
import { demandVersion, lockJobs } from '../jobs/job-head.ts'
import { computeBand, insertLanes, type Lane, type LaneOf, makeLane, type Policy } from '../lanes.ts'
import { parseInput } from '../parse.ts'
import { lockSubmissions } from '../submission-lock.ts'

/**
 * Under PRIORITY, a person can set a priority in place of that of the level, until the job starts. The job moves to
 * another lane; the submission lock keeps retention from removing the new lane before that.
 */

const priorityMax = 50
const range = `must be 0 … ${priorityMax}, or null to clear it`

const priorityInput = z.strictObject({
  jobId: z.string(),
  priority: z.int(range).min(0, range).max(priorityMax, range).nullish(),
  expectedVersion: z.int().min(1, 'must be at least 1').nullish(),
})

export async function setJobPriority(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ jobId: string }> {
  const { jobId, priority = null, expectedVersion } = parseInput(priorityInput, raw)
  await domain.db.transaction(async (sql) => {
    await lockSubmissions(sql)
    const job = (await lockJobs(sql, [jobId])).get(jobId)
    if (!job || !maySee(viewer, job)) throw jobNotFound(jobId)
    demand(viewer, 'job.priority')
    if (!accepts('SET_PRIORITY', job.state))
      throw new InvalidState(
        `The job is ${job.state}; a priority can be set only while a job is BLOCKED or QUEUED`,
        jobId,
      )
    demandVersion(job, expectedVersion)
    const { policy, ...before } = await readPriority(sql, jobId)
    if (priority !== null && policy === 'FAIR_SHARE') throw noPriority(before.pool)
    if (before.override === priority) return
    const change = { jobId, before, override: priority, lane: makeLane({ ...before, override: priority }) }
    await write(sql, viewer, change)
    const detail = { from: before.override, to: priority }
    await audit(sql, viewer, [{ action: 'job.priority', objectId: jobId, detail }], domain.time.nowMs())
  })
  for (const topic of ['event', 'queue'] as const) domain.wakeups.poke(topic)
  return { jobId }
}

const noPriority = (pool: string) =>
  InvalidInput.at(
    'priority',
    `Has no effect: pool ${pool} orders by fair share, the account with the smallest share first. ` +
      'Submit the job with a higher bid to pass other jobs of its account, or give the account a weight in the pool',
  )

async function readPriority(sql: Sql, jobId: string): Promise<LaneOf & { policy: Policy }> {
  const [row] = await sql.query<LaneOf & { policy: Policy }>(
    `SELECT p.policy::text AS policy, j.pool, j.user_id AS "userId", j.team_id AS "teamId", l.account, j.spec, j.base_priority AS "basePriority",
       j.priority_override AS override FROM job j JOIN lane l ON l.id = j.lane_id JOIN pool p ON p.name = j.pool WHERE j.id = $1`,
    [jobId],
  )
  if (!row) throw jobNotFound(jobId)
  return row
}

interface Change {
  jobId: string
  before: LaneOf
  override: number | null
  lane: Lane
}

async function write(sql: Sql, viewer: Viewer, { jobId, before, override, lane }: Change): Promise<void> {
  const was = before.override ?? before.basePriority
  const message = override === null ? `Priority ${was} cleared` : `Priority ${was} → ${override}`
  await sql.query(writeSql, [
    jobId,
    override,
    lane.id,
    computeBand(lane),
    JSON.stringify([lane]),
    `${message} by ${viewer.userName}`,
    viewer.userId,
    JSON.stringify({ from: before.override, to: override }),
  ])
}

const writeSql = `
WITH lanes AS (${insertLanes('$5')}),
${jobChangeSql({
  jobs: 'WHERE job.id = $1',
  set: ['priority_override = $2', 'lane_id = $3'],
  type: 'PRIORITY_CHANGED',
  event: { message: '$6::text', run: 'job.run_number', actor_id: '$7::text', metadata: '$8::jsonb' },
})},
moved AS (UPDATE queue_entry SET lane_id = $3, band = $4 FROM changed WHERE job_id = changed.id)
SELECT 1 FROM told`
