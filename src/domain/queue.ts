import type { Viewer } from './access.ts'
import { holdsSql } from './dependencies.ts'
import type { Domain } from './domain.ts'
import { NotFound } from './errors.ts'
import { readNodes } from './nodes.ts'
import { couldEverFit, place } from './placement.ts'
import { type Shape, shapeOf } from './shape.ts'
import type { JobSpec } from './spec.ts'
import { holdingStates, type JobState } from './state.ts'

/** What people are told about waiting: the numbers of a pool's queue, and why a job waits and for how long. */
export interface QueueNumbers {
  pool: string
  depth: number
  running: number
  blocked: number
  avgWaitSeconds: number | null
  byState: { state: JobState; count: number }[]
  /** Own row only without job.view.all. */
  byUser: { userId: string; count: number }[]
  at: Date
}

/** `pool` null: the one that the default queue leads to. */
export async function queueNumbers({ db }: Domain, viewer: Viewer, pool: string | null): Promise<QueueNumbers> {
  const [row] = await db.sql.query<QueueNumbers>(
    numbersSql,
    [pool, viewer.permissions.has('job.view.all') ? null : viewer.userId],
    'queue_numbers',
  )
  if (!row) throw new NotFound(`There is no pool ${pool ?? ''}`)
  const count = (states: readonly JobState[]) =>
    row.byState.reduce((sum, entry) => sum + (states.includes(entry.state) ? entry.count : 0), 0)
  return { ...row, depth: count(['QUEUED']), running: count(holdingStates), blocked: count(['BLOCKED']) }
}

const numbersSql = `
WITH chosen AS (
  SELECT name FROM pool WHERE name = coalesce($1, (SELECT pool FROM submission_queue WHERE is_default))
),
alive AS MATERIALIZED (
  SELECT state, user_id FROM job JOIN chosen ON job.pool = chosen.name WHERE NOT log_closed
)
SELECT name AS pool, berth_now() AS at,
  coalesce((SELECT jsonb_agg(s) FROM (SELECT state, count(*) AS count FROM alive GROUP BY state ORDER BY state) s), '[]') AS "byState",
  coalesce((SELECT jsonb_agg(u) FROM (SELECT user_id AS "userId", count(*) AS count FROM alive
    WHERE $2::text IS NULL OR user_id = $2 GROUP BY user_id ORDER BY 2 DESC, 1 LIMIT 1000) u), '[]') AS "byUser",
  (SELECT extract(epoch FROM avg(r.scheduled_at - greatest(j.eligible_at, r.created_at)))::float8 FROM run r JOIN job j ON j.id = r.job_id
    WHERE r.pool = name AND r.scheduled_at > berth_now() - interval '24 hours') AS "avgWaitSeconds"
FROM chosen`

export interface Waiting {
  position: number
  reasons: { code: string; message: string; jobId: string | null }[]
  gates: { code: string; open: boolean; detail: string | null; opensAt: Date | null }[]
  fit: { freeNow: boolean; couldEverFit: boolean; missing: string[] }
}

interface WaitingRow {
  id: string
  pool: string
  spec: JobSpec
  ahead: number
  firstAhead: string | null
  notBefore: Date | null
  eligibleAt: Date
  now: Date
  openDependency: string | null
}

/** For every QUEUED job among `jobIds`: its place in line and why it waits. A constant number of statements. */
export async function waitingOf({ db }: Domain, jobIds: readonly string[]): Promise<ReadonlyMap<string, Waiting>> {
  const rows = await db.sql.query<WaitingRow>(waitingSql, [jobIds], 'waiting_of')
  const pools = [...new Set(rows.map((row) => row.pool))]
  const nodes = new Map(await Promise.all(pools.map(async (pool) => [pool, await readNodes(db.sql, pool)] as const)))
  return new Map(
    rows.map((row) => {
      const shape = shapeOf(row.spec.resources)
      const fit = {
        freeNow: place(shape, nodes.get(row.pool) ?? []) !== null,
        couldEverFit: couldEverFit(shape, nodes.get(row.pool) ?? []),
      }
      return [row.id, explain(row, shape, fit)]
    }),
  )
}

const waitingSql = `
SELECT j.id, j.pool, j.spec, j.not_before AS "notBefore", q.eligible_at AS "eligibleAt", berth_now() AS now,
  (SELECT count(*) FROM queue_entry a WHERE a.pool = q.pool AND a.sequence < q.sequence) AS ahead,
  (SELECT a.job_id FROM queue_entry a WHERE a.pool = q.pool AND a.sequence < q.sequence AND a.eligible_at <= berth_now()
    ORDER BY a.sequence LIMIT 1) AS "firstAhead",
  (SELECT o.id FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = j.id AND NOT ${holdsSql}
    ORDER BY d.position LIMIT 1) AS "openDependency"
FROM queue_entry q JOIN job j ON j.id = q.job_id WHERE q.job_id = ANY($1::text[])`

function explain(row: WaitingRow, shape: Shape, fit: { freeNow: boolean; couldEverFit: boolean }): Waiting {
  const gates = gatesOf(row)
  const missing = fit.freeNow ? [] : [amounts(shape)]
  return { position: row.ahead + 1, gates, fit: { ...fit, missing }, reasons: [reasonOf(row, shape, { fit, gates })] }
}

function gatesOf({ notBefore, eligibleAt, now, openDependency }: WaitingRow): Waiting['gates'] {
  const gates: Waiting['gates'] = []
  if (notBefore) gates.push({ code: 'NOT_BEFORE', open: notBefore <= now, detail: null, opensAt: notBefore })
  if (eligibleAt > now && (!notBefore || notBefore < eligibleAt))
    gates.push({ code: 'RESTART_BACKOFF', open: false, detail: null, opensAt: eligibleAt })
  if (openDependency) gates.push({ code: 'DEPENDENCY', open: false, detail: openDependency, opensAt: null })
  return gates
}

function reasonOf(
  { firstAhead, openDependency }: WaitingRow,
  shape: Shape,
  { fit, gates }: { fit: { freeNow: boolean; couldEverFit: boolean }; gates: Waiting['gates'] },
): Waiting['reasons'][number] {
  const closed = gates.find((gate) => !gate.open)
  if (closed?.code === 'DEPENDENCY')
    return { code: closed.code, message: `Waits for the job ${openDependency}`, jobId: openDependency }
  if (closed) return { code: closed.code, message: `Waits until ${closed.opensAt?.toISOString()}`, jobId: null }
  if (!fit.couldEverFit)
    return { code: 'UNSATISFIABLE', message: `No node of the pool could ever give ${amounts(shape)}`, jobId: null }
  if (firstAhead) return { code: 'CLASS_BLOCKED', message: `The job ${firstAhead} is ahead of it`, jobId: firstAhead }
  return { code: 'NO_CAPACITY', message: `Waits for ${amounts(shape)} to become free`, jobId: null }
}

function amounts({ copies, cpuMillis, memoryBytes, gpu }: Shape): string {
  const each = [
    `${cpuMillis / 1000} cpu`,
    `${Math.round((memoryBytes / 1024 ** 3) * 10) / 10} GiB`,
    ...(gpu > 0 ? [`${gpu} GPU${gpu > 1 ? 's' : ''} on one node`] : []),
  ].join(', ')
  return copies > 1 ? `${copies} × (${each})` : each
}
