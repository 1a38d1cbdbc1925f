import type { JobSpec, Resources } from '../../domain/spec.ts'
import { builder } from '../builder.ts'
import { DependencyOn, NetworkIsolation, NetworkProtocol, OnDependencyFailure } from './enums.ts'

/** The spec as it is stored, with whether its secrets may be shown. */
export interface ShownSpec extends JobSpec {
  isOwner: boolean
}

const hidden = '•••'

export const LabelRef = builder.objectRef<{ key: string; value: string }>('Label').implement({
  description: 'Key and value of a job. A tag is a label with the value "".',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'What it says something about.' }),
    value: t.exposeString('value', { description: 'What it says.' }),
  }),
})

const EnvironmentVariable = builder.objectRef<{ name: string; value: string }>('EnvironmentVariable').implement({
  description: 'A variable of the environment of a job.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    value: t.exposeString('value', { description: `Its value; "${hidden}" for others than the owner.` }),
  }),
})

type InternalDns = NonNullable<JobSpec['internalDns']>

const InternalDnsPort = builder.objectRef<InternalDns['ports'][number]>('InternalDnsPort').implement({
  description: 'A port under which other jobs reach this one.',
  fields: (t) => ({
    port: t.exposeInt('port', { description: 'The port that others use.' }),
    targetPort: t.exposeInt('targetPort', { description: 'The port that the job listens on.' }),
    protocol: t.expose('protocol', { type: NetworkProtocol, description: 'Its protocol.' }),
  }),
})

const InternalDnsRef = builder.objectRef<InternalDns>('InternalDns').implement({
  description: 'A name under which other jobs reach this one.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The full name.' }),
    ports: t.expose('ports', { type: [InternalDnsPort], description: 'The ports that can be reached.' }),
  }),
})

const X11 = builder.objectRef<NonNullable<JobSpec['x11']>>('X11').implement({
  description: 'A display for the job.',
  fields: (t) => ({ gpu: t.exposeBoolean('gpu', { description: 'Whether a GPU draws it.' }) }),
})

const DependencySpec = builder.objectRef<JobSpec['dependsOn'][number]>('DependencySpec').implement({
  description: 'A job that must end first.',
  fields: (t) => ({
    jobId: t.exposeID('jobId', { description: 'The job that is waited for.' }),
    on: t.expose('on', { type: DependencyOn, description: 'How it must end.' }),
  }),
})

const Retry = builder.objectRef<NonNullable<JobSpec['retry']>>('Retry').implement({
  description: 'When the job is run again after its command failed.',
  fields: (t) => ({
    maxAttempts: t.exposeInt('maxAttempts', { description: 'Runs at most that may end by exit code.' }),
    onExitCodes: t.expose('onExitCodes', {
      type: ['Int'],
      nullable: true,
      description: 'Only after these exit codes; null: after any but 0.',
    }),
  }),
})

const ResourcesRef = builder.objectRef<Resources>('Resources').implement({
  description: 'What the job asks for; amounts are per copy.',
  fields: (t) => ({
    cpu: t.exposeFloat('cpu', { description: 'Cores.' }),
    memoryBytes: t.expose('memoryBytes', { type: 'UInt53', description: 'Bytes of memory.' }),
    gpu: t.exposeInt('gpu', { description: 'GPUs.' }),
    gpuMemoryGib: t.exposeInt('gpuMemoryGib', {
      nullable: true,
      description: 'GiB of memory that each GPU has at least.',
    }),
    gpuTensorCores: t.exposeBoolean('gpuTensorCores', {
      nullable: true,
      description: 'Whether the GPUs have tensor cores; null: either.',
    }),
    cudaVersion: t.exposeString('cudaVersion', { nullable: true, description: 'CUDA version that the GPUs support.' }),
    cpuModel: t.exposeStringList('cpuModel', { description: 'Filters on the processor; a leading ! excludes.' }),
    gpuModel: t.exposeStringList('gpuModel', { description: 'Filters on the GPU model; a leading ! excludes.' }),
    infiniband: t.exposeBoolean('infiniband', { description: 'Whether the nodes must have InfiniBand.' }),
    replicas: t.exposeInt('replicas', { description: 'Copies of the job that start together.' }),
    replicaMasterPort: t.exposeInt('replicaMasterPort', {
      nullable: true,
      description: 'Port of the first copy that the others are told.',
    }),
    gpuIds: t.expose('gpuIds', {
      type: ['Int'],
      nullable: true,
      description: 'Exactly these GPUs of a one-node pool.',
    }),
    anyGpu: t.exposeBoolean('anyGpu', { description: 'Whether others are taken when `gpuIds` are busy.' }),
    nodeCount: t.exposeInt('nodeCount', { nullable: true, description: 'PSI/J: nodes.' }),
    processCount: t.exposeInt('processCount', { nullable: true, description: 'PSI/J: processes in all.' }),
    processesPerNode: t.exposeInt('processesPerNode', {
      nullable: true,
      description: 'PSI/J: processes on each node.',
    }),
    cpuCoresPerProcess: t.exposeInt('cpuCoresPerProcess', {
      nullable: true,
      description: 'PSI/J: cores of each process.',
    }),
    gpuCoresPerProcess: t.exposeInt('gpuCoresPerProcess', {
      nullable: true,
      description: 'PSI/J: GPUs of each process.',
    }),
    exclusiveNodeUse: t.exposeBoolean('exclusiveNodeUse', { description: 'Whether nobody else may be on its nodes.' }),
  }),
})

