import { seesAll } from '../../domain/access.ts'
import type { Rates } from '../../domain/cost.ts'
import { limitsInUse } from '../../domain/limits/in-use.ts'
import type { Pool } from '../../platform/generated/client.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { pageCost } from '../page.ts'
import { DeviceRef, HoldRef, JobRef, PoolNodeRef, PoolRef, SubmissionQueueRef } from '../refs.ts'
import { nameOf, poolId, queueId } from '../typed-id.ts'
import type { AccountShareRow } from '../waiting-loaders.ts'
import { LimitsRef } from './limits.ts'
import { RunConnection } from './run.ts'

/** Machines: pools, their nodes and GPUs, and the doors that lead to them. */
export interface CapacityShape {
  cpuMillis: number
  memoryBytes: bigint | number
  gpu: number
}

const Capacity = builder.objectRef<CapacityShape>('Capacity').implement({
  description: 'An amount of what jobs need.',
  fields: (t) => ({
    cpu: t.float({ description: 'Cores.', resolve: ({ cpuMillis }) => cpuMillis / 1000 }),
    memoryBytes: t.expose('memoryBytes', { type: 'UInt53', description: 'Bytes of memory.' }),
    gpu: t.exposeInt('gpu', { description: 'GPUs.' }),
  }),
})

export interface LeaderShape {
  holder: string
  host: string
  epoch: number
  renewedAt: Date
}

const Leader = builder.objectRef<LeaderShape>('Leader').implement({
  description: 'The process that plans for a pool.',
  fields: (t) => ({
    process: t.string({
      nullable: true,
      description: 'The process; null: you may not see all jobs.',
      resolve: ({ holder }, _args, { viewer }) => (seesAll(viewer) ? holder : null),
    }),
    host: t.string({
      nullable: true,
      description: 'Its machine; null: you may not see all jobs.',
      resolve: ({ host }, _args, { viewer }) => (seesAll(viewer) ? host : null),
    }),
    epoch: t.expose('epoch', { type: 'UInt53', description: 'Grows with every take-over.' }),
    renewedAt: t.expose('renewedAt', { type: 'DateTime', description: 'When it was last heard of.' }),
  }),
})

const PoolPolicy = builder.enumType('PoolPolicy', {
  description: 'How a pool orders what waits.',
  values: ['PRIORITY', 'FAIR_SHARE'] as const,
})

export const PoolNodeState = builder.enumType('PoolNodeState', {
  description: 'READY takes new runs; CORDONED and DRAINING take none; LOST does not answer.',
  values: ['READY', 'CORDONED', 'DRAINING', 'LOST'] as const,
})

const PoolRates = builder.objectRef<Rates>('PoolRates').implement({
  description: 'What holding resources of a pool for an hour costs.',
  fields: (t) => ({
    cpuHour: t.exposeFloat('cpuHour', { description: 'A core.' }),
    gpuHour: t.exposeFloat('gpuHour', { description: 'A GPU.' }),
    currency: t.exposeString('currency', { description: 'In which currency, by ISO 4217. Nothing is converted.' }),
  }),
})

/** The domain wrote it. */
const ratesOf = ({ rates }: Pool) => rates as unknown as Rates | null

const AccountShare = builder.objectRef<AccountShareRow>('AccountShare').implement({
  description: 'What an account holds of a pool, as the leader of the pool last counted it.',
  fields: (t) => ({
    account: t.exposeString('account', {
      description: 'The account, with those below it that have no weight of their own.',
    }),
    occupancy: t.exposeFloat('occupancy', {
      description: 'The greatest part of any resource that its running jobs hold, over its weight.',
    }),
    weight: t.exposeFloat('weight', { description: 'Its weight.' }),
    running: t.exposeInt('running', { description: 'Its jobs that hold something.' }),
    queued: t.exposeInt('queued', { description: 'Its jobs that wait, and whose gates are open.' }),
  }),
})

const PoolNodeConnection = connectionType('PoolNode', PoolNodeRef)

builder.node(PoolRef, {
  description: 'Nodes with one ordering policy, one leader and one or more executors.',
  id: { resolve: (pool) => poolId(pool.name), description: 'pool_<name>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.pool.load(nameOf(id)))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name from the configuration.' }),
    policy: t.expose('policy', { type: PoolPolicy, description: 'How it orders what waits.' }),
    executors: t.exposeStringList('executors', {
      description: 'Executors that share its nodes, in order of preference.',
    }),
    limits: t.field({
      type: LimitsRef,
      description: 'What may run at once.',
      resolve: ({ name }, _args, { domain, viewer }) => limitsInUse(domain, viewer, name),
    }),
    rates: t.field({
      type: PoolRates,
      nullable: true,
      description: 'What its resources cost; null: a job costs what its submitter says.',
      resolve: ratesOf,
    }),
    paused: t.boolean({
      description: 'Whether nothing new is started: maxConcurrent is 0.',
      resolve: async ({ name }, _args, { load }) => (await load.limitsOfPool.load(name)).maxConcurrent === 0,
    }),
    capacity: t.field({
      type: Capacity,
      description: 'What its nodes have.',
      resolve: async ({ name }, _args, { load }) => (await load.poolCapacity.load(name)).capacity,
    }),
    used: t.field({
      type: Capacity,
      description: 'What runs hold of it.',
      resolve: async ({ name }, _args, { load }) => (await load.poolCapacity.load(name)).used,
    }),
    leader: t.field({
      type: Leader,
      nullable: true,
      description: 'Who plans for it; null: nobody, and what waits goes on waiting.',
      resolve: ({ name }, _args, { load }) => load.leader.load(name),
    }),
    holds: t.field({
      type: [HoldRef],
      description: 'Nodes that are kept for jobs, at most 6.',
      resolve: ({ name }, _args, { load }) => load.holdsOfPool.load(name),
    }),
    accounts: t.field({
      type: [AccountShare],
      description:
        'Accounts with running or waiting jobs, those that hold most first, at most 500; only your own and those of your teams unless you may see all jobs.',
      resolve: ({ name }, _args, { load }) => load.accountsOfPool.load(name),
    }),
    nodes: t.field({
      type: PoolNodeConnection,
      description: 'Its nodes.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async ({ name }, args, { load }) =>
        toConnection(await load.nodesOfPool.load(name, args), (ids) => load.node.loadMany(ids)),
    }),
  }),
})

