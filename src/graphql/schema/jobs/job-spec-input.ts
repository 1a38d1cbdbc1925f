import {
  argumentsMax,
  dataSetsMax,
  dependenciesMax,
  gpuIdsMax,
  labelsMax,
  modelsMax,
  outputsMax,
  portsMax,
  retryExitCodesMax,
  secretsMax,
  variablesMax,
} from '../../../domain/input.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { builder } from '../frame/builder.ts'
import {
  DependencyOn,
  ExecutorKind,
  ImagePull,
  NetworkIsolation,
  NetworkProtocol,
  OnDependencyFailure,
} from '../frame/enums.ts'

const LabelInput = builder.inputType('LabelInput', {
  description: 'A label; a tag is a label with the value "".',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Key, unique within the job, at most 255 characters.' }),
    value: t.string({ required: true, description: 'Value, at most 1,024 characters; may be empty.' }),
  }),
})

const EnvironmentVariableInput = builder.inputType('EnvironmentVariableInput', {
  description: 'An environment variable.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name that the job sees; without = and NUL.' }),
    value: t.string({ required: true, description: `Value; \${NAME} references are expanded.` }),
  }),
})

const InternalDnsPortInput = builder.inputType('InternalDnsPortInput', {
  description: 'A port under which other jobs reach this job.',
  fields: (t) => ({
    port: t.int({ required: true, description: 'The port that other jobs connect to.' }),
    targetPort: t.int({ description: 'The port that the job listens on; default: `port`.' }),
    protocol: t.field({ type: NetworkProtocol, defaultValue: 'TCP', description: 'TCP (default) or UDP.' }),
  }),
})

const InternalDnsInput = builder.inputType('InternalDnsInput', {
  description: 'A DNS name under which other jobs reach this job.',
  fields: (t) => ({
    name: t.string({
      description:
        'RFC 1035 label; the prefix of the account is added: "dns-<account>-", or "dns--<hash>-" if the account has other characters than a–z and 0–9.',
    }),
    ports: t.field({
      type: [InternalDnsPortInput],
      required: true,
      ...capList(portsMax, 'The reachable ports'),
    }),
  }),
})

const X11Input = builder.inputType('X11Input', {
  description: 'An X11 display for the job.',
  fields: (t) => ({
    gpu: t.boolean({ defaultValue: false, description: 'Whether the display is rendered by a GPU.' }),
  }),
})

const DependencyInput = builder.inputType('DependencyInput', {
  description: 'A job that must end before this one can start.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job to wait for.' }),
    on: t.field({ type: DependencyOn, defaultValue: 'SUCCEEDED', description: 'Required outcome of the job.' }),
  }),
})

const RetryInput = builder.inputType('RetryInput', {
  description: 'Retries after the command of a job failed. They wait 1, 2, 4 … s, five minutes at most.',
  fields: (t) => ({
    maxAttempts: t.int({ required: true, description: 'Maximum number of runs whose command failed.' }),
    onExitCodes: t.intList(capList(retryExitCodesMax, 'Exit codes that cause a retry (default: all except 0)')),
  }),
})

const ResourcesInput = builder.inputType('ResourcesInput', {
  description: 'Requested resources; amounts are per replica.',
  fields: (t) => ({
    cpu: t.float({ description: 'Number of cores, at least 0.001; default 1.' }),
    memoryGib: t.int({
      description:
        'GiB of memory per replica. Default: the same share of the memory of the machine as of its cores, at least 1 GiB; see `job.spec.resources.memoryBytes`. A job that uses more fails with `OOM_KILLED`.',
    }),
    memoryBytes: t.field({
      type: 'UInt53',
      description: 'Bytes of memory. Give `memoryGib` or `memoryBytes`, not both.',
    }),
    gpu: t.int({ description: 'Number of GPUs; default 0.' }),
    gpuMemoryGib: t.int({ description: 'Minimum GiB of memory of each GPU.' }),
    gpuMemoryBytes: t.field({
      type: 'UInt53',
      description: 'Minimum bytes of memory of each GPU. Give `gpuMemoryGib` or `gpuMemoryBytes`, not both.',
    }),
    gpuTensorCores: t.boolean({ description: 'Whether the GPUs must have tensor cores; default: no requirement.' }),
    cudaVersion: t.string({ description: 'CUDA version that the GPUs must support, e.g. 11.8.' }),
    cpuModel: t.stringList(capList(modelsMax, 'Filters on the processor model (a leading ! excludes)')),
    gpuModel: t.stringList(capList(modelsMax, 'Filters on the GPU model (a leading ! excludes)')),
    infiniband: t.boolean({ description: 'Whether the nodes must have InfiniBand.' }),
    replicas: t.int({ description: 'Number of replicas, default 1; they start together.' }),
    replicaMasterPort: t.int({ description: 'Port of the first replica, announced to the other replicas.' }),
    gpuIds: t.intList(capList(gpuIdsMax, 'Physical ids of exactly these GPUs; only in a pool with one node')),
    anyGpu: t.boolean({ description: 'Whether other GPUs may be used when those of `gpuIds` are busy.' }),
    nodeCount: t.int({ description: 'PSI/J: number of nodes.' }),
    processCount: t.int({ description: 'PSI/J: total number of processes.' }),
    processesPerNode: t.int({ description: 'PSI/J: number of processes per node.' }),
    cpuCoresPerProcess: t.int({ description: 'PSI/J: number of cores per process.' }),
    gpuCoresPerProcess: t.int({ description: 'PSI/J: number of GPUs per process.' }),
    exclusiveNodeUse: t.boolean({
      description:
        'Whether the job needs exclusive nodes. The job then holds all of their cores and GPUs, which count against limits.',
    }),
  }),
})

