import { z } from 'zod'
import type { Sql } from '../../platform/tx.ts'
import { demand, maySee, type Viewer } from '../access.ts'
import { isActionAccepted } from '../actions.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, InvalidState, jobNotFound, orRefusal, Refusal, takeOnlyOutcome } from '../errors.ts'
import { jobChangeSql } from '../jobs/job-change.ts'
import { demandVersion, type JobHead, lockJobs } from '../jobs/job-head.ts'
import { computeBand, insertLanes, type Lane, type LaneOf, listLanes, makeLane, type Policy } from '../lanes.ts'
import { parseInput } from '../parse.ts'
import { lockSubmissions } from '../submission-lock.ts'

/**
 * Under PRIORITY, a person can set a priority in place of that of the level, until the job starts. The job moves to
 * another lane; the submission lock keeps retention from removing the new lane before that.
 */

const priorityMax = 50
const range = `must be 0 … ${priorityMax}, or null to clear it`

const priorityInput = z.strictObject({
  priority: z.int(range).min(0, range).max(priorityMax, range).nullish(),
  expectedVersion: z.int().min(1, 'must be at least 1').nullish(),
})

interface PriorityInput {
  priority?: unknown
  expectedVersion?: number | null | undefined
}

interface Prioritised {
  jobId: string
}

export async function setJobPriority(
  domain: Domain,
  viewer: Viewer,
  { jobId, ...input }: PriorityInput & { jobId: string },
): Promise<Prioritised> {
  return takeOnlyOutcome(await setJobPriorities(domain, viewer, { ...input, jobIds: [jobId] }))
}

/** `inputs` may name each job once. */
export async function setJobPriorities(
  domain: Domain,
  viewer: Viewer,
  { jobIds, ...raw }: PriorityInput & { jobIds: readonly string[] },
): Promise<(Prioritised | Refusal)[]> {
  const input = parseInput(priorityInput, raw)
  const priority = input.priority ?? null
  const outcomes = await domain.db.transaction(async (sql) => {
    await lockSubmissions(sql)
    const heads = await lockJobs(sql, jobIds)
    const before = await readPriorities(sql, jobIds)
    const decided = jobIds.map((jobId) =>
      orRefusal(() => {
        const job = demandWaiting(viewer, jobId, heads.get(jobId))
        demandVersion(job, input.expectedVersion)
        return decide(before.get(jobId) ?? throwMissingLane(), priority)
      }),
    )
    const changes = decided.flatMap((one) => (one instanceof Refusal || one === null ? [] : [one]))
    await write(sql, viewer, changes, priority)
    const records = changes.map(({ jobId, from }) => ({
      action: 'job.priority',
      objectId: jobId,
      detail: { from, to: priority },
    }))
    await audit(sql, viewer, records, domain.time.nowMs())
    return decided.map((one, index) => (one instanceof Refusal ? one : { jobId: jobIds[index] ?? throwMissingLane() }))
  })
  for (const topic of ['event', 'queue'] as const) domain.wakeups.poke(topic)
  return outcomes
}

function demandWaiting(viewer: Viewer, jobId: string, job: JobHead | undefined): JobHead {
  if (!job || !maySee(viewer, job)) throw jobNotFound(jobId)
  demand(viewer, 'job.priority')
  if (!isActionAccepted('SET_PRIORITY', job.state))
    throw new InvalidState(
      `The job is ${job.state}; a priority can be set only while a job is BLOCKED or QUEUED`,
      jobId,
    )
  return job
}

/** Never happens, because every locked job has a lane. */
function throwMissingLane(): never {
  throw new Error('A locked job has no lane')
}

interface Change {
  jobId: string
  from: number | null
  message: string
  lane: Lane
}

/** null: the job has this priority already. */
function decide({ jobId, policy, ...before }: Before, priority: number | null): Change | null {
  if (priority !== null && policy === 'FAIR_SHARE') throw noPriority(before.pool)
  if (before.override === priority) return null
  const was = before.override ?? before.basePriority
  const message = priority === null ? `Priority ${was} cleared` : `Priority ${was} → ${priority}`
  return { jobId, from: before.override, message, lane: makeLane({ ...before, override: priority }) }
}

const noPriority = (pool: string) =>
  InvalidInput.at(
    'priority',
    `Has no effect: pool ${pool} orders by fair share, the account with the smallest share first. ` +
      'Submit the job with a higher bid to pass your other jobs of its account, or give the account a weight in the pool',
  )

interface Before extends LaneOf {
  jobId: string
  policy: Policy
}

async function readPriorities(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, Before>> {
  const rows = await sql.query<Before>(
    `SELECT j.id AS "jobId", p.policy::text AS policy, j.pool, j.user_id AS "userId", j.team_id AS "teamId", l.account, j.spec,
       j.base_priority AS "basePriority", j.priority_override AS override
     FROM job j JOIN lane l ON l.id = j.lane_id JOIN pool p ON p.name = j.pool WHERE j.id = ANY($1::text[])`,
    [jobIds],
  )
  return new Map(rows.map((row) => [row.jobId, row]))
}

async function write(sql: Sql, viewer: Viewer, changes: readonly Change[], priority: number | null): Promise<void> {
  if (changes.length === 0) return
  const given = changes.map(({ jobId, from, message, lane }) => ({
    id: jobId,
    lane: lane.id,
    band: computeBand(lane),
    message: `${message} by ${viewer.userName}`,
    metadata: { from, to: priority },
  }))
  await sql.query(writeSql, [JSON.stringify(listLanes(changes)), JSON.stringify(given), priority, viewer.userId])
}

const writeSql = `
WITH lanes AS (${insertLanes('$1')}),
given AS (
  SELECT * FROM jsonb_to_recordset($2::text::jsonb) AS g(id text, lane uuid, band int, message text, metadata jsonb)
),
${jobChangeSql({
  jobs: 'FROM given WHERE job.id = given.id',
  set: ['priority_override = $3', 'lane_id = given.lane'],
  type: 'PRIORITY_CHANGED',
  event: { message: 'given.message', run: 'job.run_number', actor_id: '$4::text', metadata: 'given.metadata' },
})},
moved AS (UPDATE queue_entry SET lane_id = given.lane, band = given.band FROM given WHERE job_id = given.id)
SELECT 1 FROM told`
