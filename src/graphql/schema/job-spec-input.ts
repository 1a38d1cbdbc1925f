import {
  argumentsMax,
  dataSetsMax,
  dependenciesMax,
  exitCodesMax,
  gpuIdsMax,
  labelsMax,
  modelsMax,
  portsMax,
  variablesMax,
} from '../../domain/input.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import { DependencyOn, NetworkIsolation, NetworkProtocol, OnDependencyFailure } from './enums.ts'

/** The spec as it is submitted. Types and names are checked here; every rule is the domain's. */
const LabelInput = builder.inputType('LabelInput', {
  description: 'Key and value; a tag is a label with the value "".',
  fields: (t) => ({
    key: t.string({ required: true, description: 'What it says something about.' }),
    value: t.string({ required: true, description: 'What it says.' }),
  }),
})

const EnvironmentVariableInput = builder.inputType('EnvironmentVariableInput', {
  description: 'A variable of the environment.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name.' }),
    value: t.string({ required: true, description: 'Its value; dollar-brace names are expanded.' }),
  }),
})

const InternalDnsPortInput = builder.inputType('InternalDnsPortInput', {
  description: 'A port under which other jobs reach this one.',
  fields: (t) => ({
    port: t.int({ required: true, description: 'The port that others use.' }),
    targetPort: t.int({ description: 'The port that the job listens on; default: `port`.' }),
    protocol: t.field({ type: NetworkProtocol, defaultValue: 'TCP', description: 'Its protocol.' }),
  }),
})

const InternalDnsInput = builder.inputType('InternalDnsInput', {
  description: 'A name under which other jobs reach this one.',
  fields: (t) => ({
    name: t.string({ description: 'RFC 1035 label; "dns-<account>-" is put in front.' }),
    ports: t.field({
      type: [InternalDnsPortInput],
      required: true,
      ...atMost(portsMax, 'The ports that can be reached'),
    }),
  }),
})

const X11Input = builder.inputType('X11Input', {
  description: 'A display for the job.',
  fields: (t) => ({ gpu: t.boolean({ defaultValue: false, description: 'Whether a GPU draws it.' }) }),
})

const DependencyInput = builder.inputType('DependencyInput', {
  description: 'A job that must end first.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job to wait for.' }),
    on: t.field({ type: DependencyOn, defaultValue: 'SUCCEEDED', description: 'How it must end.' }),
  }),
})

const RetryInput = builder.inputType('RetryInput', {
  description: 'When to run the job again after its command failed.',
  fields: (t) => ({
    maxAttempts: t.int({ required: true, description: 'Runs at most that may end by exit code.' }),
    onExitCodes: t.intList(atMost(exitCodesMax, 'Only after these exit codes (default: after any but 0)')),
  }),
})

const ResourcesInput = builder.inputType('ResourcesInput', {
  description: 'What the job asks for; amounts are per copy.',
  fields: (t) => ({
    cpu: t.float({ description: 'Cores, 0.001 or more; default 1.' }),
    memoryGib: t.int({ description: 'GiB of memory; default 1.' }),
    memoryBytes: t.field({ type: 'UInt53', description: 'The same in bytes; give one of the two.' }),
    gpu: t.int({ description: 'GPUs; default 0.' }),
    gpuMemoryGib: t.int({ description: 'GiB of memory that each GPU has at least.' }),
    gpuTensorCores: t.boolean({ description: 'Whether the GPUs have tensor cores; default: either.' }),
    cudaVersion: t.string({ description: 'CUDA version that the GPUs support, e.g. 11.8.' }),
    cpuModel: t.stringList(atMost(modelsMax, 'Filters on the processor (a leading ! excludes)')),
    gpuModel: t.stringList(atMost(modelsMax, 'Filters on the GPU model (a leading ! excludes)')),
    infiniband: t.boolean({ description: 'Whether the nodes must have InfiniBand.' }),
    replicas: t.int({ description: 'Copies that start together; default 1.' }),
    replicaMasterPort: t.int({ description: 'Port of the first copy that the others are told.' }),
    gpuIds: t.intList(atMost(gpuIdsMax, 'Exactly these GPUs of a one-node pool')),
    anyGpu: t.boolean({ description: 'Whether others are taken when `gpuIds` are busy.' }),
    nodeCount: t.int({ description: 'PSI/J: nodes.' }),
    processCount: t.int({ description: 'PSI/J: processes in all.' }),
    processesPerNode: t.int({ description: 'PSI/J: processes on each node.' }),
    cpuCoresPerProcess: t.int({ description: 'PSI/J: cores of each process.' }),
    gpuCoresPerProcess: t.int({ description: 'PSI/J: GPUs of each process.' }),
    exclusiveNodeUse: t.boolean({ description: 'Whether nobody else may be on its nodes.' }),
  }),
})

