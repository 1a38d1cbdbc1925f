import type { Viewer } from '../../../domain/access.ts'
import { readOwnLines } from '../../../domain/queue/own-line.ts'
import { holdingSql } from '../../../domain/state.ts'
import { numbersCost } from '../../caller-limits.ts'
import { partId } from '../../rows/typed-id.ts'
import { builder } from '../frame/builder.ts'
import { Permission, TokenScope } from '../frame/enums.ts'
import { exposeColumns, objectField } from '../frame/fields.ts'

interface ViewerWorkloadShape {
  userId: string
  pendingCount: number
  runningCount: number
  blockedCount: number
}

const ViewerWorkload = builder.objectRef<ViewerWorkloadShape>('ViewerWorkload').implement({
  description: 'Your jobs that are not final, in all pools.',
  fields: (t) => ({
    ...exposeColumns(t, {
      pendingCount: ['Int', 'Jobs that are QUEUED.'],
      runningCount: ['Int', 'Jobs that are STARTING, RUNNING or CANCELLING.'],
      blockedCount: ['Int', 'Jobs that wait for an approval.'],
    }),
    bestPosition: t.int({
      nullable: true,
      description: 'Best position of your QUEUED jobs; null: you have no QUEUED job.',
      async resolve({ userId }, _args, { load, domain: { db } }) {
        const first = (await readOwnLines(db.sql, userId, 1)).flat()
        const positions = await Promise.all(first.map(({ jobId }) => load.position.load(jobId)))
        const places = positions.flatMap((each) => (each ? [each.position] : []))
        return places.length > 0 ? Math.min(...places) : null
      },
    }),
  }),
})

export const ViewerRef = builder.objectRef<Viewer>('Viewer')

builder.node(ViewerRef, {
  description: 'The user who makes the request.',
  id: {
    resolve: ({ userId }) => partId('viewer', userId),
    description: 'Global id, for `node`: viewer_<id of the user>',
  },
  loadMany: async (ids, { viewer }) => ids.map((id) => (id === partId('viewer', viewer.userId) ? viewer : null)),
  fields: (t) => ({
    user: objectField(t, 'userId', 'The current user.'),
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
    workload: t.field({
      type: ViewerWorkload,
      description: 'Your jobs that are not final.',
      complexity: numbersCost,
      async resolve({ userId }, _args, { domain: { db } }) {
        const [row] = await db.sql.query<Omit<ViewerWorkloadShape, 'userId'>>(
          viewerWorkloadSql,
          [userId, countedMax],
          'viewer_workload',
        )
        return { userId, ...(row ?? emptyWorkload) }
      },
    }),
  }),
})

const emptyWorkload = { pendingCount: 0, runningCount: 0, blockedCount: 0 }

/** Maximum number of jobs of a user that are counted. Above it, the last count of the leader is used. */
const countedMax = 20_000

/** The gate comes from a join, not a constant, so that PostgreSQL reads the index of the lane, not that of all gated entries. */
const countedSql = (gates: string) =>
  `(SELECT coalesce(sum(c.count), 0) FROM mine CROSS JOIN unnest(ARRAY[${gates}]) gate(open)
    CROSS JOIN LATERAL (SELECT count(*) FROM queue_entry WHERE lane_id = mine.id AND open = gate.open) c)`

const viewerWorkloadSql = `
WITH mine AS MATERIALIZED (SELECT id FROM lane WHERE user_id = $1),
viewed AS MATERIALIZED (SELECT coalesce(sum(waiting), 0) AS waiting FROM lane_view WHERE lane_id IN (SELECT id FROM mine)),
others AS MATERIALIZED (
  SELECT j.state FROM run r JOIN job j ON j.id = r.job_id
  WHERE r.state IN ${holdingSql} AND j.user_id = $1
  UNION ALL
  SELECT j.state FROM approval a JOIN job j ON j.id = a.job_id
  WHERE a.status = 'PENDING' AND j.state = 'BLOCKED' AND j.user_id = $1
)
SELECT
  (SELECT CASE WHEN waiting > $2::int THEN waiting + ${countedSql('false')}
    ELSE ${countedSql('true, false')} END FROM viewed)::int AS "pendingCount",
  (SELECT count(*) FROM others WHERE state <> 'BLOCKED') AS "runningCount",
  (SELECT count(*) FROM others WHERE state = 'BLOCKED') AS "blockedCount"`

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerRef, description: 'The current user.', resolve: (_root, _args, { viewer }) => viewer }),
)
