import type { Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { NotFound } from '../errors.ts'
import { type Limits, readLimits } from '../limits/limits.ts'
import { holdingSql, holdingStates, type JobState } from '../state.ts'

/**
 * The numbers of a pool's queue, at a cost that does not depend on its length: waiting jobs come from the tally and
 * other alive jobs from partial indexes. In a long queue the waiting jobs of each person come from the lanes as the
 * leader counted them last.
 */

export interface QueueCounts {
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
}

/** Omits pools that do not exist. */
export async function readQueueCounts(
  domain: Domain,
  viewer: Viewer,
  pools: readonly string[],
): Promise<ReadonlyMap<string, QueueCounts>> {
  const found = await readNumbers(domain, pools, [viewer.userId])
  return new Map(found.map((numbers) => [numbers.pool, filterQueueCounts(viewer, numbers)]))
}

/** Maximum number of people in the counts; the ones with the most jobs. */
const peopleMax = 1_000
/** In a longer queue, the rows of waiting jobs are not counted. */
const shortMax = 20_000
/** The average wait is taken over this number of latest starts. */
const startsMax = 500

/** The counts of one pool, computed once for all viewers, so they must pass `filterQueueCounts` before they are shown. */
export async function readQueueCountsOfPool(
  domain: Domain,
  pool: string,
  users: readonly string[],
): Promise<QueueCounts> {
  const [numbers] = await readNumbers(domain, [pool], users)
  if (!numbers) throw new NotFound(`Pool ${pool.slice(0, 64)} not found`)
  return numbers
}

/** Always includes the counts of `users`. */
async function readNumbers(
  { db: { sql }, singleUser }: Domain,
  pools: readonly string[],
  users: readonly string[],
): Promise<QueueCounts[]> {
  const [rows, limits] = await Promise.all([
    sql.query<Omit<QueueCounts, 'limits' | 'depth' | 'running' | 'blocked'>>(
      numbersSql,
      [pools, users, peopleMax, shortMax, startsMax],
      'queue_numbers',
    ),
    readLimits(sql, pools, singleUser),
  ])
  return rows.flatMap((row) => {
    const own = limits.get(row.pool)
    const count = (states: readonly JobState[]) =>
      row.byState.reduce((sum, entry) => sum + (states.includes(entry.state) ? entry.count : 0), 0)
    const counts = { depth: count(['QUEUED']), running: count(holdingStates), blocked: count(['BLOCKED']) }
    return own ? [{ ...row, ...counts, limits: own }] : []
  })
}

export function filterQueueCounts(viewer: Viewer, numbers: QueueCounts): QueueCounts {
  const byUser = viewer.permissions.has('job.view.all')
    ? numbers.byUser.slice(0, peopleMax)
    : numbers.byUser.filter(({ userId }) => userId === viewer.userId)
  return { ...numbers, byUser }
}

const numbersSql = `
SELECT numbers.* FROM unnest($1::text[]) AS wanted(pool) CROSS JOIN LATERAL (
WITH chosen AS MATERIALIZED (
  SELECT name FROM pool WHERE name = wanted.pool
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
)
SELECT name AS pool, berth_now() AS at,
  coalesce((SELECT revision FROM pool_view v WHERE v.pool = name), 0) AS view,
  coalesce((SELECT jsonb_agg(s ORDER BY state) FROM states s), '[]') AS "byState",
  coalesce((SELECT jsonb_agg(jsonb_build_object('userId', user_id, 'count', count) ORDER BY place)
    FROM (SELECT *, row_number() OVER (ORDER BY count DESC, user_id) AS place FROM people) u
    WHERE place <= $3::int OR user_id = ANY($2::text[])), '[]') AS "byUser",
  (SELECT extract(epoch FROM avg(r.scheduled_at - greatest(j.eligible_at, r.created_at)))::float8 FROM (
      SELECT * FROM run WHERE pool = name AND scheduled_at > (SELECT berth_now()) - interval '24 hours' ORDER BY scheduled_at DESC LIMIT $5
    ) r JOIN job j ON j.id = r.job_id) AS "avgWaitSeconds"
FROM chosen
) numbers`