export const JobSpecRef = builder.objectRef<ShownSpec>('JobSpec')

JobSpecRef.implement({
  description: 'What a user asked for: normalised, defaults filled in, never changed.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Name given by the user.' }),
    labels: t.expose('labels', { type: [LabelRef], description: 'Keys and values, at most 64.' }),
    command: t.exposeStringList('command', { nullable: true, description: 'Program and arguments, taken literally.' }),
    executable: t.exposeString('executable', {
      nullable: true,
      description: 'Program, where `arguments` are given apart.',
    }),
    arguments: t.exposeStringList('arguments', {
      nullable: true,
      description: 'Arguments; dollar-brace names are expanded.',
    }),
    handler: t.exposeString('handler', {
      nullable: true,
      description: 'Registered handler that is called instead of a command.',
    }),
    input: t.expose('input', { type: 'JSONObject', nullable: true, description: 'What the handler is given.' }),
    image: t.exposeString('image', { nullable: true, description: 'Container image.' }),
    workdir: t.exposeString('workdir', {
      nullable: true,
      description: 'Working directory; null: the home of the user.',
    }),
    environment: t.field({
      type: [EnvironmentVariable],
      description: 'Variables, in order; the last of a name wins.',
      resolve: ({ environment, isOwner }) =>
        isOwner ? environment : environment.map(({ name }) => ({ name, value: hidden })),
    }),
    inheritEnvironment: t.exposeBoolean('inheritEnvironment', {
      description: 'Whether it starts from the environment of the server, as far as that is passed on.',
    }),
    stdinPath: t.exposeString('stdinPath', { nullable: true, description: 'File that it reads.' }),
    stdoutPath: t.exposeString('stdoutPath', { nullable: true, description: 'File that its output is copied to.' }),
    stderrPath: t.exposeString('stderrPath', { nullable: true, description: 'File that its errors are copied to.' }),
    preLaunch: t.exposeString('preLaunch', { nullable: true, description: 'Script that is sourced before it starts.' }),
    postLaunch: t.exposeString('postLaunch', { nullable: true, description: 'Script that is sourced after it ended.' }),
    launcher: t.exposeString('launcher', { description: 'How its processes are launched.' }),
    data: t.exposeStringList('data', { description: 'Data sets that are mounted.' }),
    networkIsolation: t.expose('networkIsolation', {
      type: NetworkIsolation,
      nullable: true,
      description: 'Traffic that is cut off.',
    }),
    internalDns: t.expose('internalDns', { type: InternalDnsRef, nullable: true, description: 'Name for other jobs.' }),
    x11: t.expose('x11', { type: X11, nullable: true, description: 'Display.' }),
    resources: t.expose('resources', { type: ResourcesRef, description: 'What it asks for.' }),
    executor: t.exposeString('executor', { description: 'The mechanism that runs it.' }),
    queue: t.exposeString('queue', { description: 'The door it came through.' }),
    team: t.exposeString('team', { nullable: true, description: 'Team it is submitted for.' }),
    project: t.exposeString('project', { nullable: true, description: 'Project it belongs to.' }),
    account: t.exposeString('account', { description: 'Unit of fair share that is charged.' }),
    capacityReservationId: t.exposeString('capacityReservationId', {
      nullable: true,
      description: 'Reservation whose nodes it uses.',
    }),
    bid: t.exposeInt('bid', { nullable: true, description: 'What it offers for its place.' }),
    interactive: t.exposeBoolean('interactive', { description: 'Whether a person sits in front of it.' }),
    preemptable: t.exposeBoolean('preemptable', { description: 'Whether it may be stopped in favour of others.' }),
    restartable: t.exposeBoolean('restartable', { description: 'Whether it may be run again from the beginning.' }),
    resumable: t.exposeBoolean('resumable', { description: 'Whether it can go on from what it saved.' }),
    maxRunTimeSeconds: t.exposeFloat('maxRunTimeSeconds', {
      description: 'Seconds of one run at most; 0: no maximum.',
    }),
    durationSeconds: t.exposeFloat('durationSeconds', { nullable: true, description: 'Expected seconds of a run.' }),
    notBefore: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Not before this moment.',
      resolve: ({ notBefore }) => (notBefore === null ? null : new Date(notBefore)),
    }),
    estimatedCost: t.exposeFloat('estimatedCost', {
      nullable: true,
      description: 'What the submitter expects it to cost.',
    }),
    dependsOn: t.expose('dependsOn', { type: [DependencySpec], description: 'Jobs that must end first, at most 100.' }),
    onDependencyFailure: t.expose('onDependencyFailure', {
      type: OnDependencyFailure,
      description: 'What becomes of it when they end otherwise.',
    }),
    retry: t.expose('retry', { type: Retry, nullable: true, description: 'When it is run again after a failure.' }),
    customAttributes: t.expose('customAttributes', {
      type: 'JSONObject',
      nullable: true,
      description: 'Further words for the backend.',
    }),
  }),
})