/** Default values of input fields. In a change of an existing spec, a default counts as an omitted field. */
const filledIn: Readonly<Record<string, unknown>> = {
  inheritEnvironment: true,
  launcher: 'single',
  onDependencyFailure: 'CANCEL',
}

/** Returns the fields of an input that differ from its defaults. */
export const readChanges = (input: object | null | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(input ?? {}).filter(([name, value]) => filledIn[name] !== value))

export const JobSpecInput = builder.inputType('JobSpecInput', {
  description:
    'The spec of a job. Give `command`, or `executable` with `arguments`, or `handler`; all are optional with an image.',
  fields: (t) => ({
    name: t.string({ description: 'Name, at most 255 characters.' }),
    labels: t.field({ type: [LabelInput], ...capList(labelsMax, 'Keys and values') }),
    command: t.stringList(capList(argumentsMax, 'Program and arguments, passed without expansion')),
    executable: t.string({ description: 'Program to run; its arguments are in `arguments`.' }),
    arguments: t.stringList(capList(argumentsMax, `Arguments; \${NAME} references are expanded`)),
    handler: t.string({
      description: 'Path of a module to run instead of a command, absolute or relative to the working directory.',
    }),
    input: t.field({ type: 'JSONObject', description: 'Input of the handler.' }),
    image: t.string({ description: 'Container image.' }),
    snapshot: t.id({
      description: 'The snapshot of which each run gets a fresh copy as its working directory: snapshot_…',
    }),
    outputs: t.stringList(
      capList(
        outputsMax,
        'Patterns, as of `.gitignore`, of files below the working directory that become artifacts when a run ends',
      ),
    ),
    workdir: t.string({
      description: 'Working directory: an absolute path or ~/…; with `snapshot`, a folder of the snapshot.',
    }),
    environment: t.field({
      type: [EnvironmentVariableInput],
      ...capList(variablesMax, 'Environment variables in order (the last one of a name wins)'),
    }),
    secrets: t.stringList(
      capList(
        secretsMax,
        'Names of secrets to put into the environment (your own, or else those of the team of the job)',
      ),
    ),
    inheritEnvironment: t.boolean({
      defaultValue: true,
      description: 'Whether the job inherits the environment variables that the server passes on.',
    }),
    stdinPath: t.string({ description: 'File used as standard input.' }),
    stdoutPath: t.string({ description: 'File that receives a copy of the output.' }),
    stderrPath: t.string({ description: 'File that receives a copy of the error output.' }),
    preLaunch: t.string({ description: 'Path of a script that is sourced before the command starts.' }),
    postLaunch: t.string({ description: 'Path of a script that is sourced after the command ended.' }),
    launcher: t.string({
      defaultValue: 'single',
      description:
        'Launcher for the processes of the job: single, multiple, mpirun or srun, if the executor supports it.',
    }),
    data: t.stringList(capList(dataSetsMax, 'Data sets to mount in the container (each `source:/path/in/job`)')),
    pull: t.field({ type: ImagePull, description: 'When the image is pulled; default: MISSING.' }),
    networkIsolation: t.field({ type: NetworkIsolation, description: 'Network traffic to block.' }),
    internalDns: t.field({ type: InternalDnsInput, description: 'DNS name for other jobs.' }),
    x11: t.field({ type: X11Input, description: 'X11 display.' }),
    resources: t.field({ type: ResourcesInput, description: 'Requested resources.' }),
    executor: t.field({ type: ExecutorKind, description: 'Default: chosen by the other fields and the pool.' }),
    queue: t.string({ description: 'Submission queue; default: the default queue.' }),
    team: t.string({ description: 'Team of the job; default: your default team.' }),
    project: t.string({ description: 'Project, for limits, reservations and filters.' }),
    account: t.string({
      description: 'Account to charge, the unit of fair share; default: the account of the team, or your own.',
    }),
    capacityReservationId: t.id({ description: 'Id of the capacity reservation to run in.' }),
    bid: t.int({ description: 'Bid for a better position in the queue.' }),
    interactive: t.boolean({
      description: 'Whether the job is interactive. Interactive jobs start first; a user can have one at a time.',
    }),
    preemptable: t.boolean({ description: 'Whether the job may be preempted by other jobs.' }),
    restartable: t.boolean({ description: 'Whether the job may be run again from the beginning.' }),
    resumable: t.boolean({
      description:
        'Whether the job can continue from a closure. A run that is interrupted after `saveClosure` is followed by another run.',
    }),
    maxRunTimeSeconds: t.float({
      description:
        'Maximum duration of a run in seconds; 0: unlimited. Default: `durationSeconds`, else two days, or unlimited for a preemptable or interactive job.',
    }),
    durationSeconds: t.float({ description: 'Expected duration of a run in seconds.' }),
    notBefore: t.field({ type: 'DateTime', description: 'Earliest start; a time in the past means now.' }),
    estimatedCost: t.float({ description: 'Your estimate of the cost, in the currency of the pool: 0 … 10¹⁵.' }),
    dependsOn: t.field({ type: [DependencyInput], ...capList(dependenciesMax, 'Jobs that must end first') }),
    onDependencyFailure: t.field({
      type: OnDependencyFailure,
      defaultValue: 'CANCEL',
      description: 'Action when a dependency fails.',
    }),
    retry: t.field({ type: RetryInput, description: 'Retry after a failed run; default: none.' }),
    customAttributes: t.field({ type: 'JSONObject', description: 'Further attributes for the backend.' }),
  }),
})
