import { toShape } from '../../../domain/shape.ts'
import type { StateReason as Reason } from '../../../domain/state.ts'
import type { Run } from '../../../platform/generated/client.ts'
import { loadNodes } from '../../rows/loaders.ts'
import type { Specs } from '../../rows/specs.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { JobState, StateReason } from '../frame/enums.ts'
import { exposeColumns, loadWithVisibleJob, objectField } from '../frame/fields.ts'
import { PoolNodeRef, RunRef } from '../frame/refs.ts'

interface ShownPlacement {
  nodeId: string
  replica: number
  cpuMillis: number
  memoryBytes: bigint
  gpuIds: number[]
}

const Placement = builder.objectRef<ShownPlacement>('Placement').implement({
  description: 'Resources of a node held by one replica of a run.',
  fields: (t) => ({
    ...exposeColumns(t, {
      replica: ['Int', 'Number of the replica: 0 … replicas − 1.'],
      memoryBytes: ['UInt53', 'Memory that the run holds on the node.'],
      gpuIds: ['[Int]', 'Physical ids of the GPUs; the job sees them as 0 … n − 1.'],
    }),
    node: objectField(t, 'nodeId', 'The node that holds this part of the run.'),
    cpu: t.float({ description: 'Number of cores.', resolve: ({ cpuMillis }) => cpuMillis / 1000 }),
  }),
})

interface ShownUsage {
  cpuSeconds: number | null
  maxMemoryBytes: bigint | null
  gpuSeconds: number | null
}

const ResourceUsage = builder.objectRef<ShownUsage>('ResourceUsage').implement({
  description: 'Resources that a run consumed, as far as the executor measures them.',
  fields: (t) =>
    exposeColumns(t, {
      cpuSeconds: ['Float?', 'Seconds of processor time.'],
      maxMemoryBytes: ['UInt53?', 'Highest amount of memory in use at one moment, in bytes.'],
      gpuSeconds: ['Float?', 'Run time multiplied by the number of GPUs, in seconds; 0 without GPUs.'],
    }),
})

const secondMs = 1_000

/** Reads the usage of a run; null: the run has not ended or never started. */
async function readUsage(
  { jobId, startedAt, finishedAt, cpuSeconds, maxMemoryBytes }: Run,
  { words }: Specs,
): Promise<ShownUsage | null> {
  if (!startedAt || !finishedAt) return null
  const { resources } = await words.load(jobId)
  const { copies, gpu } = resources ? toShape(resources) : { copies: 0, gpu: 0 }
  const seconds = (finishedAt.getTime() - startedAt.getTime()) / secondMs
  return { cpuSeconds, maxMemoryBytes, gpuSeconds: resources && copies * gpu * seconds }
}

builder.node(RunRef, {
  description: 'One execution of a job by an executor. Only the last run of a job can be active.',
  id: { resolve: (run) => run.id, description: 'Global id, for `node`: run_…' },
  loadMany: (ids, { load }) => loadWithVisibleJob(load, load.run, ids),
  fields: (t) => ({
    ...exposeColumns(t, {
      number: ['Int', 'Number of the run, from 1.'],
      stateInfo: ['String?', 'Explanation for humans.'],
      exitCode: ['Int?', 'Exit code, or 128 + signal; null: the command has not run or not ended.'],
      nativeId: [
        'String?',
        'Id of the run in the backend. `local`, `handler`: the process id of the leader of its process group, so that `kill -- -ID` signals the whole job.',
      ],
      gpuIds: ['[Int]', 'Physical ids of the GPUs.'],
      createdAt: ['DateTime', 'When the run was created.'],
      scheduledAt: ['DateTime?', 'When the scheduler decided to start the run.'],
      startedAt: ['DateTime?', 'When the command started.'],
      finishedAt: ['DateTime?', 'When the run ended.'],
      cancelRequestedAt: ['DateTime?', 'When the cancellation was requested.'],
      preemptRequestedAt: ['DateTime?', 'When the preemption was requested.'],
      imageDigest: [
        'String?',
        'Digest of the image that the run uses, as its registry gives it, to name exactly this image: `NAME@sha256:…`. null: the executor has no images, the run has not begun, or the image is of no registry.',
      ],
      ip: ['String?', 'Address of the run in the network of the backend; null: the run has no separate address.'],
    }),
    job: objectField(t, 'jobId', 'The job of which this is one attempt.'),
    state: t.expose('state', {
      type: JobState,
      description: 'Where the attempt stands; the job has the state of its last run.',
    }),
    stateReason: t.field({
      type: StateReason,
      nullable: true,
      description: 'Reason of the state; null: the state needs no reason.',
      resolve: ({ stateReason }) => stateReason as Reason | 'APPROVAL_PENDING' | null,
    }),
    nodeNames: t.exposeStringList('nodes', {
      description: 'Names of the nodes of the run, also of those that were deleted since.',
    }),
    nodes: t.field({
      type: [PoolNodeRef],
      description: 'Nodes of the run that still exist.',
      resolve: ({ pool, nodes }, _args, { load }) => loadNodes(load, pool, nodes),
    }),
    lostSeconds: t.float({
      nullable: true,
      description:
        'Run time lost to a preemption: since the start or the last closure of the run; null: the run was not preempted.',
      resolve: ({ state, lostSeconds }) => (state === 'INTERRUPTED' ? lostSeconds : null),
    }),
    placements: t.field({
      type: [Placement],
      description:
        'Resources held now; empty if the run holds no resources, or if the backend has not reported its nodes yet.',
      async resolve(run, _args, { load }) {
        const [allocations, claims] = await Promise.all([load.allocations.load(run.id), load.claimsOfRun.load(run.id)])
        const known = allocations.filter(({ isProvisional }) => !isProvisional)
        return known.map((allocation) => ({
          ...allocation,
          gpuIds: [
            ...allocation.gpuIds,
            ...claims.filter(({ nodeId }) => nodeId === allocation.nodeId).map(({ index }) => index),
          ],
        }))
      },
    }),
    usage: t.field({
      type: ResourceUsage,
      nullable: true,
      description: 'Resources that the run consumed; null: the run has not ended or never started.',
      resolve: (run, _args, { specs }) => readUsage(run, specs),
    }),
    outputsPending: t.boolean({
      description:
        'Whether files of `outputs` are still to be stored: the run has not ended, or they are being read. false if it never started or its node was lost.',
      async resolve({ jobId, startedAt, finishedAt, lostAt, outputsAt }, _args, { specs }) {
        if (outputsAt || lostAt || (finishedAt && !startedAt)) return false
        return (await specs.words.load(jobId)).hasOutputs
      },
    }),
    logBytes: t.field({
      type: 'UInt53',
      description:
        'Bytes of output so far, including gaps. Over the size limit the number may be up to 128 KiB too low.',
      resolve: async (run, _args, { load }) => (await load.logSize.load(run.id)).bytes,
    }),
    logLines: t.field({
      type: 'UInt53',
      description: 'Lines of output so far, of all streams; the last one may have no end yet.',
      resolve: async (run, _args, { load }) => (await load.logSize.load(run.id)).lines,
    }),
  }),
})

export const RunConnection = declareConnection('Run', RunRef)
