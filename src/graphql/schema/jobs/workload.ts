import { seesAll } from '../../../domain/access.ts'
import type { QueueCounts } from '../../../domain/queue/queue.ts'
import { gatedMax, type ReasonCount } from '../../../domain/queue/reason-counts.ts'
import { isAlive, jobStates } from '../../../domain/state.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { limits, numbersCost, readCost, reasonsCost, scanCost } from '../../caller-limits.ts'
import { createCount, toConnection } from '../../rows/connection.ts'
import { parsePage } from '../../rows/keyset.ts'
import { queueEntriesListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { buildEntriesWhere, readEntries } from '../../rows/queue-entries.ts'
import { parseName, partId } from '../../rows/typed-id.ts'
import { builder } from '../frame/builder.ts'
import { JobState, PendingReasonCode } from '../frame/enums.ts'
import { exposeColumns, objectField } from '../frame/fields.ts'
import { nullIfNotFound } from '../frame/problem.ts'
import { PoolRef } from '../frame/refs.ts'
import { JobConnection } from './job-connection.ts'

export const StateCount = builder.objectRef<QueueCounts['byState'][number]>('StateCount').implement({
  description: 'Number of jobs in a state.',
  fields: (t) => ({
    state: t.expose('state', { type: JobState, description: 'State of the counted jobs.' }),
    count: t.exposeInt('count', { description: 'Number of jobs.' }),
  }),
})

const ReasonCountRef = builder.objectRef<ReasonCount>('ReasonCount').implement({
  description: 'Number of jobs that wait for a reason.',
  fields: (t) => ({
    code: t.expose('code', { type: PendingReasonCode, description: 'The decisive reason.' }),
    count: t.exposeInt('count', { description: 'Number of jobs.' }),
  }),
})

const UserCount = builder.objectRef<QueueCounts['byUser'][number]>('UserCount').implement({
  description: 'Number of jobs of a user.',
  fields: (t) => ({
    user: objectField(t, 'userId', 'The user whose jobs are counted.'),
    count: t.exposeInt('count', { description: 'Number of jobs.' }),
  }),
})

const aliveStates = jobStates.filter(isAlive)

const WorkloadRef = builder.objectRef<QueueCounts>('Workload')

builder.node(WorkloadRef, {
  description: 'Snapshot of the running and waiting jobs of a pool.',
  id: { resolve: ({ pool }) => partId('workload', pool), description: 'Global id, for `node`: workload_<pool>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => nullIfNotFound(load.queueOfPool.load(parseName(id))))),
  fields: (t) => ({
    ...exposeColumns(t, {
      at: ['DateTime', 'Time of the snapshot.'],
      depth: ['Int', 'Jobs that are QUEUED.'],
      running: ['Int', 'Jobs that hold resources: STARTING, RUNNING, CANCELLING.'],
      blocked: ['Int', 'Jobs that wait for an approval.'],
      avgWaitSeconds: [
        'Float?',
        'Average wait in seconds of the last 500 jobs that started within 24 hours; null: no job started.',
      ],
    }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool; its limits are in `pool { limits }`.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    byState: t.expose('byState', { type: [StateCount], description: 'Number of jobs by state.' }),
    byUser: t.expose('byUser', {
      type: [UserCount],
      description: 'Number of jobs by user; only your own without permission to see all jobs.',
      complexity: { multiplier: limits.pageSizeMax },
    }),
    byReason: t.field({
      type: [ReasonCountRef],
      description: `Number of waiting jobs by reason, largest number first; empty without permission to see all jobs. The reason of a lane as the scheduler found it last counts for all of its jobs. Closed gates are counted of at most ${gatedMax.toLocaleString('en')} jobs.`,
      complexity: reasonsCost,
      resolve: ({ pool: name }, _args, { load, viewer }) => (seesAll(viewer) ? load.reasonsOfPool.load(name) : []),
    }),
    entries: t.field({
      type: JobConnection,
      description: 'Jobs that you may see: running jobs, then waiting jobs by their position.',
      args: {
        ...t.arg.connectionArgs(),
        states: t.arg({
          type: [JobState],
          ...capList(jobStates.length, 'Jobs in one of these states (default: all states that are not final)'),
        }),
        includeCompleted: t.arg.boolean({ description: 'Include final jobs, at the end.' }),
      },
      // Each pool is read by four queries. A backward page reads the queue from its start.
      complexity: (args) => ({
        ...pageCost(args),
        field: args.last == null && args.before == null ? 4 * readCost : scanCost,
      }),
      async resolve({ pool }, { states, includeCompleted, ...args }, { combinedListSql, viewer, load, head }) {
        const wanted = states ?? (includeCompleted ? jobStates : aliveStates)
        const filter = { pool, states: wanted }
        const query = { pool, states: wanted, viewer, filter }
        const page = parsePage(queueEntriesListing, filter, args)
        const position = await head()
        const count = createCount(combinedListSql, { listing: queueEntriesListing, where: buildEntriesWhere(query) })
        const list = { page: await readEntries(combinedListSql, query, page), count }
        return { ...(await toConnection(list, (ids) => load.job.loadMany(ids))), head: position }
      },
    }),
  }),
})

builder.subscriptionField('workloadStatus', (t) =>
  t.field({
    type: WorkloadRef,
    description:
      'Streams snapshots of the jobs of each pool: the first immediately, then up to 4 per second after changes, and at least one every 15 s.',
    args: { pool: t.arg.string({ description: 'Name of the pool; default: all pools, each in messages of its own.' }) },
    subscribe: (_root, args, { queueWatch, viewer }) => queueWatch.watch(viewer, args.pool ?? null),
    resolve: (numbers: QueueCounts) => numbers,
  }),
)

builder.objectFields(PoolRef, (t) => ({
  workload: t.field({
    type: WorkloadRef,
    description: 'The running and waiting jobs of the pool, with counts.',
    complexity: numbersCost,
    resolve: ({ name }, _args, { load }) => load.queueOfPool.load(name),
  }),
}))
