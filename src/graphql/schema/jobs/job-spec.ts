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

/** The stored spec, and whether the viewer may see its secrets. */
export interface ShownSpec extends JobSpec {
  isOwner: boolean
}

const hidden = '•••'

export const LabelRef = builder.objectRef<{ key: string; value: string }>('Label').implement({
  description: 'A label of a job. A tag is a label with the value "".',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Key, unique within the job.' }),
    value: t.exposeString('value', { description: 'Value; may be empty.' }),
  }),
})

const EnvironmentVariable = builder.objectRef<{ name: string; value: string }>('EnvironmentVariable').implement({
  description: 'An environment variable of a job.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name that the job sees.' }),
    value: t.exposeString('value', { description: `Value; "${hidden}" unless you own the job.` }),
  }),
})

type InternalDns = NonNullable<JobSpec['internalDns']>

const InternalDnsPort = builder.objectRef<InternalDns['ports'][number]>('InternalDnsPort').implement({
  description: 'A port under which other jobs reach this job.',
  fields: (t) => ({
    port: t.exposeInt('port', { description: 'The port that other jobs connect to.' }),
    targetPort: t.exposeInt('targetPort', { description: 'The port that the job listens on.' }),
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
  fields: (t) => ({
    maxAttempts: t.exposeInt('maxAttempts', { description: 'Maximum number of runs whose command failed.' }),
    onExitCodes: t.expose('onExitCodes', {
      type: ['Int'],
      nullable: true,
      description: 'Exit codes that cause a retry; null: all except 0.',
    }),
  }),
})

export const ResourcesRef = builder.objectRef<Resources>('Resources').implement({
  description: 'Requested resources; amounts are per replica.',
  fields: (t) => ({
    cpu: t.exposeFloat('cpu', { description: 'Number of cores.' }),
    memoryBytes: t.expose('memoryBytes', {
      type: 'UInt53',
      description: 'Memory of each replica; a job that uses more fails with OOM_KILLED.',
    }),
    gpu: t.exposeInt('gpu', { description: 'Number of GPUs.' }),
    gpuMemoryBytes: t.expose('gpuMemoryBytes', {
      type: 'UInt53',
      nullable: true,
      description: 'Minimum bytes of memory of each GPU; null: no requirement.',
    }),
    gpuTensorCores: t.exposeBoolean('gpuTensorCores', {
      nullable: true,
      description: 'Whether the GPUs must have tensor cores; null: no requirement.',
    }),
    cudaVersion: t.exposeString('cudaVersion', {
      nullable: true,
      description: 'CUDA version that the GPUs must support.',
    }),
    cpuModel: t.exposeStringList('cpuModel', { description: 'Filters on the processor model; a leading ! excludes.' }),
    gpuModel: t.exposeStringList('gpuModel', { description: 'Filters on the GPU model; a leading ! excludes.' }),
    infiniband: t.exposeBoolean('infiniband', { description: 'Whether the nodes must have InfiniBand.' }),
    replicas: t.exposeInt('replicas', { description: 'Number of replicas; they start together.' }),
    replicaMasterPort: t.exposeInt('replicaMasterPort', {
      nullable: true,
      description: 'Port of the first replica, announced to the other replicas.',
    }),
    gpuIds: t.expose('gpuIds', {
      type: ['Int'],
      nullable: true,
      description: 'Physical ids of exactly these GPUs; only in a pool with one node.',
    }),
    anyGpu: t.exposeBoolean('anyGpu', {
      description: 'Whether other GPUs may be used when those of `gpuIds` are busy.',
    }),
    nodeCount: t.exposeInt('nodeCount', { nullable: true, description: 'PSI/J: number of nodes.' }),
    processCount: t.exposeInt('processCount', { nullable: true, description: 'PSI/J: total number of processes.' }),
    processesPerNode: t.exposeInt('processesPerNode', {
      nullable: true,
      description: 'PSI/J: number of processes per node.',
    }),
    cpuCoresPerProcess: t.exposeInt('cpuCoresPerProcess', {
      nullable: true,
      description: 'PSI/J: number of cores per process.',
    }),
    gpuCoresPerProcess: t.exposeInt('gpuCoresPerProcess', {
      nullable: true,
      description: 'PSI/J: number of GPUs per process.',
    }),
    exclusiveNodeUse: t.exposeBoolean('exclusiveNodeUse', {
      description: 'Whether the job needs exclusive nodes.',
    }),
  }),
})

export const JobSpecRef = builder.objectRef<ShownSpec>('JobSpec')

JobSpecRef.implement({
  description: 'The spec of a job: normalised, with defaults filled in, immutable.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Name chosen by the submitter.' }),
    labels: t.expose('labels', { type: [LabelRef], description: 'Labels, at most 64.' }),
    command: t.exposeStringList('command', {
      nullable: true,
      description: 'Program and arguments, passed without expansion.',
    }),
    executable: t.exposeString('executable', {
      nullable: true,
      description: 'Program to run; its arguments are in `arguments`.',
    }),
    arguments: t.exposeStringList('arguments', {
      nullable: true,
      description: `Arguments; \${NAME} references are expanded.`,
    }),
    handler: t.exposeString('handler', {
      nullable: true,
      description: 'Path of a module to run instead of a command.',
    }),
    input: t.expose('input', { type: 'JSONObject', nullable: true, description: 'Input of the handler.' }),
    image: t.exposeString('image', { nullable: true, description: 'Container image.' }),
    snapshot: t.id({
      nullable: true,
      description: 'Id of the snapshot of which each run gets a copy; null: none.',
      resolve: ({ snapshot }) => snapshot ?? null,
    }),
    outputs: t.stringList({
      description: 'Patterns of files that become artifacts when a run ends.',
      resolve: ({ outputs }) => outputs ?? [],
    }),
    workdir: t.exposeString('workdir', {
      nullable: true,
      description:
        'Working directory, in the copy of the snapshot if there is one; null: that copy, or the home directory of the user.',
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
    inheritEnvironment: t.exposeBoolean('inheritEnvironment', {
      description: 'Whether the job inherits the environment variables that the server passes on.',
    }),
    stdinPath: t.exposeString('stdinPath', { nullable: true, description: 'File used as standard input.' }),
    stdoutPath: t.exposeString('stdoutPath', {
      nullable: true,
      description: 'File that receives a copy of the output.',
    }),
    stderrPath: t.exposeString('stderrPath', {
      nullable: true,
      description: 'File that receives a copy of the error output.',
    }),
    preLaunch: t.exposeString('preLaunch', {
      nullable: true,
      description: 'Path of a script that is sourced before the command starts.',
    }),
    postLaunch: t.exposeString('postLaunch', {
      nullable: true,
      description: 'Path of a script that is sourced after the command ended.',
    }),
    launcher: t.exposeString('launcher', { description: 'Launcher that starts the processes of the job.' }),
    data: t.exposeStringList('data', {
      description: 'Data sets to mount in the container, each `source:/path/in/job`.',
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
    queue: t.exposeString('queue', { description: 'Submission queue of the job.' }),
    team: t.exposeString('team', {
      nullable: true,
      description: 'Name of the team whose account is charged; null: none.',
    }),
    project: t.exposeString('project', {
      nullable: true,
      description: 'Project, for limits, reservations and filters; null: none.',
    }),
    account: t.exposeString('account', { description: 'The account charged, the unit of fair share.' }),
    capacityReservationId: t.exposeID('capacityReservationId', {
      nullable: true,
      description: 'Id of the capacity reservation to run in.',
    }),
    bid: t.exposeInt('bid', { nullable: true, description: 'Bid for a better position in the queue.' }),
    interactive: t.exposeBoolean('interactive', {
      description: 'Whether the job is interactive: a user waits for it.',
    }),
    preemptable: t.exposeBoolean('preemptable', { description: 'Whether the job may be preempted by other jobs.' }),
    restartable: t.exposeBoolean('restartable', {
      description: 'Whether the job may be run again from the beginning.',
    }),
    resumable: t.exposeBoolean('resumable', {
      description: 'Whether the job can continue from a closure that it saved.',
    }),
    maxRunTimeSeconds: t.float({
      nullable: true,
      description: 'Maximum duration of a run in seconds; null: unlimited.',
      resolve: ({ maxRunTimeSeconds }) => maxRunTimeSeconds || null,
    }),
    durationSeconds: t.exposeFloat('durationSeconds', {
      nullable: true,
      description: 'Expected duration of a run in seconds.',
    }),
    notBefore: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Earliest start.',
      resolve: ({ notBefore }) => (notBefore === null ? null : new Date(notBefore)),
    }),
    estimatedCost: t.exposeFloat('estimatedCost', {
      nullable: true,
      description: 'Cost estimated by the submitter.',
    }),
    dependsOn: t.expose('dependsOn', { type: [DependencySpec], description: 'Jobs that must end first, at most 100.' }),
    onDependencyFailure: t.expose('onDependencyFailure', {
      type: OnDependencyFailure,
      description: 'Action when a dependency fails.',
    }),
    retry: t.expose('retry', { type: Retry, nullable: true, description: 'Retry after a failed run; null: none.' }),
    customAttributes: t.expose('customAttributes', {
      type: 'JSONObject',
      nullable: true,
      description: 'Further attributes for the backend.',
    }),
  }),
})
