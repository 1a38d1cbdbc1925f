import { seesAll } from '../../domain/access.ts'
import type { Rates } from '../../domain/cost.ts'
import type { Pool } from '../../platform/generated/client.ts'
import { toConnection } from '../rows/connection.ts'
import type { RequestContext } from '../rows/context.ts'
import { pageCost } from '../rows/page.ts'
import { parseName, poolId, queueId } from '../rows/typed-id.ts'
import type { AccountShareRow, LostWorkRow } from '../rows/waiting-loaders.ts'
import { builder } from './builder.ts'
import { declareConnection } from './connection-type.ts'
import { describeValues } from './enum-values.ts'
import { LimitsRef } from './limits.ts'
import { readRates } from './money.ts'
import { Capacity } from './pool-node.ts'
import { requireRow } from './problem.ts'
import { HoldRef, PoolNodeRef, PoolRef, SubmissionQueueRef } from './refs.ts'

export interface LeaderShape {
  holder: string
  host: string
  epoch: number
  renewedAt: Date
}

const Leader = builder.objectRef<LeaderShape>('Leader').implement({
  description: 'The server process that schedules a pool.',
  fields: (t) => ({
    process: t.string({
      nullable: true,
      description: 'Host name, process id and start time of the leader; null: you may not see all jobs.',
      resolve: ({ holder }, _args, { viewer }) => (seesAll(viewer) ? holder : null),
    }),
    host: t.string({
      nullable: true,
      description: 'Host name of the machine; null: you may not see all jobs.',
      resolve: ({ host }, _args, { viewer }) => (seesAll(viewer) ? host : null),
    }),
    epoch: t.expose('epoch', {
      type: 'UInt53',
      description: 'Number that grows with every takeover by another process.',
    }),
    renewedAt: t.expose('renewedAt', { type: 'DateTime', description: 'Time of the last heartbeat.' }),
  }),
})

const PoolPolicy = builder.enumType('PoolPolicy', {
  description: 'Order of the queue of a pool.',
  values: describeValues({
    PRIORITY: 'By priority, then by submission time.',
    FAIR_SHARE: 'By usage: accounts with the smallest share per weight first.',
  }),
})

const PoolRates = builder.objectRef<Rates>('PoolRates').implement({
  description: 'Cost of holding resources of a pool for one hour.',
  fields: (t) => ({
    cpuHour: t.exposeFloat('cpuHour', { description: 'Cost per core and hour.' }),
    gpuHour: t.exposeFloat('gpuHour', { description: 'Cost per GPU and hour.' }),
    currency: t.exposeString('currency', { description: 'Currency, by ISO 4217. Amounts are never converted.' }),
  }),
})

const readPool = ({ name }: { name: string }, { load }: RequestContext): Promise<Pool> =>
  requireRow(load.pool.load(name))

const AccountShare = builder.objectRef<AccountShareRow>('AccountShare').implement({
  description: 'Usage of a pool by an account at the last count of the leader.',
  fields: (t) => ({
    account: t.exposeString('account', {
      description: 'The account; includes the accounts below it that have no weight of their own.',
    }),
    occupancy: t.exposeFloat('occupancy', {
      description: 'Largest share of any resource held by its running jobs, divided by its weight.',
    }),
    decayedUse: t.exposeFloat('decayedUse', {
      nullable: true,
      description:
        'Mean of the past occupancy, whose weight halves with every half-life; null: the pool has no `shareHalfLifeSeconds`.',
    }),
    share: t.exposeFloat('share', {
      description:
        'Sort key of the jobs of the account, smallest first: the occupancy, or with a half-life the predicted decayed use in a tenth of a half-life.',
    }),
    weight: t.exposeFloat('weight', { description: 'Weight from the configuration; 1 by default.' }),
    running: t.exposeInt('running', { description: 'Jobs of the account that hold resources.' }),
    queued: t.exposeInt('queued', { description: 'QUEUED jobs of the account whose gates are all open.' }),
  }),
})

const LostWork = builder.objectRef<Omit<LostWorkRow, 'pool'>>('LostWork').implement({
  description: 'Work that the jobs of a pool lost to preemptions in the last 24 hours.',
  fields: (t) => ({
    runs: t.exposeInt('runs', { description: 'Number of preempted runs.' }),
    seconds: t.exposeFloat('seconds', { description: 'Run time since the start or the last closure of these runs.' }),
    gpuSeconds: t.exposeFloat('gpuSeconds', { description: 'The same time multiplied by the GPUs of each run.' }),
  }),
})

const PoolNodeConnection = declareConnection('PoolNode', PoolNodeRef)

