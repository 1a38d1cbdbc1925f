import { holdsSql } from '../domain/dependencies.ts'
import type { Domain } from '../domain/domain.ts'
import { allocate, readNodes } from '../domain/nodes.ts'
import { shapeOf } from '../domain/shape.ts'
import type { Resources } from '../domain/spec.ts'
import { transition } from '../domain/transition.ts'
import { fence } from '../platform/leadership.ts'
import { type Sql, sqlState } from '../platform/tx.ts'
import { plan, type Start, type WaitingJob } from './plan.ts'

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
  let after = -1
  for (;;) {
    const { waiting, nodes } = await observe(domain, leader.pool, after)
    const decisions = plan({ waiting, nodes }, startsPerBatch)
    pass.considered += decisions.considered
    pass.started += await apply(domain, leader, decisions.starts)
    // What did not start stays where it is: the next page begins after the last one looked at.
    after = waiting[decisions.considered - 1]?.sequence ?? after
    const lookedAtAll = decisions.considered === waiting.length && waiting.length < lookAtMax
    if (decisions.blockedBy || lookedAtAll) return pass
  }
}

interface Observed extends WaitingJob {
  sequence: number
}

async function observe({ db }: Domain, pool: string, after: number) {
  const rows = await db.sql.query<Omit<Observed, 'shape'> & { resources: Resources }>(
    waitingSql,
    [pool, after, lookAtMax],
    'observe_waiting',
  )
  const waiting: Observed[] = rows.map(({ resources, ...row }) => ({ ...row, shape: shapeOf(resources) }))
  return { waiting, nodes: waiting.length > 0 ? await readNodes(db.sql, pool) : [] }
}

/** Jobs with every gate open, in order. */
const waitingSql = `
SELECT j.id AS "jobId", r.id AS "runId", j.run_number AS run, j.version, q.sequence, j.spec->'resources' AS resources
FROM queue_entry q JOIN job j ON j.id = q.job_id JOIN run r ON r.job_id = j.id AND r.number = j.run_number
WHERE q.pool = $1 AND q.sequence > $2 AND q.eligible_at <= berth_now()
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

async function commit(domain: Domain, { pool, epoch }: Leader, starts: readonly Start[]): Promise<number> {
  const started = await domain.db.transaction(async (sql: Sql) => {
    await fence(sql, pool, epoch)
    const moved = await transition(sql, starts.map(startMove), domain.clock.now())
    const won = new Set(moved.map(({ jobId }) => jobId))
    const runs = starts.filter(({ job }) => won.has(job.jobId))
    await allocate(
      sql,
      runs.map(({ job, placements }) => ({ runId: job.runId, placements })),
    )
    return runs.length
  })
  if (started > 0) {
    domain.wakeups.poke('event')
    domain.wakeups.poke('run')
  }
  return started
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
