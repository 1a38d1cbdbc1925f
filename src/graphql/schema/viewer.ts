import type { Viewer } from '../../domain/access.ts'
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

const listMax = 100

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
        const waiting = await Promise.all(pending.map((job) => load.waiting.load(job.id)))
        const positions = waiting.flatMap((each) => (each ? [each.position] : []))
        return positions.length > 0 ? Math.min(...positions) : null
      },
    }),
    pendingJobs: t.expose('pending', { type: [JobRef], description: 'Your QUEUED jobs, the next first, at most 100.' }),
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
        const [row] = await db.sql.query<ViewerQueueRow>(viewerQueueSql, [userId, listMax])
        const jobs = async (ids: string[]) =>
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

const viewerQueueSql = `
WITH mine AS MATERIALIZED (SELECT id, state, sequence FROM job WHERE user_id = $1 AND NOT log_closed)
SELECT
  count(*) FILTER (WHERE state = 'QUEUED') AS "pendingCount",
  count(*) FILTER (WHERE state NOT IN ('QUEUED', 'BLOCKED')) AS "runningCount",
  count(*) FILTER (WHERE state = 'BLOCKED') AS "blockedCount",
  ARRAY(SELECT id FROM mine WHERE state = 'QUEUED' ORDER BY sequence LIMIT $2) AS "pendingIds",
  ARRAY(SELECT id FROM mine WHERE state NOT IN ('QUEUED', 'BLOCKED') ORDER BY sequence LIMIT $2) AS "runningIds"
FROM mine`

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerRef, description: 'You.', resolve: (_root, _args, { viewer }) => viewer }),
)