builder.node(PoolNodeRef, {
  description: 'A machine of a pool.',
  id: { resolve: (node) => node.id, description: 'node_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.node.load(id))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in its pool.' }),
    pool: t.exposeString('poolName', { description: 'The pool it belongs to.' }),
    state: t.expose('state', { type: PoolNodeState, description: 'Whether new runs may be placed here.' }),
    cpuModel: t.exposeString('cpuModel', { nullable: true, description: 'Processor, in lower case.' }),
    infiniband: t.exposeBoolean('infiniband', { description: 'Whether it has InfiniBand.' }),
    capacity: t.field({
      type: Capacity,
      description: 'What it has.',
      resolve: async (node, _args, { load }) => ({ ...node, gpu: (await load.devices.load(node.id)).length }),
    }),
    free: t.field({
      type: Capacity,
      description: 'What nobody holds.',
      async resolve({ id, freeCpu, freeMemory }, _args, { load }) {
        const [devices, claims] = await Promise.all([load.devices.load(id), load.claims.load(id)])
        return { cpuMillis: freeCpu, memoryBytes: freeMemory, gpu: devices.length - claims.length }
      },
    }),
    devices: t.field({
      type: [DeviceRef],
      description: 'Its GPUs.',
      resolve: ({ id }, _args, { load }) => load.devices.load(id),
    }),
    runs: t.field({
      type: RunConnection,
      description: 'Runs that hold something of it, of jobs that you may see.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async ({ id }, args, { load }) =>
        toConnection(await load.runsOnNode.load(id, args), (ids) => load.run.loadMany(ids)),
    }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', nullable: true, description: 'When it was last heard of.' }),
    backsOffUntil: t.expose('backsOffUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'Starts failed there, and nothing is placed on it before; null: none failed, or one has worked since.',
    }),
    backsOffBecause: t.exposeString('backsOffBecause', {
      nullable: true,
      description: 'What made the last start there fail, while it backs off.',
    }),
  }),
})

DeviceRef.implement({
  description: 'A GPU of a node.',
  fields: (t) => ({
    node: t.string({
      description: 'Name of the node.',
      resolve: async ({ nodeId }, _args, { load }) => (await load.node.load(nodeId))?.name ?? nodeId,
    }),
    index: t.exposeInt('index', { description: 'Physical index on its node.' }),
    name: t.exposeString('model', { description: 'Model.' }),
    memoryGib: t.exposeFloat('memoryGib', { description: 'GiB of memory.' }),
    tensorCores: t.exposeBoolean('tensorCores', { description: 'Whether it has tensor cores.' }),
    cuda: t.exposeStringList('cuda', { description: 'Lowest and highest CUDA version; empty: unknown.' }),
    allocated: t.boolean({
      description: 'Whether a run holds it.',
      resolve: async ({ nodeId, index }, _args, { load }) =>
        (await load.claims.load(nodeId)).some((claim) => claim.index === index),
    }),
    job: t.field({
      type: JobRef,
      nullable: true,
      description: 'The job that holds it; null: free, or not yours to see.',
      async resolve({ nodeId, index }, _args, { load }) {
        const claim = (await load.claims.load(nodeId)).find((each) => each.index === index)
        const run = claim ? await load.run.load(claim.runId) : null
        return run ? load.job.load(run.jobId) : null
      },
    }),
  }),
})

builder.node(SubmissionQueueRef, {
  description: 'A named door that leads to a pool.',
  id: { resolve: (queue) => queueId(queue.name), description: 'queue_<name>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.submissionQueue.load(nameOf(id)))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name from the configuration.' }),
    pool: t.exposeString('poolName', { description: 'The pool it leads to.' }),
    isDefault: t.exposeBoolean('isDefault', { description: 'Whether submissions that name none come through it.' }),
    native: t.expose('native', { type: 'JSONObject', nullable: true, description: 'Words for the backend.' }),
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
    description: 'All doors in the order of the configuration, at most 500.',
    resolve: (_root, _args, { domain }) =>
      domain.db.prisma.submissionQueue.findMany({ orderBy: { position: 'asc' }, take: submissionQueuesMax }),
  }),
)
