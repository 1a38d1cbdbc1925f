import { executorsWhere, findTraits } from '../../domain/executors.ts'
import {
  type MachineGpu,
  type MachineReport,
  readMachine,
  readMachineGpus,
} from '../../domain/machines/machine-report.ts'
import { type ExecutorReport, readExecutors } from '../../domain/machines/pool-report.ts'
import { holdingStates } from '../../domain/state.ts'
import { readNow } from '../../platform/database-time.ts'
import type { Device } from '../../platform/generated/client.ts'
import { builder } from './builder.ts'
import { DeviceRef } from './refs.ts'

interface Snapshot {
  at: Date
  devices: Device[]
  machineGpus: MachineGpu[]
  runningLocalJobs: number
  machine: MachineReport | null
}

const GpuCapability = builder.objectRef<Device>('GpuCapability').implement({
  description: 'Properties of a GPU.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Physical index on its node.' }),
    name: t.exposeString('model', { description: 'GPU model.' }),
    memoryGib: t.exposeFloat('memoryGib', { description: 'GiB of memory.' }),
    tensorCores: t.exposeBoolean('tensorCores', { description: 'Whether the GPU has tensor cores.' }),
    cuda: t.exposeStringList('cuda', { description: 'Lowest and highest CUDA version; empty: unknown.' }),
    driverVersion: t.string({
      nullable: true,
      description: 'Driver version; null: unknown, the GPU was declared in the configuration.',
      resolve: () => null,
    }),
  }),
})

const GpuInventory = builder.objectRef<Snapshot>('GpuInventory').implement({
  description: 'All known GPUs.',
  fields: (t) => ({
    backend: t.string({
      description: 'Source of the inventory: "declared" or "none".',
      resolve: ({ devices }) => (devices.length > 0 ? 'declared' : 'none'),
    }),
    count: t.int({ description: 'Number of GPUs.', resolve: ({ devices }) => devices.length }),
    capabilities: t.expose('devices', { type: [GpuCapability], description: 'Properties of each GPU.' }),
  }),
})

/** Indexes refer to one machine, because an index alone is ambiguous. */
const onMachine = 'on the machine that runs local jobs, or without local jobs on the only node with GPUs'

const indexes = ({ machineGpus }: Snapshot, { taken }: Pick<MachineGpu, 'taken'>) =>
  machineGpus.filter((gpu) => gpu.taken === taken).map(({ index }) => index)

const GpuAllocation = builder.objectRef<Snapshot>('GpuAllocation').implement({
  description:
    'Which GPUs are in use. Indexes refer to a single machine; `devices` lists the GPUs of all pools with their nodes.',
  fields: (t) => ({
    allocatedGpus: t.field({
      type: ['Int'],
      description: `Indexes of GPUs in use, ${onMachine}.`,
      resolve: (all) => indexes(all, { taken: true }),
    }),
    availableGpus: t.field({
      type: ['Int'],
      description: `Indexes of free GPUs, ${onMachine}.`,
      resolve: (all) => indexes(all, { taken: false }),
    }),
    runningLocalJobs: t.exposeInt('runningLocalJobs', {
      description: 'Number of jobs of the executor `local` that hold resources.',
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
  description: 'A backend that executes runs, in one pool.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    pool: t.exposeString('pool', { description: 'The pool whose jobs the executor runs.' }),
    version: t.string({
      nullable: true,
      description: 'Version of the backend; null: the backend has no version.',
      resolve: ({ report }) => report?.version ?? null,
    }),
    launchers: t.stringList({
      description: 'Launchers that jobs may request.',
      resolve: ({ name }) => [...findTraits(name).launchers],
    }),
    available: t.boolean({
      description: 'Whether the pool has a leader and the leader reaches the backend.',
      resolve: ({ led, report }) => led && (report?.available ?? true),
    }),
    message: t.string({
      nullable: true,
      description:
        'Why the executor is unavailable, or which features do not work on this machine; null: nothing to report.',
      resolve: ({ led, pool, report }) => (led ? (report?.message ?? null) : `Pool ${pool} has no leader`),
    }),
  }),
})

const System = builder.objectRef<Snapshot>('System').implement({
  description:
    'The machine that runs local jobs, as reported by the leader of its pool, and the GPUs of all pools. With several ' +
    'local pools: the pool of the default queue, otherwise the first by name that has a leader.',
  fields: (t) => ({
    id: t.id({ description: 'Constant key for caches; `node` does not accept it.', resolve: () => 'system' }),
    timestamp: t.expose('at', { type: 'DateTime', description: 'Time of the data.' }),
    loadAvg5Min: t.float({
      nullable: true,
      description: 'Five-minute load average; null: the server has no local pool, or the pool has no leader.',
      resolve: ({ machine }) => machine?.load5 ?? null,
    }),
    memoryPercent: t.float({
      nullable: true,
      description: 'Memory in use, in percent; null: the server has no local pool, or the pool has no leader.',
      resolve: ({ machine }) => machine?.memoryPercent ?? null,
    }),
    gpus: t.expose('devices', { type: [DeviceRef], description: 'All GPUs.' }),
    gpuInventory: t.field({ type: GpuInventory, description: 'Properties of all GPUs.', resolve: (all) => all }),
    gpuAllocation: t.field({ type: GpuAllocation, description: 'Which GPUs are in use.', resolve: (all) => all }),
    executors: t.field({
      type: [ExecutorInfo],
      description: 'Executors of all pools.',
      async resolve(_all, _args, { domain, load }) {
        const pools = await readExecutors(domain.db)
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
    description: 'Load of the machine that runs local jobs, and the GPUs of all pools.',
    async resolve(_root, _args, { domain: { db } }) {
      const [devices, machineGpus, runningLocalJobs, machine] = await Promise.all([
        db.prisma.device.findMany({ orderBy: [{ nodeId: 'asc' }, { index: 'asc' }], take: devicesMax }),
        readMachineGpus(db.sql),
        db.prisma.job.count({
          where: {
            executor: { in: executorsWhere((each) => each.startsProcesses) },
            state: { in: [...holdingStates] },
          },
        }),
        readMachine(db.sql),
      ])
      return { at: await readNow(db.sql), devices, machineGpus, runningLocalJobs, machine }
    },
  }),
)
