import { seesAll } from '../../domain/access.ts'
import type { Rates } from '../../domain/cost.ts'
import { limitsInUse } from '../../domain/limits/in-use.ts'
import type { Pool } from '../../platform/generated/client.ts'
import { toConnection } from '../rows/connection.ts'
import { pageCost } from '../rows/page.ts'
import { nameOf, poolId, queueId } from '../rows/typed-id.ts'
import type { AccountShareRow, LostWorkRow } from '../rows/waiting-loaders.ts'
import { builder } from './builder.ts'
import { connectionType } from './connection-type.ts'
import { described } from './enum-values.ts'
import { LimitsRef } from './limits.ts'
import { DeviceRef, HoldRef, JobRef, PoolNodeRef, PoolRef, SubmissionQueueRef } from './refs.ts'
import { RunConnection } from './run.ts'

/** Machines: pools, their nodes and GPUs, and the submission queues that lead to them. */
export interface CapacityShape {
  cpuMillis: number
  memoryBytes: bigint | number
  gpu: number
}

const Capacity = builder.objectRef<CapacityShape>('Capacity').implement({
  description: 'An amount of resources.',
  fields: (t) => ({
    cpu: t.float({ description: 'Number of cores.', resolve: ({ cpuMillis }) => cpuMillis / 1000 }),
    memoryBytes: t.expose('memoryBytes', { type: 'UInt53', description: 'Bytes of memory.' }),
    gpu: t.exposeInt('gpu', { description: 'Number of GPUs.' }),
  }),
})

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
      description: 'Its host name, process id and start time; null: you may not see all jobs.',
      resolve: ({ holder }, _args, { viewer }) => (seesAll(viewer) ? holder : null),
    }),
    host: t.string({
      nullable: true,
      description: 'Host name of its machine; null: you may not see all jobs.',
      resolve: ({ host }, _args, { viewer }) => (seesAll(viewer) ? host : null),
    }),
    epoch: t.expose('epoch', { type: 'UInt53', description: 'Grows each time another process takes over.' }),
    renewedAt: t.expose('renewedAt', { type: 'DateTime', description: 'Last sign of life.' }),
  }),
})

const PoolPolicy = builder.enumType('PoolPolicy', {
  description: 'Order of the queue of a pool.',
  values: described({
    PRIORITY: 'By priority, then by submission time.',
    FAIR_SHARE: 'By usage: accounts with the smallest share per weight first.',
  }),
})

export const PoolNodeState = builder.enumType('PoolNodeState', {
  description: 'State of a node.',
  values: described({
    READY: 'Accepts new runs.',
    CORDONED: 'Accepts no new runs; running jobs continue.',
    DRAINING: 'Accepts no new runs and is to be removed; running jobs continue.',
    LOST: 'Does not answer.',
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

/** The domain wrote it. */
const ratesOf = ({ rates }: Pool) => rates as unknown as Rates | null

const AccountShare = builder.objectRef<AccountShareRow>('AccountShare').implement({
  description: 'Usage of a pool by an account, as last counted by the leader of the pool.',
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
        'Mean of its occupancy until now, in which a moment counts half as much as one a half-life later; null: the pool has no `shareHalfLifeSeconds`.',
    }),
    share: t.exposeFloat('share', {
      description:
        'By which its jobs are ordered, the smallest first: its occupancy, or with a half-life its decayed use a tenth of a half-life from now if its runs go on.',
    }),
    weight: t.exposeFloat('weight', { description: 'Its weight.' }),
    running: t.exposeInt('running', { description: 'Its jobs that hold resources.' }),
    queued: t.exposeInt('queued', { description: 'Its QUEUED jobs whose gates are all open.' }),
  }),
})

const LostWork = builder.objectRef<Omit<LostWorkRow, 'pool'>>('LostWork').implement({
  description: 'What preemptions of the last 24 hours took from the jobs of a pool.',
  fields: (t) => ({
    runs: t.exposeInt('runs', { description: 'Runs that ended for other jobs.' }),
    seconds: t.exposeFloat('seconds', { description: 'Their run time since they began or last saved a closure.' }),
    gpuSeconds: t.exposeFloat('gpuSeconds', { description: 'The same, times their GPUs.' }),
  }),
})

const PoolNodeConnection = connectionType('PoolNode', PoolNodeRef)