/** Values of fields that were left out; as changes of another spec they say nothing. */
const filledIn: Readonly<Record<string, unknown>> = {
  inheritEnvironment: true,
  launcher: 'single',
  onDependencyFailure: 'CANCEL',
}

/** The fields of an input that its sender can have meant as changes. */
export const changesOf = (input: object | null | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(input ?? {}).filter(([name, value]) => filledIn[name] !== value))

export const JobSpecInput = builder.inputType('JobSpecInput', {
  description:
    'What is to be run. Either `command`, or `executable` with `arguments`, or `handler`; with an image none of them is needed.',
  fields: (t) => ({
    name: t.string({ description: 'Name, at most 255 characters.' }),
    labels: t.field({ type: [LabelInput], ...atMost(labelsMax, 'Keys and values') }),
    command: t.stringList(atMost(argumentsMax, 'Program and arguments, taken literally')),
    executable: t.string({ description: 'Program, where `arguments` are given apart.' }),
    arguments: t.stringList(atMost(argumentsMax, 'Arguments, in which dollar-brace names are expanded')),
    handler: t.string({ description: 'Registered handler to call instead of a command.' }),
    input: t.field({ type: 'JSONObject', description: 'What the handler is given.' }),
    image: t.string({ description: 'Container image.' }),
    workdir: t.string({ description: 'Working directory: absolute, or ~/…' }),
    environment: t.field({
      type: [EnvironmentVariableInput],
      ...atMost(variablesMax, 'Variables, in order (the last of a name wins)'),
    }),
    inheritEnvironment: t.boolean({
      defaultValue: true,
      description: 'Whether to start from the environment of the server, as far as that is passed on.',
    }),
    stdinPath: t.string({ description: 'File to read from.' }),
    stdoutPath: t.string({ description: 'File to copy the output to.' }),
    stderrPath: t.string({ description: 'File to copy the errors to.' }),
    preLaunch: t.string({ description: 'Script to source before it starts.' }),
    postLaunch: t.string({ description: 'Script to source after it ended.' }),
    launcher: t.string({ defaultValue: 'single', description: 'How its processes are launched.' }),
    data: t.stringList(atMost(dataSetsMax, 'Data sets to mount')),
    networkIsolation: t.field({ type: NetworkIsolation, description: 'Traffic to cut off.' }),
    internalDns: t.field({ type: InternalDnsInput, description: 'Name for other jobs.' }),
    x11: t.field({ type: X11Input, description: 'Display.' }),
    resources: t.field({ type: ResourcesInput, description: 'What it asks for.' }),
    executor: t.string({ description: 'The mechanism to run it with; default: by the other fields and the pool.' }),
    queue: t.string({ description: 'The door to go through; default: the default queue.' }),
    team: t.string({ description: 'Team to submit for.' }),
    project: t.string({ description: 'Project it belongs to.' }),
    account: t.string({ description: 'Unit of fair share to charge; default: your own.' }),
    capacityReservationId: t.string({ description: 'Reservation whose nodes to use.' }),
    bid: t.int({ description: 'What it offers for its place.' }),
    interactive: t.boolean({ description: 'Whether a person sits in front of it.' }),
    preemptable: t.boolean({ description: 'Whether it may be stopped in favour of others.' }),
    restartable: t.boolean({ description: 'Whether it may be run again from the beginning.' }),
    resumable: t.boolean({ description: 'Whether it can go on from what it saved.' }),
    maxRunTimeSeconds: t.float({ description: 'Seconds of one run at most; 0: no maximum.' }),
    durationSeconds: t.float({ description: 'Expected seconds of a run.' }),
    notBefore: t.field({ type: 'DateTime', description: 'Not before this moment; in the past: now.' }),
    estimatedCost: t.float({ description: 'What you expect it to cost.' }),
    dependsOn: t.field({ type: [DependencyInput], ...atMost(dependenciesMax, 'Jobs that must end first') }),
    onDependencyFailure: t.field({
      type: OnDependencyFailure,
      defaultValue: 'CANCEL',
      description: 'What becomes of it when they end otherwise.',
    }),
    retry: t.field({ type: RetryInput, description: 'When to run it again after a failure.' }),
    customAttributes: t.field({ type: 'JSONObject', description: 'Further words for the backend.' }),
  }),
})
