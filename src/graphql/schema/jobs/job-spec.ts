import type { JobSpec, Resources } from '../../../domain/spec.ts'
import { builder } from '../frame/builder.ts'
import {
  DependencyOn,
  ExecutorKind,
  ImagePull,
  NetworkIsolation,
  NetworkProtocol,
  OnDependencyFailure,
} from '../frame/enums.ts'
import { exposeColumns } from '../frame/fields.ts'

/** The stored spec, and whether the viewer may see its secrets. */
export interface ShownSpec extends JobSpec {
  isOwner: boolean
}

const hidden = '•••'

export const LabelRef = builder.objectRef<{ key: string; value: string }>('Label').implement({
  description: 'A label of a job. A tag is a label with the value "".',
  fields: (t) =>
    exposeColumns(t, {
      key: ['String', 'Key, unique within the job.'],
      value: ['String', 'Value; may be empty.'],
    }),
})

const EnvironmentVariable = builder.objectRef<{ name: string; value: string }>('EnvironmentVariable').implement({
  description: 'An environment variable of a job.',
  fields: (t) =>
    exposeColumns(t, {
      name: ['String', 'Name that the job sees.'],
      value: ['String', `Value; "${hidden}" unless you own the job.`],
    }),
})

type InternalDns = NonNullable<JobSpec['internalDns']>

const InternalDnsPort = builder.objectRef<InternalDns['ports'][number]>('InternalDnsPort').implement({
  description: 'A port under which other jobs reach this job.',
  fields: (t) => ({
    ...exposeColumns(t, {
      port: ['Int', 'The port that other jobs connect to.'],
      targetPort: ['Int', 'The port that the job listens on.'],
    }),
    protocol: t.expose('protocol', { type: NetworkProtocol, description: 'TCP or UDP.' }),
  }),
})

const InternalDnsRef = builder.objectRef<InternalDns>('InternalDns').implement({
  description: 'A DNS name under which other jobs reach this job.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The full DNS name.' }),
    ports: t.expose('ports', { type: [InternalDnsPort], description: 'The reachable ports.' }),
  }),
})

const X11 = builder.objectRef<NonNullable<JobSpec['x11']>>('X11').implement({
  description: 'An X11 display for the job.',
  fields: (t) => ({ gpu: t.exposeBoolean('gpu', { description: 'Whether the display is rendered by a GPU.' }) }),
})

const DependencySpec = builder.objectRef<JobSpec['dependsOn'][number]>('DependencySpec').implement({
  description: 'A job that must end before this one can start.',
  fields: (t) => ({
    jobId: t.exposeID('jobId', { description: 'The job to wait for.' }),
    on: t.expose('on', { type: DependencyOn, description: 'Required outcome of the job.' }),
  }),
})

const Retry = builder.objectRef<NonNullable<JobSpec['retry']>>('Retry').implement({
  description: 'Retries after the command of a job failed. They wait 1, 2, 4 … s, five minutes at most.',
  fields: (t) =>
    exposeColumns(t, {
      maxAttempts: ['Int', 'Maximum number of runs whose command failed.'],
      onExitCodes: ['[Int]?', 'Exit codes that cause a retry; null: all except 0.'],
    }),
})

export const ResourcesRef = builder.objectRef<Resources>('Resources').implement({
  description: 'Requested resources; amounts are per replica.',
  fields: (t) =>
    exposeColumns(t, {
      cpu: ['Float', 'Number of cores.'],
      memoryBytes: ['UInt53', 'Memory of each replica; a job that uses more fails with OOM_KILLED.'],
      gpu: ['Int', 'Number of GPUs.'],
      gpuMemoryBytes: ['UInt53?', 'Minimum bytes of memory of each GPU; null: no requirement.'],
      gpuTensorCores: ['Boolean?', 'Whether the GPUs must have tensor cores; null: no requirement.'],
      cudaVersion: ['String?', 'CUDA version that the GPUs must support.'],
      cpuModel: ['[String]', 'Filters on the processor model; a leading ! excludes.'],
      gpuModel: ['[String]', 'Filters on the GPU model; a leading ! excludes.'],
      infiniband: ['Boolean', 'Whether the nodes must have InfiniBand.'],
      replicas: ['Int', 'Number of replicas; they start together.'],
      replicaMasterPort: ['Int?', 'Port of the first replica, announced to the other replicas.'],
      gpuIds: ['[Int]?', 'Physical ids of exactly these GPUs; only in a pool with one node.'],
      anyGpu: ['Boolean', 'Whether other GPUs may be used when those of `gpuIds` are busy.'],
      nodeCount: ['Int?', 'PSI/J: number of nodes.'],
      processCount: ['Int?', 'PSI/J: total number of processes.'],
      processesPerNode: ['Int?', 'PSI/J: number of processes per node.'],
      cpuCoresPerProcess: ['Int?', 'PSI/J: number of cores per process.'],
      gpuCoresPerProcess: ['Int?', 'PSI/J: number of GPUs per process.'],
      exclusiveNodeUse: ['Boolean', 'Whether the job needs exclusive nodes.'],
    }),
})

