import { seesAll } from '../../../domain/access.ts'
import type { Rates } from '../../../domain/cost.ts'
import { GiB } from '../../../domain/shape.ts'
import type { Pool } from '../../../platform/generated/client.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import type { RequestContext } from '../../rows/context.ts'
import { type GpuModelRow, usersOfModelMax } from '../../rows/gpu-models.ts'
import { poolsListing } from '../../rows/listings.ts'
import { pageCostUpTo } from '../../rows/page.ts'
import { parseName, poolId, queueId } from '../../rows/typed-id.ts'
import type { AccountShareRow } from '../../rows/waiting-loaders.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { describeValues } from '../frame/enum-values.ts'
import { ExecutorKind } from '../frame/enums.ts'
import { exposeColumns, objectField, requireRow } from '../frame/fields.ts'
import { readRates } from '../frame/money.ts'
import { HoldRef, PoolNodeRef, PoolRef, SubmissionQueueRef } from '../frame/refs.ts'
import { LimitsRef } from '../policies/limits.ts'
import { Capacity } from './pool-node.ts'

export interface LeaderShape {
  holder: string
  host: string
  epoch: number
  renewedAt: Date
}

const Leader = builder.objectRef<LeaderShape>('Leader').implement({
  description: 'The server process that schedules a pool.',
  fields: (t) => ({
    ...exposeColumns(t, {
      epoch: ['UInt53', 'Number that grows with every takeover by another process.'],
      renewedAt: ['DateTime', 'Time of the last heartbeat.'],
    }),
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
  }),
})

const PoolPolicy = builder.enumType('PoolPolicy', {
  description: 'Order in which the jobs of a pool start.',
  values: describeValues({
    PRIORITY: 'By priority, then by submission time.',
    FAIR_SHARE: 'By usage: at each level of the tree of accounts and people, the smallest share per weight first.',
  }),
})

const PoolRates = builder.objectRef<Rates>('PoolRates').implement({
  description: 'Cost of holding resources of a pool for one hour.',
  fields: (t) =>
    exposeColumns(t, {
      cpuHour: ['Float', 'Cost per core and hour.'],
      gpuHour: ['Float', 'Cost per GPU and hour.'],
      currency: ['String', 'Currency, by ISO 4217. Amounts are never converted.'],
    }),
})

const readPool = ({ name }: { name: string }, { load }: RequestContext): Promise<Pool> =>
  requireRow(load.pool.load(name))

const AccountShare = builder.objectRef<AccountShareRow>('AccountShare').implement({
  description: 'Usage of a pool by an account at the last count of the leader.',
  fields: (t) =>
    exposeColumns(t, {
      account: ['String', 'The account; includes the accounts below it.'],
      occupancy: ['Float', 'Largest share of any resource held by its running jobs, divided by its weight.'],
      decayedUse: [
        'Float?',
        'Mean of the past occupancy, whose weight halves with every half-life; null: `shareHalfLifeSeconds` of the pool is null.',
      ],
      share: [
        'Float',
        'Sort key of the account among those at its level of the tree, smallest first: the decayed use that is predicted for about the end of the runs, or without a half-life the occupancy.',
      ],
      weight: ['Float', 'Weight from the configuration; 1 by default.'],
      running: ['Int', 'Jobs of the account that hold resources.'],
      queued: ['Int', 'QUEUED jobs of the account whose gates are all open.'],
    }),
})

const GpuUserCount = builder.objectRef<GpuModelRow['byUser'][number]>('GpuUserCount').implement({
  description: 'Number of GPUs of a model that the runs of a user hold.',
  fields: (t) => ({
    user: objectField(t, 'userId', 'Whose runs hold the GPUs.'),
    count: t.exposeInt('count', { description: 'GPUs that the runs of the user hold.' }),
  }),
})

const GpuModelCount = builder.objectRef<GpuModelRow>('GpuModelCount').implement({
  description: 'Number of GPUs of a model in a pool.',
  fields: (t) => ({
    ...exposeColumns(t, {
      model: ['String', 'Model, in the words of its driver or of the configuration.'],
      count: ['Int', 'GPUs of all nodes of the pool.'],
      allocated: ['Int', 'GPUs that runs hold; on Slurm and Kubernetes also those that other users hold.'],
    }),
    memoryBytes: t.field({
      type: 'UInt53',
      description: 'Memory of one GPU, in bytes.',
      resolve: ({ memoryGib }) => Math.round(memoryGib * GiB),
    }),
    byUser: t.field({
      type: [GpuUserCount],
      description:
        'Users whose runs hold GPUs of the model, most GPUs first, at most 100. Without permission to see all jobs: only yourself.',
      complexity: { multiplier: usersOfModelMax },
      resolve: ({ byUser }) => byUser,
    }),
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
    executors: t.field({
      type: [ExecutorKind],
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
    gpusByModel: t.field({
      type: [GpuModelCount],
      description: 'GPUs of the pool by model, the most numerous first, at most 100.',
      resolve: ({ name }, _args, { load }) => load.gpuModelsOfPool.load(name),
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
    nodes: t.field({
      type: PoolNodeConnection,
      description: 'Machines that run the jobs of the pool.',
      args: t.arg.connectionArgs(),
      complexity: pageCostUpTo('nodesPerPool'),
      resolve: async ({ name }, args, { load }) =>
        toConnection(await load.nodesOfPool.load(name, args), (ids) => load.node.loadMany(ids)),
    }),
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
  }),
})

const PoolConnection = declareConnection('Pool', PoolRef)

const submissionQueuesMax = 500
const submissionQueuesCost = { multiplier: submissionQueuesMax, upTo: 'submissionQueues' } as const

builder.queryFields((t) => ({
  pool: t.field({
    type: PoolRef,
    nullable: true,
    description: 'A pool; null: it does not exist.',
    args: { name: t.arg.string({ description: 'Name in the configuration; default: the pool of the default queue.' }) },
    resolve: async (_root, { name }, { load, domain: { db } }) => {
      if (name != null) return load.pool.load(name)
      const queue = await db.prisma.submissionQueue.findFirst({ where: { isDefault: true } })
      return queue && load.pool.load(queue.poolName)
    },
  }),
  pools: t.field({
    type: PoolConnection,
    description: 'All pools, by name.',
    args: t.arg.connectionArgs(),
    complexity: pageCostUpTo('pools'),
    resolve: async (_root, args, { listSql, load }) =>
      toConnection(
        await readList(listSql, { listing: poolsListing, where: () => 'TRUE', filter: null, args }),
        (names) => load.pool.loadMany(names),
      ),
  }),
  submissionQueues: t.field({
    type: [SubmissionQueueRef],
    description: 'All submission queues in the order of the configuration, at most 500.',
    complexity: submissionQueuesCost,
    resolve: (_root, _args, { domain }) =>
      domain.db.prisma.submissionQueue.findMany({ orderBy: { position: 'asc' }, take: submissionQueuesMax }),
  }),
}))
