import {
  type MachineGpu,
  type MachineReport,
  readMachine,
  readMachineGpus,
} from '../../domain/machines/machine-report.ts'
import { type ExecutorReport, readExecutors } from '../../domain/machines/pool-report.ts'
import { launchersOf } from '../../domain/submission/routing.ts'
import type { Device } from '../../platform/generated/client.ts'
import { builder } from '../builder.ts'
import { DeviceRef } from '../refs.ts'

/** Load of the machine that runs local jobs, and the GPUs of all pools. */
interface Snapshot {
  at: Date
  devices: Device[]
  machineGpus: MachineGpu[]
  runningLocalJobs: number
  machine: MachineReport | null
}

const GpuCapability = builder.objectRef<Device>('GpuCapability').implement({
  description: 'What a GPU can do.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Physical index on its node.' }),
    name: t.exposeString('model', { description: 'Model.' }),
    memoryGib: t.exposeFloat('memoryGib', { description: 'GiB of memory.' }),
    tensorCores: t.exposeBoolean('tensorCores', { description: 'Whether it has tensor cores.' }),
    cuda: t.exposeStringList('cuda', { description: 'Lowest and highest CUDA version; empty: unknown.' }),
    driverVersion: t.string({
      nullable: true,
      description: 'Version of its driver; null: it was declared, not found.',
      resolve: () => null,
    }),
  }),
})

const GpuInventory = builder.objectRef<Snapshot>('GpuInventory').implement({
  description: 'The GPUs there are.',
  fields: (t) => ({
    backend: t.string({
      description: 'How they are known: declared, or none.',
      resolve: ({ devices }) => (devices.length > 0 ? 'declared' : 'none'),
    }),
    count: t.int({ description: 'How many.', resolve: ({ devices }) => devices.length }),
    capabilities: t.expose('devices', { type: [GpuCapability], description: 'What each can do.' }),
  }),
})

/** An index alone says nothing where several nodes have GPUs. */
const onMachine = 'on the machine that runs local jobs; where there is none, on the only node with GPUs'

const indexes = ({ machineGpus }: Snapshot, { taken }: Pick<MachineGpu, 'taken'>) =>
  machineGpus.filter((gpu) => gpu.taken === taken).map(({ index }) => index)

const GpuAllocation = builder.objectRef<Snapshot>('GpuAllocation').implement({
  description:
    'Who holds the GPUs. An index is of one machine alone; `devices` names the node of each GPU of all pools.',
  fields: (t) => ({
    allocatedGpus: t.field({
      type: ['Int'],
      description: `Indexes of GPUs that runs hold, ${onMachine}.`,
      resolve: (all) => indexes(all, { taken: true }),
    }),
    availableGpus: t.field({
      type: ['Int'],
      description: `Indexes of GPUs that no run holds, ${onMachine}.`,
      resolve: (all) => indexes(all, { taken: false }),
    }),
    runningLocalJobs: t.exposeInt('runningLocalJobs', {
      description: 'Jobs of the executor `local` that hold something.',
    }),
    devices: t.expose('devices', { type: [DeviceRef], description: 'The GPUs of all nodes.' }),
  }),
})

interface ExecutorShape {
  name: string
  pool: string
  led: boolean
  report: ExecutorReport | undefined
}

const ExecutorInfo = builder.objectRef<ExecutorShape>('ExecutorInfo').implement({
  description: 'A mechanism that runs runs.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    pool: t.exposeString('pool', { description: 'The pool that it runs jobs for.' }),
    version: t.string({
      nullable: true,
      description: 'Version of the backend; null: it has none of its own.',
      resolve: ({ report }) => report?.version ?? null,
    }),
    launchers: t.stringList({
      description: 'Launchers that jobs may name.',
      resolve: ({ name }) => launchersOf(name),
    }),
    available: t.boolean({
      description: 'Whether a process carries its runs, and reaches its backend.',
      resolve: ({ led, report }) => led && (report?.available ?? true),
    }),
    message: t.string({
      nullable: true,
      description: 'Why it is not available, or what users should know of it: which promises it cannot keep here.',
      resolve: ({ led, pool, report }) => (led ? (report?.message ?? null) : `Pool ${pool} has no leader`),
    }),
  }),
})

const System = builder.objectRef<Snapshot>('System').implement({
  description:
    'The machine that runs local jobs, as the leader of its pool reports it, and the GPUs of all pools. Of several local ' +
    'pools it is that of the pool that the default queue leads to, else of the first by name that somebody leads.',
  fields: (t) => ({
    timestamp: t.expose('at', { type: 'DateTime', description: 'When this was so.' }),
    loadAvg5Min: t.float({
      nullable: true,
      description: 'Load average of five minutes; null: there is no local pool, or nobody leads it.',
      resolve: ({ machine }) => machine?.load5 ?? null,
    }),
    memoryPercent: t.float({
      nullable: true,
      description: 'Memory in use, in per cent; null: there is no local pool, or nobody leads it.',
      resolve: ({ machine }) => machine?.memoryPercent ?? null,
    }),
    gpus: t.expose('devices', { type: [DeviceRef], description: 'All GPUs.' }),
    gpuInventory: t.field({ type: GpuInventory, description: 'What GPUs there are.', resolve: (all) => all }),
    gpuAllocation: t.field({ type: GpuAllocation, description: 'Who holds them.', resolve: (all) => all }),
    executors: t.field({
      type: [ExecutorInfo],
      description: 'The executors of all pools.',
      async resolve(_all, _args, { domain, load }) {
        const pools = await readExecutors(domain.db.sql)
        const leaders = await Promise.all(pools.map(({ pool }) => load.leader.load(pool)))
        return pools.flatMap(({ pool, executors, reports }, index) =>
          executors.map((name) => ({ name, pool, led: leaders[index] !== null, report: reports[name] })),
        )
      },
    }),
  }),
})

const devicesMax = 1_000

builder.queryField('system', (t) =>
  t.field({
    type: System,
    description: 'The machine that runs local jobs, and the GPUs of all pools.',
    async resolve(_root, _args, { domain: { db } }) {
      const [devices, machineGpus, runningLocalJobs, machine] = await Promise.all([
        db.prisma.device.findMany({ orderBy: [{ nodeId: 'asc' }, { index: 'asc' }], take: devicesMax }),
        readMachineGpus(db.sql),
        db.prisma.job.count({
          where: { executor: 'local', state: { in: ['STARTING', 'RUNNING', 'CANCELLING'] } },
        }),
        readMachine(db.sql),
      ])
      const [now] = await db.sql.query<{ at: Date }>('SELECT berth_now() AS at')
      return { at: now?.at ?? new Date(0), devices, machineGpus, runningLocalJobs, machine }
    },
  }),
)