builder.node(PoolRef, {
  description: 'A set of nodes with one ordering policy, one leader and one or more executors.',
  id: { resolve: (pool) => poolId(pool.name), description: 'pool_<name>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.pool.load(parseName(id)))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name in the configuration.' }),
    policy: t.field({
      type: PoolPolicy,
      description: 'Ordering policy.',
      resolve: async (pool, _args, context) => (await readPool(pool, context)).policy,
    }),
    executors: t.stringList({
      description: 'Executors that use the nodes of the pool, in order of preference.',
      resolve: async (pool, _args, context) => (await readPool(pool, context)).executors,
    }),
    limits: t.field({
      type: LimitsRef,
      description: 'Limits on what runs at the same time.',
      resolve: ({ name }, _args, { load }) => load.limitsInUse.load(name),
    }),
    rates: t.field({
      type: PoolRates,
      nullable: true,
      description: 'Cost rates; null: a job costs what its submitter estimates.',
      resolve: ({ name }, _args, context) => readRates(name, context),
    }),
    paused: t.boolean({
      description: 'Whether starts are paused: `maxConcurrent` is 0.',
      resolve: async ({ name }, _args, { load }) => (await load.limitsOfPool.load(name)).maxConcurrent === 0,
    }),
    capacity: t.field({
      type: Capacity,
      description: 'Total resources of the nodes.',
      resolve: async ({ name }, _args, { load }) => (await load.poolCapacity.load(name)).capacity,
    }),
    used: t.field({
      type: Capacity,
      description:
        'Resources held by runs. They may exceed the capacity, because runs that wait in Slurm for a node count too.',
      resolve: async ({ name }, _args, { load }) => (await load.poolCapacity.load(name)).used,
    }),
    leader: t.field({
      type: Leader,
      nullable: true,
      description: 'The process that schedules the pool; null: the pool has no leader, and waiting jobs do not start.',
      resolve: ({ name }, _args, { load }) => load.leader.load(name),
    }),
    holds: t.field({
      type: [HoldRef],
      description: 'Nodes held for jobs, at most 6 holds.',
      resolve: ({ name }, _args, { load }) => load.holdsOfPool.load(name),
    }),
    accounts: t.field({
      type: [AccountShare],
      description:
        'Accounts with running or waiting jobs, largest usage first, at most 500. Without permission to see all jobs: only your own and those of your teams.',
      resolve: ({ name }, _args, { load }) => load.accountsOfPool.load(name),
    }),
    lostWork: t.field({
      type: LostWork,
      description: 'Work that the jobs of the pool lost to preemptions in the last 24 hours.',
      resolve: async ({ name }, _args, { load }) =>
        (await load.lostWorkOfPool.load(name))[0] ?? { runs: 0, seconds: 0, gpuSeconds: 0 },
    }),
    nodes: t.field({
      type: PoolNodeConnection,
      description: 'Machines that run the jobs of the pool.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async ({ name }, args, { load }) =>
        toConnection(await load.nodesOfPool.load(name, args), (ids) => load.node.loadMany(ids)),
    }),
  }),
})

const NativeAttribute = builder.objectRef<[string, string]>('NativeAttribute').implement({
  description: 'An attribute that is passed to the backend.',
  fields: (t) => ({
    name: t.string({ description: 'Name, such as partition.', resolve: ([name]) => name }),
    value: t.string({ description: 'Value, such as debug.', resolve: ([, value]) => value }),
  }),
})

builder.node(SubmissionQueueRef, {
  description: 'A named entry point for submissions to one pool.',
  id: { resolve: (queue) => queueId(queue.name), description: 'queue_<name>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.submissionQueue.load(parseName(id)))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name in the configuration.' }),
    pool: t.field({
      type: PoolRef,
      nullable: true,
      description: 'The pool of the queue; null: the queue is no longer configured.',
      async resolve({ name }, _args, { load }) {
        const queue = await load.submissionQueue.load(name)
        return queue && { name: queue.poolName }
      },
    }),
    isDefault: t.boolean({
      description: 'Whether submissions that name no queue use this one.',
      resolve: async ({ name }, _args, { load }) => (await load.submissionQueue.load(name))?.isDefault ?? false,
    }),
    native: t.field({
      type: [NativeAttribute],
      description: 'Attributes for the backend, as in the configuration. At most 1,000.',
      async resolve({ name }, _args, { load }) {
        const native = (await load.submissionQueue.load(name))?.native ?? {}
        return Object.entries(native as Record<string, string>)
      },
    }),
  }),
})

const poolsMax = 100
const submissionQueuesMax = 500

builder.queryField('pools', (t) =>
  t.field({
    type: [PoolRef],
    description: 'All pools, at most 100.',
    resolve: (_root, _args, { domain }) => domain.db.prisma.pool.findMany({ orderBy: { name: 'asc' }, take: poolsMax }),
  }),
)

builder.queryField('submissionQueues', (t) =>
  t.field({
    type: [SubmissionQueueRef],
    description: 'All submission queues in the order of the configuration, at most 500.',
    resolve: (_root, _args, { domain }) =>
      domain.db.prisma.submissionQueue.findMany({ orderBy: { position: 'asc' }, take: submissionQueuesMax }),
  }),
)
