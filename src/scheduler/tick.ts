import { holdsSql } from '../domain/dependencies.ts'
import type { Domain } from '../domain/domain.ts'
import { fullScopes, heldBack, heldByModel, isFull, readCeilings, withJob } from '../domain/in-use.ts'
import { lockPool } from '../domain/limits.ts'
import { allocate, readNodes } from '../domain/nodes.ts'
import { shapeOf } from '../domain/shape.ts'
import type { Resources } from '../domain/spec.ts'
import { transition } from '../domain/transition.ts'
import { fence } from '../platform/leadership.ts'
import { type Sql, sqlState } from '../platform/tx.ts'
import { plan, type Room, type Start, type WaitingJob } from './plan.ts'

/**
 * One pass of a pool: observe → plan → apply. Starts are committed in batches under the leader's epoch; a job that
 * somebody cancelled meanwhile loses its compare-and-set and nothing else happens. The runner is woken by the commit.
 */
export interface Leader {
  pool: string
  epoch: number
}

const startsPerBatch = 50
const lookAtMax = 200

export interface Pass {
  considered: number
  started: number
}

export async function tick(domain: Domain, leader: Leader): Promise<Pass> {
  const pass: Pass = { considered: 0, started: 0 }
  let after = fromTheBeginning
  for (;;) {
    const room = await readRoom(domain.db.sql, domain, leader.pool)
    const page = await readWaiting(domain.db.sql, room, after)
    const decisions = plan({ ...room, waiting: page.waiting }, startsPerBatch)
    pass.considered += decisions.considered
    pass.started += await apply(domain, leader, decisions.starts)
    // What did not start stays where it is: the next page begins after the last one looked at.
    after = page.waiting[decisions.considered - 1]?.sequence ?? after
    const lookedAtAll = decisions.considered === page.waiting.length && page.isLast
    if (decisions.blockedBy || decisions.full || lookedAtAll) return pass
  }
}

export const fromTheBeginning = -1

export async function readRoom(sql: Sql, { singleUser }: Domain, pool: string): Promise<Room> {
  return { ceilings: await readCeilings(sql, pool, singleUser), nodes: await readNodes(sql, pool) }
}

export interface Page {
  waiting: (WaitingJob & { sequence: number })[]
  isLast: boolean
}

/** The next jobs with every gate open, in order, less those of scopes that are full; none when the pool is. */
export async function readWaiting(sql: Sql, { ceilings }: Room, after: number): Promise<Page> {
  if (isFull(ceilings)) return { waiting: [], isLast: true }
  const rows = await sql.query<Omit<Page['waiting'][number], 'shape'> & { resources: Resources }>(
    waitingSql,
    [ceilings.pool, after, lookAtMax, fullScopes(ceilings)],
    'read_waiting',
  )
  const waiting = rows.map(({ resources, ...row }) => ({ ...row, shape: shapeOf(resources) }))
  return { waiting, isLast: rows.length < lookAtMax }
}

const waitingSql = `
SELECT j.id AS "jobId", r.id AS "runId", j.run_number AS run, j.version, q.sequence, j.spec->'resources' AS resources,
  j.user_id AS "userId", u.name AS "userName", j.team_id AS "teamId", t.name AS team, j.queue, j.project, j.gpu
FROM queue_entry q JOIN job j ON j.id = q.job_id JOIN run r ON r.job_id = j.id AND r.number = j.run_number
JOIN "user" u ON u.id = j.user_id LEFT JOIN team t ON t.id = j.team_id
WHERE q.pool = $1 AND q.sequence > $2 AND q.eligible_at <= berth_now() AND NOT q.scopes && $4::text[]
  AND NOT EXISTS (SELECT FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = j.id AND NOT ${holdsSql})
ORDER BY q.sequence LIMIT $3`

async function apply(domain: Domain, leader: Leader, starts: readonly Start[]): Promise<number> {
  if (starts.length === 0) return 0
  try {
    return await commit(domain, leader, starts)
  } catch (error) {
    if (!['23505', '23514'].includes(sqlState(error) ?? '')) throw error
    // A device or an amount was not free after all: the batch is tried one by one, and what conflicts waits for the next pass.
    domain.log.warn({ err: error, pool: leader.pool, starts: starts.length }, 'a start met a conflict')
    let started = 0
    if (starts.length > 1) for (const start of starts) started += await apply(domain, leader, [start])
    return started
  }
}

async function commit(domain: Domain, leader: Leader, starts: readonly Start[]): Promise<number> {
  const started = await domain.db.transaction(async (sql: Sql) => {
    await fence(sql, leader.pool, leader.epoch)
    return startRuns(sql, await withinLimits(sql, { domain, pool: leader.pool }, starts), domain.clock.now())
  })
  if (started > 0) {
    domain.wakeups.poke('event')
    domain.wakeups.poke('run')
  }
  return started
}

/**
 * Limits are asked again here, where they hold: starts and changes of limits of a pool take turns at its row, and each
 * counts what was committed before it.
 */
async function withinLimits(
  sql: Sql,
  { domain, pool }: { domain: Domain; pool: string },
  starts: readonly Start[],
): Promise<Start[]> {
  await lockPool(sql, pool)
  let ceilings = await readCeilings(sql, pool, domain.singleUser)
  return starts.filter(({ job, models }) => {
    if (heldBack(ceilings, job) || heldByModel(ceilings, job, models)) return false
    ceilings = { ...ceilings, tally: withJob(ceilings, job, models) }
    return true
  })
}

/** STARTING with its allocation, for those that nobody moved meanwhile; in the open transaction of a leader. */
export async function startRuns(sql: Sql, starts: readonly Start[], nowMs: number): Promise<number> {
  const moved = await transition(sql, starts.map(startMove), nowMs)
  const won = new Set(moved.map(({ jobId }) => jobId))
  const runs = starts.filter(({ job }) => won.has(job.jobId))
  if (runs.length > 0)
    await allocate(
      sql,
      runs.map(({ job, placements }) => ({ runId: job.runId, placements })),
    )
  return runs.length
}

function startMove({ job, placements }: Start) {
  return {
    jobId: job.jobId,
    run: job.run,
    version: job.version,
    from: 'QUEUED' as const,
    to: 'STARTING' as const,
    reason: null,
    nodes: [...new Set(placements.map(({ node }) => node))],
    gpuIds: placements.flatMap(({ gpuIds }) => gpuIds),
  }
}
