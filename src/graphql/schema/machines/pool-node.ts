import { seesAll } from '../../../domain/access.ts'
import { GiB } from '../../../domain/shape.ts'
import { toConnection } from '../../rows/connection.ts'
import type { RequestContext } from '../../rows/context.ts'
import { loadGpus } from '../../rows/loaders.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns, objectField } from '../frame/fields.ts'
import { gpusMax } from '../frame/output-caps.ts'
import { GpuRef, JobRef, PoolNodeRef, PoolRef, RunRef, UserRef } from '../frame/refs.ts'
import { RunConnection } from '../jobs/run.ts'

export interface CapacityShape {
  cpuMillis: number
  memoryBytes: bigint | number
  gpu: number
}

export const Capacity = builder.objectRef<CapacityShape>('Capacity').implement({
  description: 'An amount of resources.',
  fields: (t) => ({
    ...exposeColumns(t, {
      memoryBytes: ['UInt53', 'Amount of memory.'],
      gpu: ['Int', 'Number of GPUs.'],
    }),
    cpu: t.float({ description: 'Number of cores.', resolve: ({ cpuMillis }) => cpuMillis / 1000 }),
  }),
})

export const PoolNodeState = builder.enumType('PoolNodeState', {
  description: 'State of a node.',
  values: describeValues({
    READY: 'Accepts new runs.',
    CORDONED: 'Accepts no new runs; running jobs continue.',
    DRAINING: 'Accepts no new runs and is to be removed; running jobs continue.',
    LOST: 'Does not answer.',
  }),
})

const devicesCost = { multiplier: gpusMax, upTo: 'gpusPerNode' } as const

builder.node(PoolNodeRef, {
  description: 'A node: a machine of a pool.',
  id: { resolve: (node) => node.id, description: 'Global id, for `node`: node_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.node.load(id))),
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Name, unique in the pool.'],
      cpuModel: ['String?', 'Processor model, in lower case.'],
      infiniband: ['Boolean', 'Whether the node has InfiniBand.'],
      gpuJobsOnly: ['Boolean', 'Whether the backend reserves the node for jobs with GPUs.'],
      version: [
        'UInt53',
        'Rises with each change of the state and of the declared hardware; pass it as `expectedVersion`, so that you do not overwrite a change of another user.',
      ],
      lastSeenAt: ['DateTime?', 'Time of the last heartbeat.'],
      backsOffUntil: [
        'DateTime?',
        'Time until which the node accepts no runs because starts failed; then it starts one run at a time until a start succeeds. Null: the node does not back off.',
      ],
    }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool to which the node belongs.',
      resolve: ({ poolName: name }) => ({ name }),
    }),
    capacity: t.field({
      type: Capacity,
      description: 'Total resources.',
      resolve: async (node, _args, { load }) => ({ ...node, gpu: (await load.devices.load(node.id)).length }),
    }),
    free: t.field({
      type: Capacity,
      description: 'Free resources; a node of Slurm or Kubernetes excludes resources that other users hold.',
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
    gpus: t.field({
      type: [GpuRef],
      description: 'GPUs of the node.',
      complexity: devicesCost,
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
    backsOffBecause: t.string({
      nullable: true,
      description:
        'Why the last start on the node failed; null: the node does not back off, or you may not see the jobs of all users.',
      resolve: ({ backsOffBecause }, _args, { viewer }) => (seesAll(viewer) ? backsOffBecause : null),
    }),
  }),
})

builder.objectFields(PoolNodeRef, (t) => ({
  state: t.expose('state', { type: PoolNodeState, description: 'Whether new runs may start on the node.' }),
  stateInfo: t.string({
    nullable: true,
    description:
      'Why the node accepts no runs: the reason of the user who set the state, or the last heartbeat of a LOST node; null: no reason was given.',
    resolve: ({ state, stateReason, lastSeenAt }) =>
      state === 'LOST' ? `No heartbeat since ${lastSeenAt?.toISOString() ?? 'the server started'}` : stateReason,
  }),
  stateBy: t.field({
    type: UserRef,
    nullable: true,
    description: 'The user who set the state; null: the server or the configuration.',
    resolve: ({ state, stateById }, _args, { load }) =>
      stateById === null || state === 'LOST' ? null : load.user.load(stateById),
  }),
  stateAt: t.expose('stateAt', { type: 'DateTime', description: 'When the state last changed.' }),
}))

/** Reads the run that holds a GPU; null: no run does, or the backend chooses the GPUs. */
async function readHolder({ nodeId, index }: { nodeId: string; index: number }, load: RequestContext['load']) {
  const [node, held] = await Promise.all([load.node.load(nodeId), load.held.load(nodeId)])
  const holding = node?.isDelegated ? undefined : held.find((each) => each.index === index)
  return holding ? load.run.load(holding.runId) : null
}

builder.node(GpuRef, {
  description: 'A GPU of a node.',
  id: {
    resolve: ({ nodeId, index }) => `gpu_${nodeId}_${index}`,
    description: 'Global id, for `node`: gpu_<id of the node>_<index>',
  },
  loadMany: (ids, { load }) => loadGpus(load, ids),
  fields: (t) => ({
    ...exposeColumns(t, {
      index: ['Int', 'Physical index on its node.'],
      model: ['String', 'Model, in the words of its driver or of the configuration.'],
      uuid: ['String?', 'UUID of the GPU as nvidia-smi prints it; null: declared in the configuration, or unknown.'],
      tensorCores: ['Boolean', 'Whether the GPU has tensor cores.'],
      cuda: ['[String]', 'Lowest and highest CUDA version; empty: unknown.'],
    }),
    node: objectField(t, 'nodeId', 'The machine that has the GPU.'),
    memoryBytes: t.field({
      type: 'UInt53',
      description: 'Total memory, in bytes.',
      resolve: ({ memoryGib }) => Math.round(memoryGib * GiB),
    }),
    allocated: t.boolean({
      description:
        'Whether a run holds the GPU. On Slurm and Kubernetes, which choose the GPUs, only the number of allocated GPUs is exact, including those of other users.',
      async resolve({ nodeId, index }, _args, { load }) {
        const [node, held] = await Promise.all([load.node.load(nodeId), load.held.load(nodeId)])
        return held.some((each) => each.index === index) || (node?.heldGpus.includes(index) ?? false)
      },
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description:
        'The run that holds the GPU; null: the GPU is free, you may not see the job, or its backend chooses GPUs.',
      resolve: async (device, _args, { load }) => {
        const run = await readHolder(device, load)
        return run && (await load.job.load(run.jobId)) ? run : null
      },
    }),
    job: t.field({
      type: JobRef,
      nullable: true,
      description:
        'The job that holds the GPU; null: the GPU is free, you may not see the job, or its backend chooses GPUs.',
      resolve: async (device, _args, { load }) => {
        const run = await readHolder(device, load)
        return run ? load.job.load(run.jobId) : null
      },
    }),
  }),
})
