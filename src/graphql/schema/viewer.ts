import type { Viewer } from '../../domain/access.ts'
import type { InLine } from '../../domain/queue/line.ts'
import { readOwnLines } from '../../domain/queue/own-line.ts'
import { holdingSql } from '../../domain/state.ts'
import type { JobRow } from '../../domain/submission/stored-job.ts'
import { numbersCost } from '../caller-limits.ts'
import { partId } from '../rows/typed-id.ts'
import { builder } from './builder.ts'
import { Permission, TokenScope } from './enums.ts'
import { requireRow } from './problem.ts'
import { JobRef, UserRef } from './refs.ts'

interface ViewerQueueShape {
  pendingCount: number
  runningCount: number
  blockedCount: number
  runningIds: readonly string[]
  /** By pool, in queue order; read once, on demand. */
  lines: () => Promise<InLine[][]>
}

const listedMax = 100

const ViewerQueue = builder.objectRef<ViewerQueueShape>('ViewerQueue').implement({
  description: 'Your jobs that are not final, in all pools.',
  fields: (t) => ({
    pendingCount: t.exposeInt('pendingCount', { description: 'Jobs that are QUEUED.' }),
    runningCount: t.exposeInt('runningCount', { description: 'Jobs that are STARTING, RUNNING or CANCELLING.' }),
    blockedCount: t.exposeInt('blockedCount', { description: 'Jobs that wait for an approval.' }),
    bestPosition: t.int({
      nullable: true,
      description: 'Best queue position of your QUEUED jobs; null: you have no QUEUED job.',
      async resolve({ lines }, _args, { load }) {
        const first = (await lines()).flatMap(([next]) => next ?? [])
        const positions = await Promise.all(first.map(({ jobId }) => load.position.load(jobId)))
        const places = positions.flatMap((each) => (each ? [each.position] : []))
        return places.length > 0 ? Math.min(...places) : null
      },
    }),
    pendingJobs: t.field({
      type: [JobRef],
      description: 'Your QUEUED jobs in queue order, at most 100; pools alternate.',
      complexity: { multiplier: listedMax },
      async resolve({ lines }, _args, { load }) {
        const pools = await lines()
        const turns = Array.from({ length: listedMax }, (_, place) => pools.flatMap((line) => line[place] ?? []))
        const ids = turns.flat().map(({ jobId }) => jobId)
        return dropMissing(await load.job.loadMany(ids.slice(0, listedMax)))
      },
    }),
    runningJobs: t.field({
      type: [JobRef],
      description: 'Your active jobs, oldest first, at most 100.',
      complexity: { multiplier: listedMax },
      resolve: async ({ runningIds }, _args, { load }) => dropMissing(await load.job.loadMany(runningIds)),
    }),
  }),
})

/** Drops missing jobs. */
const dropMissing = (jobs: readonly (JobRow | Error | null)[]): JobRow[] =>
  jobs.flatMap((job) => {
    if (job instanceof Error) throw job
    return job ?? []
  })

export const ViewerRef = builder.objectRef<Viewer>('Viewer').implement({
  description: 'The user who makes the request.',
  fields: (t) => ({
    id: t.id({
      description: 'Key for caches, unique per user; `node` does not accept it.',
      resolve: ({ userId }) => partId('viewer', userId),
    }),
    user: t.field({
      type: UserRef,
      description: 'The current user.',
      resolve: ({ userId }, _args, { load }) => requireRow(load.user.load(userId)),
    }),
    permissions: t.field({
      type: [Permission],
      description: 'Your permissions with the token in use.',
      resolve: ({ permissions }) => [...permissions],
    }),
    scopes: t.field({
      type: [TokenScope],
      description: 'Scopes of the token in use; all scopes without a token.',
      resolve: ({ scopes }) => [...scopes],
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the token in use expires; null: never, or the server needs no token.',
      resolve: ({ expiresAtMs }) => (expiresAtMs === null ? null : new Date(expiresAtMs)),
    }),
    queue: t.field({
      type: ViewerQueue,
      description: 'Your jobs that are not final.',
      complexity: numbersCost,
      async resolve({ userId }, _args, { domain: { db } }) {
        const values = [userId, listedMax, countedMax]
        const [row] = await db.sql.query<ViewerQueueRow>(viewerQueueSql, values, 'viewer_queue')
        let lines: Promise<InLine[][]> | undefined
        return {
          ...(row ?? emptyQueue),
          lines() {
            lines ??= readOwnLines(db.sql, userId, listedMax)
            return lines
          },
        }
      },
    }),
  }),
})

type ViewerQueueRow = Omit<ViewerQueueShape, 'lines'>

const emptyQueue: ViewerQueueRow = { pendingCount: 0, runningCount: 0, blockedCount: 0, runningIds: [] }

/** Up to this number the jobs of a user are counted; beyond it the last count of the leader is used. */
const countedMax = 20_000

/** The gate comes from a join, not a constant, so that PostgreSQL reads the index of the lane, not that of all gated entries. */
const countedSql = (gates: string) =>
  `(SELECT coalesce(sum(c.count), 0) FROM mine CROSS JOIN unnest(ARRAY[${gates}]) gate(open)
    CROSS JOIN LATERAL (SELECT count(*) FROM queue_entry WHERE lane_id = mine.id AND open = gate.open) c)`

const viewerQueueSql = `
WITH mine AS MATERIALIZED (SELECT id FROM lane WHERE user_id = $1),
viewed AS MATERIALIZED (SELECT coalesce(sum(waiting), 0) AS waiting FROM lane_view WHERE lane_id IN (SELECT id FROM mine)),
others AS MATERIALIZED (
  SELECT j.id, j.state, j.sequence FROM run r JOIN job j ON j.id = r.job_id
  WHERE r.state IN ${holdingSql} AND j.user_id = $1
  UNION ALL
  SELECT j.id, j.state, j.sequence FROM approval a JOIN job j ON j.id = a.job_id
  WHERE a.status = 'PENDING' AND j.state = 'BLOCKED' AND j.user_id = $1
)
SELECT
  (SELECT CASE WHEN waiting > $3::int THEN waiting + ${countedSql('false')}
    ELSE ${countedSql('true, false')} END FROM viewed)::int AS "pendingCount",
  (SELECT count(*) FROM others WHERE state <> 'BLOCKED') AS "runningCount",
  (SELECT count(*) FROM others WHERE state = 'BLOCKED') AS "blockedCount",
  ARRAY(SELECT id FROM others WHERE state <> 'BLOCKED' ORDER BY sequence LIMIT $2) AS "runningIds"`

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerRef, description: 'The current user.', resolve: (_root, _args, { viewer }) => viewer }),
)
