import { builder } from '../builder.ts'
import { connectionType } from '../connection-type.ts'
import { JobRef, RunRef } from '../refs.ts'
import { JobState } from './enums.ts'
import { seen } from './problem.ts'

interface ShownPlacement {
  node: string
  replica: number
  cpuMillis: number
  memoryBytes: bigint
  gpuIds: number[]
}

const Placement = builder.objectRef<ShownPlacement>('Placement').implement({
  description: 'What one copy of a run holds of a node.',
  fields: (t) => ({
    node: t.exposeString('node', { description: 'Name of the node.' }),
    replica: t.exposeInt('replica', { description: 'Which copy: 0 … replicas − 1.' }),
    cpu: t.float({ description: 'Cores.', resolve: ({ cpuMillis }) => cpuMillis / 1000 }),
    memoryBytes: t.expose('memoryBytes', { type: 'UInt53', description: 'Bytes of memory.' }),
    gpuIds: t.expose('gpuIds', { type: ['Int'], description: 'Physical ids of its GPUs; the job sees 0 … n − 1.' }),
  }),
})

builder.node(RunRef, {
  description: 'One incarnation of a job on an executor; only the last of a job can be alive.',
  id: { resolve: (run) => run.id, description: 'run_…' },
  // A run is as visible as its job.
  loadMany: (ids, { load }) =>
    Promise.all(
      ids.map(async (id) => {
        const run = await load.run.load(id)
        return run && (await load.job.load(run.jobId)) ? run : null
      }),
    ),
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job.',
      resolve: (run, _args, { load }) => seen(load.job.load(run.jobId)),
    }),
    number: t.exposeInt('number', { description: '1, 2, 3 …' }),
    state: t.expose('state', { type: JobState, description: 'Its state.' }),
    stateReason: t.exposeString('stateReason', { nullable: true, description: 'Why it is in this state, as a code.' }),
    stateInfo: t.exposeString('stateInfo', { nullable: true, description: 'The same as a sentence.' }),
    exitCode: t.exposeInt('exitCode', {
      nullable: true,
      description: 'Exit code, or 128 + signal; null: it never ran or has not ended.',
    }),
    nativeId: t.exposeString('nativeId', { nullable: true, description: "The backend's own name of it." }),
    nodes: t.exposeStringList('nodes', { description: 'Names of the nodes it was placed on.' }),
    gpuIds: t.expose('gpuIds', { type: ['Int'], description: 'Physical ids of its GPUs.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Made.' }),
    scheduledAt: t.expose('scheduledAt', { type: 'DateTime', nullable: true, description: 'Start committed.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'The command runs.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'It is over.' }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When cancelling was asked for.',
    }),
    cancelledAt: t.expose('cancelledAt', { type: 'DateTime', nullable: true, description: 'When it was cancelled.' }),
    preemptRequestedAt: t.expose('preemptRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When preemption was asked for.',
    }),
    placements: t.field({
      type: [Placement],
      description: 'What it holds now; empty when it holds nothing.',
      async resolve(run, _args, { load }) {
        const [allocations, claims] = await Promise.all([load.allocations.load(run.id), load.claimsOfRun.load(run.id)])
        const nodes = await Promise.all(allocations.map(({ nodeId }) => load.node.load(nodeId)))
        return allocations.map((allocation, index) => ({
          ...allocation,
          node: nodes[index]?.name ?? allocation.nodeId,
          gpuIds: claims.filter(({ nodeId }) => nodeId === allocation.nodeId).map((claim) => claim.index),
        }))
      },
    }),
    logBytes: t.field({
      type: 'UInt53',
      description: 'Bytes of output stored so far.',
      resolve: (run, _args, { load }) => load.logBytes.load(run.id),
    }),
  }),
})

export const RunConnection = connectionType('Run', RunRef)
