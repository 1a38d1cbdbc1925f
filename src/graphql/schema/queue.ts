import { seesAll } from '../../domain/access.ts'
import { type LocalNumbers, type QueueNumbers, queueNumbers } from '../../domain/queue/queue.ts'
import { gatedMax, type ReasonCount } from '../../domain/queue/reason-counts.ts'
import { isAlive, jobStates } from '../../domain/state.ts'
import { capList } from '../admission/argument-bounds.ts'
import { limits, numbersCost, reasonsCost, scanCost } from '../caller-limits.ts'
import { createCount, toConnection } from '../rows/connection.ts'
import { parsePage } from '../rows/keyset.ts'
import { queueEntriesListing } from '../rows/listings.ts'
import { pageCost } from '../rows/page.ts'
import { buildEntriesWhere, readEntries } from '../rows/queue-entries.ts'
import { partId } from '../rows/typed-id.ts'
import { builder } from './builder.ts'
import { JobState, PendingReasonCode } from './enums.ts'
import { JobConnection } from './job-connection.ts'
import { nullIfNotFound, requireRow } from './problem.ts'
import { PoolRef, UserRef } from './refs.ts'

export const StateCount = builder.objectRef<QueueNumbers['byState'][number]>('StateCount').implement({
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

const UserCount = builder.objectRef<QueueNumbers['byUser'][number]>('UserCount').implement({
  description: 'Number of jobs of a user.',
  fields: (t) => ({
    user: t.field({
      type: UserRef,
      description: 'The user whose jobs are counted.',
      resolve: ({ userId }, _args, { load }) => requireRow(load.user.load(userId)),
    }),
    count: t.exposeInt('count', { description: 'Number of jobs.' }),
  }),
})

const indexes: ['Int'] = ['Int']

const LocalQueue = builder.objectRef<QueueNumbers & { local: LocalNumbers }>('LocalQueue').implement({
  description: 'Queue details of a pool whose runs are processes of one machine.',
  fields: (t) => ({
    runningJobs: t.int({ description: 'Jobs that hold resources.', resolve: ({ local }) => local.runningJobs }),
    pendingJobs: t.int({ description: 'Jobs that are QUEUED.', resolve: ({ local }) => local.pendingJobs }),
    allocatedGpus: t.field({
      type: indexes,
      description: 'Indexes of the GPUs in use.',
      resolve: ({ local }) => local.allocatedGpus,
    }),
    availableGpus: t.field({
      type: indexes,
      description: 'Indexes of the free GPUs.',
      resolve: ({ local }) => local.availableGpus,
    }),
  }),
})

const aliveStates = jobStates.filter(isAlive)

const QueueRef = builder.objectRef<QueueNumbers>('Queue')

QueueRef.implement({
  description: 'Snapshot of the queue of a pool.',
  fields: (t) => ({
    id: t.id({
      description: 'Key for caches, unique per pool; `node` does not accept it.',
      resolve: ({ pool }) => partId('line', pool),
    }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool; its limits are in `pool { limits }`.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'Time of the snapshot.' }),
    depth: t.exposeInt('depth', { description: 'Jobs that are QUEUED.' }),
    running: t.exposeInt('running', { description: 'Jobs that hold resources: STARTING, RUNNING, CANCELLING.' }),
    blocked: t.exposeInt('blocked', { description: 'Jobs that wait for an approval.' }),
    avgWaitSeconds: t.exposeFloat('avgWaitSeconds', {
      nullable: true,
      description: 'Average wait in seconds of the last 500 jobs that started within 24 hours; null: no job started.',
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
    local: t.field({
      type: LocalQueue,
      nullable: true,
      description: 'Details of a pool whose runs are processes of one machine; null: other pools.',
      resolve: ({ local, ...numbers }) => local && { ...numbers, local },
    }),
    entries: t.field({
      type: JobConnection,
      description: 'Jobs that you may see: running jobs, then waiting jobs in queue order.',
      args: {
        ...t.arg.connectionArgs(),
        states: t.arg({
          type: [JobState],
          ...capList(jobStates.length, 'Jobs in one of these states (default: all states that are not final)'),
        }),
        includeCompleted: t.arg.boolean({ description: 'Include final jobs, at the end.' }),
      },
      // A backward page reads the queue from its start.
      complexity: (args) => ({ ...pageCost(args), field: args.last == null && args.before == null ? 1 : scanCost }),
      async resolve({ pool }, { states, includeCompleted, ...args }, { listSql, viewer, load, head }) {
        const wanted = states ?? (includeCompleted ? jobStates : aliveStates)
        const filter = { pool, states: wanted }
        const query = { pool, states: wanted, viewer, filter }
        const page = parsePage(queueEntriesListing, filter, args)
        const position = await head()
        const count = createCount(listSql, { listing: queueEntriesListing, where: buildEntriesWhere(query) })
        const list = { page: await readEntries(listSql, query, page), count }
        return { ...(await toConnection(list, (ids) => load.job.loadMany(ids))), head: position }
      },
    }),
  }),
})

const pool = { description: 'Name of the pool; default: the pool of the default queue.' } as const

builder.queryField('queue', (t) =>
  t.field({
    type: QueueRef,
    nullable: true,
    description: 'The queue of a pool; null: the pool does not exist.',
    args: { pool: t.arg.string(pool) },
    complexity: numbersCost,
    resolve: (_root, args, { domain, viewer }) => nullIfNotFound(queueNumbers(domain, viewer, args.pool ?? null)),
  }),
)

builder.subscriptionField('queueStatus', (t) =>
  t.field({
    type: QueueRef,
    description:
      'Streams snapshots of the queue of each pool: the first immediately, then up to 4 per second after changes, and at least one every 15 s.',
    args: { pool: t.arg.string({ description: 'Name of the pool; default: all pools, each in messages of its own.' }) },
    subscribe: (_root, args, { queueWatch, viewer }) => queueWatch.watch(viewer, args.pool ?? null),
    resolve: (numbers: QueueNumbers) => numbers,
  }),
)

builder.objectFields(PoolRef, (t) => ({
  queue: t.field({
    type: QueueRef,
    description: 'The waiting and running jobs of the pool, with counts.',
    complexity: numbersCost,
    resolve: ({ name }, _args, { load }) => load.queueOfPool.load(name),
  }),
}))
