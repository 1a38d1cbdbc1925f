import type { Viewer } from '../../domain/access.ts'
import { leadSql, lineJoins } from '../../domain/line.ts'
import type { Job } from '../../platform/generated/client.ts'
import { builder } from '../builder.ts'
import { JobRef, UserRef } from '../refs.ts'
import { TokenScope } from './enums.ts'
import { seen } from './problem.ts'

/** Who asks, and what is theirs. */
interface ViewerQueueShape {
  pendingCount: number
  runningCount: number
  blockedCount: number
  pending: Job[]
  running: Job[]
}

const runningMax = 100
const pendingMax = 25

const ViewerQueue = builder.objectRef<ViewerQueueShape>('ViewerQueue').implement({
  description: 'Your own jobs that are not final, in all pools.',
  fields: (t) => ({
    pendingCount: t.exposeInt('pendingCount', { description: 'Jobs that are QUEUED.' }),
    runningCount: t.exposeInt('runningCount', { description: 'Jobs that are STARTING, RUNNING or CANCELLING.' }),
    blockedCount: t.exposeInt('blockedCount', { description: 'Jobs that wait for an approval.' }),
    bestPosition: t.int({
      nullable: true,
      description: 'Best place of your QUEUED jobs; null: none waits.',
      async resolve({ pending }, _args, { load }) {
        const first = [...Map.groupBy(pending, ({ pool }) => pool).values()].flatMap(([job]) => job ?? [])
        const positions = await Promise.all(first.map(({ id }) => load.position.load(id)))
        const places = positions.flatMap((each) => (each ? [each.position] : []))
        return places.length > 0 ? Math.min(...places) : null
      },
    }),
    pendingJobs: t.expose('pending', { type: [JobRef], description: 'Your QUEUED jobs, the next first, at most 25.' }),
    runningJobs: t.expose('running', {
      type: [JobRef],
      description: 'Your active jobs, the oldest first, at most 100.',
    }),
  }),
})

export const ViewerRef = builder.objectRef<Viewer>('Viewer').implement({
  description: 'Who you are.',
  fields: (t) => ({
    user: t.field({
      type: UserRef,
      description: 'You.',
      resolve: ({ userId }, _args, { load }) => seen(load.user.load(userId)),
    }),
    permissions: t.stringList({
      description: 'What you may do, here and with this token.',
      resolve: ({ permissions }) => [...permissions],
    }),
    scopes: t.field({
      type: [TokenScope],
      description: 'Scopes of the token that you use; without one, all.',
      resolve: ({ scopes }) => [...scopes],
    }),
    queue: t.field({
      type: ViewerQueue,
      description: 'Your jobs that are not final.',
      async resolve({ userId }, _args, { domain: { db }, load }) {
        const [row] = await db.sql.query<ViewerQueueRow>(
          viewerQueueSql,
          [userId, pendingMax, runningMax],
          'viewer_queue',
        )
        const jobs = async (ids: readonly string[]) =>
          (await Promise.all(ids.map((id) => load.job.load(id)))).filter((job) => job !== null)
        const { pendingIds, runningIds, ...counts } = row ?? emptyQueue
        return { ...counts, pending: await jobs(pendingIds), running: await jobs(runningIds) }
      },
    }),
  }),
})

interface ViewerQueueRow {
  pendingCount: number
  runningCount: number
  blockedCount: number
  pendingIds: string[]
  runningIds: string[]
}

const emptyQueue: ViewerQueueRow = { pendingCount: 0, runningCount: 0, blockedCount: 0, pendingIds: [], runningIds: [] }

/**
 * The first in line stand in the lanes whose own first come first: a person may have a million jobs waiting, and no more than
 * those are read: behind as many better lanes, so many fewer of a lane. Pools take turns.
 */
const viewerQueueSql = `
WITH mine AS MATERIALIZED (SELECT * FROM lane WHERE user_id = $1),
heads AS (
  SELECT q.lane_id, q.open, row_number() OVER (PARTITION BY q.pool ORDER BY ${leadSql}, q.bid DESC, q.sequence) AS place
  FROM mine CROSS JOIN LATERAL ((${firstOf('open', '1')}) UNION ALL (${firstOf('NOT open', '1')})) q ${lineJoins}
),
first AS (
  SELECT q.job_id, row_number() OVER (PARTITION BY q.pool ORDER BY ${leadSql}, q.bid DESC, q.sequence) AS place
  FROM heads h JOIN mine ON mine.id = h.lane_id
  CROSS JOIN LATERAL ((${firstOf('open AND h.open', '$2 + 1 - h.place')}) UNION ALL (${firstOf('NOT open AND NOT h.open', '$2 + 1 - h.place')})) q ${lineJoins}
  WHERE h.place <= $2
),
others AS MATERIALIZED (
  SELECT j.id, j.state, j.sequence FROM run r JOIN job j ON j.id = r.job_id
  WHERE r.state IN ('STARTING', 'RUNNING', 'CANCELLING') AND j.user_id = $1
  UNION ALL
  SELECT j.id, j.state, j.sequence FROM approval a JOIN job j ON j.id = a.job_id
  WHERE a.status = 'PENDING' AND j.state = 'BLOCKED' AND j.user_id = $1
)
SELECT
  (SELECT coalesce(sum((SELECT count(*) FROM queue_entry WHERE lane_id = mine.id AND open)
    + (SELECT count(*) FROM queue_entry WHERE lane_id = mine.id AND NOT open)), 0)::int FROM mine) AS "pendingCount",
  (SELECT count(*) FROM others WHERE state <> 'BLOCKED') AS "runningCount",
  (SELECT count(*) FROM others WHERE state = 'BLOCKED') AS "blockedCount",
  ARRAY(SELECT job_id FROM first ORDER BY place, job_id LIMIT $2) AS "pendingIds",
  ARRAY(SELECT id FROM others WHERE state <> 'BLOCKED' ORDER BY sequence LIMIT $3) AS "runningIds"`

function firstOf(gate: string, limit: string): string {
  return `SELECT * FROM queue_entry WHERE lane_id = mine.id AND ${gate} ORDER BY (-bid), sequence LIMIT ${limit}`
}

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerRef, description: 'You.', resolve: (_root, _args, { viewer }) => viewer }),
)