export const JobSpecRef = builder.objectRef<ShownSpec>('JobSpec')

JobSpecRef.implement({
  description: 'The spec of a job: normalised, with defaults filled in, immutable.',
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String?', 'Name chosen by the submitter.'],
      command: ['[String]?', 'Program and arguments, passed without expansion.'],
      executable: ['String?', 'Program to run; its arguments are in `arguments`.'],
      arguments: ['[String]?', `Arguments; \${NAME} references are expanded.`],
      handler: ['String?', 'Path of a module to run instead of a command.'],
      input: ['JSONObject?', 'Input of the handler.'],
      image: ['String?', 'Container image.'],
      snapshot: ['ID?', 'Id of the snapshot of which each run gets a copy; null: none.'],
      workdir: [
        'String?',
        'Working directory, in the copy of the snapshot if there is one; null: that copy, or the home directory of the user.',
      ],
      inheritEnvironment: ['Boolean', 'Whether the job inherits the environment variables that the server passes on.'],
      stdinPath: ['String?', 'File used as standard input.'],
      stdoutPath: ['String?', 'File that receives a copy of the output.'],
      stderrPath: ['String?', 'File that receives a copy of the error output.'],
      preLaunch: ['String?', 'Path of a script that is sourced before the command starts.'],
      postLaunch: ['String?', 'Path of a script that is sourced after the command ended.'],
      launcher: ['String', 'Launcher that starts the processes of the job.'],
      data: ['[String]', 'Data sets to mount in the container, each `source:/path/in/job`.'],
      queue: ['String', 'Submission queue of the job.'],
      team: ['String?', 'Name of the team whose account is charged; null: none.'],
      project: ['String?', 'Project, for limits, reservations and filters; null: none.'],
      account: ['String', 'The account charged, the unit of fair share.'],
      capacityReservationId: ['ID?', 'Id of the capacity reservation to run in.'],
      bid: ['Int?', 'Bid for a better position in the queue.'],
      interactive: ['Boolean', 'Whether the job is interactive: a user waits for it.'],
      preemptable: ['Boolean', 'Whether the job may be preempted by other jobs.'],
      restartable: ['Boolean', 'Whether the job may be run again from the beginning.'],
      resumable: ['Boolean', 'Whether the job can continue from a closure that it saved.'],
      durationSeconds: ['Float?', 'Expected duration of a run in seconds.'],
      estimatedCost: ['Float?', 'Cost estimated by the submitter.'],
      customAttributes: ['JSONObject?', 'Further attributes for the backend.'],
    }),
    labels: t.expose('labels', { type: [LabelRef], description: 'Labels, at most 64.' }),
    outputs: t.stringList({
      description: 'Patterns of files that become artifacts when a run ends.',
      resolve: ({ outputs }) => outputs ?? [],
    }),
    environment: t.field({
      type: [EnvironmentVariable],
      description: 'Environment variables in order; the last one of a name wins.',
      resolve: ({ environment, isOwner }) =>
        isOwner ? environment : environment.map(({ name }) => ({ name, value: hidden })),
    }),
    secrets: t.stringList({
      description: 'Names of secrets whose values are put into the environment at the start of each run.',
      resolve: ({ secrets }) => secrets ?? [],
    }),
    pull: t.expose('pull', {
      type: ImagePull,
      nullable: true,
      description: 'When the image is pulled; null: MISSING.',
    }),
    networkIsolation: t.expose('networkIsolation', {
      type: NetworkIsolation,
      nullable: true,
      description: 'Network traffic to block.',
    }),
    internalDns: t.expose('internalDns', {
      type: InternalDnsRef,
      nullable: true,
      description: 'DNS name for other jobs.',
    }),
    x11: t.expose('x11', { type: X11, nullable: true, description: 'X11 display.' }),
    resources: t.expose('resources', { type: ResourcesRef, description: 'Requested resources.' }),
    executor: t.expose('executor', { type: ExecutorKind, description: 'What runs the job.' }),
    maxRunTimeSeconds: t.float({
      nullable: true,
      description: 'Maximum duration of a run in seconds; null: unlimited.',
      resolve: ({ maxRunTimeSeconds }) => maxRunTimeSeconds || null,
    }),
    notBefore: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Earliest start.',
      resolve: ({ notBefore }) => (notBefore === null ? null : new Date(notBefore)),
    }),
    dependsOn: t.expose('dependsOn', { type: [DependencySpec], description: 'Jobs that must end first, at most 100.' }),
    onDependencyFailure: t.expose('onDependencyFailure', {
      type: OnDependencyFailure,
      description: 'Action when a dependency fails.',
    }),
    retry: t.expose('retry', { type: Retry, nullable: true, description: 'Retry after a failed run; null: none.' }),
  }),
})
