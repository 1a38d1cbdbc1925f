import type { Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { NotFound } from '../errors.ts'
import { executorsWhere } from '../executors.ts'
import { type Limits, readLimits } from '../limits/limits.ts'
import { holdingSql, holdingStates, type JobState } from '../state.ts'

/**
 * The numbers of a pool's queue, at a cost that does not depend on its length: waiting jobs come from the tally and
 * other alive jobs from partial indexes. In a long queue the waiting jobs of each person come from the lanes as the
 * leader counted them last.
 */

export interface QueueNumbers {
  pool: string
  depth: number
  running: number
  blocked: number
  avgWaitSeconds: number | null
  byState: { state: JobState; count: number }[]
  byUser: { userId: string; count: number }[]
  limits: Limits
  at: Date
  /** Grows when the leader publishes a changed reason, position or share. */
  view: number
  /** Set for a pool whose runs are processes of one machine. */
  local: LocalNumbers | null
}

export interface LocalNumbers {
  runningJobs: number
  pendingJobs: number
  allocatedGpus: number[]
  availableGpus: number[]
}

/** `pool` null: the pool of the default queue. */
export async function queueNumbers(domain: Domain, viewer: Viewer, pool: string | null): Promise<QueueNumbers> {
  return filterNumbers(viewer, await poolNumbers(domain, pool, [viewer.userId]))
}

/** Maximum people; those with the most jobs. */
const peopleMax = 1_000
/** In a longer queue, rows are not counted. */
const shortMax = 20_000
/** The average wait is taken over this number of latest starts. */
const startsMax = 500

/**
 * Computed once for all viewers, so it must pass `filterNumbers` before it is shown. `users` are included whatever
 * their rank.
 */
export async function poolNumbers(
  { db, singleUser }: Domain,
  pool: string | null,
  users: readonly string[],
): Promise<QueueNumbers> {
  const [row] = await db.sql.query<Omit<QueueNumbers, 'limits' | 'depth' | 'running' | 'blocked'>>(
    numbersSql,
    [pool, users, peopleMax, shortMax, startsMax],
    'queue_numbers',
  )
  const limits = row && (await readLimits(db.sql, [row.pool], singleUser)).get(row.pool)
  if (!limits) throw new NotFound(`Pool ${pool?.slice(0, 64) ?? ''} not found`)
  const count = (states: readonly JobState[]) =>
    row.byState.reduce((sum, entry) => sum + (states.includes(entry.state) ? entry.count : 0), 0)
  return { ...row, limits, depth: count(['QUEUED']), running: count(holdingStates), blocked: count(['BLOCKED']) }
}

export function filterNumbers(viewer: Viewer, numbers: QueueNumbers): QueueNumbers {
  const byUser = viewer.permissions.has('job.view.all')
    ? numbers.byUser.slice(0, peopleMax)
    : numbers.byUser.filter(({ userId }) => userId === viewer.userId)
  return { ...numbers, byUser }
}

const localSql = `
  CASE WHEN executors && '{${executorsWhere(({ nodes }) => nodes === 'MACHINE')}}' THEN jsonb_build_object(
    'runningJobs', (SELECT count(*) FROM busy WHERE state <> 'BLOCKED'),
    'pendingJobs', (SELECT entries FROM waiting),
    'allocatedGpus', (SELECT coalesce(jsonb_agg(device ORDER BY device) FILTER (WHERE taken), '[]') FROM gpus),
    'availableGpus', (SELECT coalesce(jsonb_agg(device ORDER BY device) FILTER (WHERE NOT taken), '[]') FROM gpus)) END`

const numbersSql = `
WITH chosen AS MATERIALIZED (
  SELECT name, executors FROM pool WHERE name = coalesce($1, (SELECT pool FROM submission_queue WHERE is_default))
),
waiting AS MATERIALIZED (
  SELECT coalesce(sum(t.entries), 0)::int AS entries FROM queue_tally t JOIN chosen ON t.pool = chosen.name
),
busy AS MATERIALIZED (
  SELECT r.state, j.user_id FROM chosen JOIN run r ON r.pool = chosen.name AND r.state IN ${holdingSql}
  JOIN job j ON j.id = r.job_id
  UNION ALL
  SELECT j.state, j.user_id FROM approval a JOIN job j ON j.id = a.job_id JOIN chosen ON j.pool = chosen.name
  WHERE a.status = 'PENDING' AND j.state = 'BLOCKED'
),
waiters AS (
  SELECT l.user_id, count(*) AS count FROM chosen JOIN lane l ON l.pool = chosen.name JOIN queue_entry q ON q.lane_id = l.id
  WHERE (SELECT entries FROM waiting) <= $4::int GROUP BY 1
  UNION ALL
  SELECT l.user_id, sum(v.waiting) FROM chosen JOIN lane_view v ON v.pool = chosen.name JOIN lane l ON l.id = v.lane_id
  WHERE (SELECT entries FROM waiting) > $4::int GROUP BY 1
),
people AS (
  SELECT user_id, sum(count)::int AS count FROM (SELECT user_id, 1 AS count FROM busy UNION ALL SELECT * FROM waiters) each GROUP BY 1
),
states AS (
  SELECT state, count(*)::int AS count FROM busy GROUP BY 1
  UNION ALL SELECT 'QUEUED', entries FROM waiting WHERE entries > 0
),
gpus AS MATERIALIZED (
  SELECT d.device, d.device = ANY(n.held_gpus) OR EXISTS (SELECT FROM held_device h WHERE h.node_id = n.id AND h.device = d.device) AS taken
  FROM chosen JOIN node n ON n.pool = chosen.name JOIN device d ON d.node_id = n.id
)
SELECT name AS pool, berth_now() AS at, ${localSql} AS local,
  coalesce((SELECT revision FROM pool_view v WHERE v.pool = name), 0) AS view,
  coalesce((SELECT jsonb_agg(s ORDER BY state) FROM states s), '[]') AS "byState",
  coalesce((SELECT jsonb_agg(jsonb_build_object('userId', user_id, 'count', count) ORDER BY place)
    FROM (SELECT *, row_number() OVER (ORDER BY count DESC, user_id) AS place FROM people) u
    WHERE place <= $3::int OR user_id = ANY($2::text[])), '[]') AS "byUser",
  (SELECT extract(epoch FROM avg(r.scheduled_at - greatest(j.eligible_at, r.created_at)))::float8 FROM (
      SELECT * FROM run WHERE pool = name AND scheduled_at > (SELECT berth_now()) - interval '24 hours' ORDER BY scheduled_at DESC LIMIT $5
    ) r JOIN job j ON j.id = r.job_id) AS "avgWaitSeconds"
FROM chosen`