builder.node(PoolRef, {
  description: 'A set of nodes with one ordering policy, one leader and one or more executors.',
  id: { resolve: (pool) => poolId(pool.name), description: 'pool_<name>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.pool.load(nameOf(id)))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name in the configuration.' }),
    policy: t.expose('policy', { type: PoolPolicy, description: 'Ordering policy.' }),
    executors: t.exposeStringList('executors', {
      description: 'Executors that use its nodes, in order of preference.',
    }),
    limits: t.field({
      type: LimitsRef,
      description: 'Limits on what runs at the same time.',
      resolve: ({ name }, _args, { domain, viewer }) => limitsInUse(domain, viewer, name),
    }),
    rates: t.field({
      type: PoolRates,
      nullable: true,
      description: 'Cost rates; null: a job costs what its submitter estimates.',
      resolve: ratesOf,
    }),
    paused: t.boolean({
      description: 'Whether starts are paused: `maxConcurrent` is 0.',
      resolve: async ({ name }, _args, { load }) => (await load.limitsOfPool.load(name)).maxConcurrent === 0,
    }),
    capacity: t.field({
      type: Capacity,
      description: 'Total resources of its nodes.',
      resolve: async ({ name }, _args, { load }) => (await load.poolCapacity.load(name)).capacity,
    }),
    used: t.field({
      type: Capacity,
      description:
        'Resources held by runs. Runs that wait in Slurm for a node hold them too, so it may be more than the capacity.',
      resolve: async ({ name }, _args, { load }) => (await load.poolCapacity.load(name)).used,
    }),
    leader: t.field({
      type: Leader,
      nullable: true,
      description: 'The process that schedules the pool; null: none, waiting jobs do not start.',
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
      description: 'Work that preemptions of the last 24 hours took from its jobs.',
      resolve: async ({ name }, _args, { load }) =>
        (await load.lostWorkOfPool.load(name))[0] ?? { runs: 0, seconds: 0, gpuSeconds: 0 },
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
  description: 'A node: a machine of a pool.',
  id: { resolve: (node) => node.id, description: 'node_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.node.load(id))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the pool.' }),
    pool: t.exposeString('poolName', { description: 'The pool of the node.' }),
    state: t.expose('state', { type: PoolNodeState, description: 'Whether new runs may start on the node.' }),
    cpuModel: t.exposeString('cpuModel', { nullable: true, description: 'Processor model, in lower case.' }),
    infiniband: t.exposeBoolean('infiniband', { description: 'Whether it has InfiniBand.' }),
    gpuJobsOnly: t.exposeBoolean('gpuJobsOnly', {
      description: 'Whether only jobs with GPUs start on it: its backend keeps all others away.',
    }),
    capacity: t.field({
      type: Capacity,
      description: 'Total resources.',
      resolve: async (node, _args, { load }) => ({ ...node, gpu: (await load.devices.load(node.id)).length }),
    }),
    free: t.field({
      type: Capacity,
      description: 'Free resources; of a node of Slurm or Kubernetes, without what others hold there.',
      async resolve({ id, freeCpu, freeMemory, heldGpus }, _args, { load }) {
        const [devices, held] = await Promise.all([load.devices.load(id), load.held.load(id)])
        const gpu = devices.length - held.length - heldGpus.length
        return {
          cpuMillis: Math.max(0, freeCpu),
          memoryBytes: freeMemory < 0n ? 0n : freeMemory,
          gpu: Math.max(0, gpu),
        }
      },
    }),
    devices: t.field({
      type: [DeviceRef],
      description: 'Its GPUs.',
      resolve: ({ id }, _args, { load }) => load.devices.load(id),
    }),
    runs: t.field({
      type: RunConnection,
      description: 'Runs that hold resources of the node, of jobs that you may see.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async ({ id }, args, { load }) =>
        toConnection(await load.runsOnNode.load(id, args), (ids) => load.run.loadMany(ids)),
    }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', nullable: true, description: 'Last sign of life.' }),
    backsOffUntil: t.expose('backsOffUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'Nothing starts on the node before this time because starts failed there; afterwards one run at a time starts until one works. Null: the node does not back off.',
    }),
    backsOffBecause: t.exposeString('backsOffBecause', {
      nullable: true,
      description: 'Why the last start on the node failed; null: the node does not back off.',
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
    name: t.exposeString('model', { description: 'GPU model.' }),
    memoryGib: t.exposeFloat('memoryGib', { description: 'GiB of memory.' }),
    tensorCores: t.exposeBoolean('tensorCores', { description: 'Whether it has tensor cores.' }),
    cuda: t.exposeStringList('cuda', { description: 'Lowest and highest CUDA version; empty: unknown.' }),
    allocated: t.boolean({
      description:
        'Whether a run holds the GPU. On a node of Slurm or Kubernetes, which choose GPUs themselves, only the number of allocated GPUs is exact, and those of other users count.',
      async resolve({ nodeId, index }, _args, { load }) {
        const [node, held] = await Promise.all([load.node.load(nodeId), load.held.load(nodeId)])
        return held.some((each) => each.index === index) || (node?.heldGpus.includes(index) ?? false)
      },
    }),
    job: t.field({
      type: JobRef,
      nullable: true,
      description:
        'The job that holds the GPU; null: the GPU is free, you may not see the job, or its backend chooses GPUs.',
      async resolve({ nodeId, index }, _args, { load }) {
        const [node, held] = await Promise.all([load.node.load(nodeId), load.held.load(nodeId)])
        const holding = node?.isDelegated ? undefined : held.find((each) => each.index === index)
        const run = holding ? await load.run.load(holding.runId) : null
        return run ? load.job.load(run.jobId) : null
      },
    }),
  }),
})

builder.node(SubmissionQueueRef, {
  description: 'A named entry point for submissions; it leads to one pool.',
  id: { resolve: (queue) => queueId(queue.name), description: 'queue_<name>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.submissionQueue.load(nameOf(id)))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name in the configuration.' }),
    pool: t.exposeString('poolName', { description: 'The pool of the queue.' }),
    isDefault: t.exposeBoolean('isDefault', { description: 'Whether submissions that name no queue use this one.' }),
    native: t.expose('native', {
      type: 'JSONObject',
      nullable: true,
      description: 'Attributes for the backend by name, all texts, as in the configuration: {"partition": "debug"}.',
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
