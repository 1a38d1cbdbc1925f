import type { SpecInput } from '../input.ts'
import { addDnsPrefix } from '../internal-dns.ts'
import { defaultRunSeconds } from '../lanes.ts'
import { type FreeNode, indexMachines } from '../machines/machines.ts'
import { GiB, toShape } from '../shape.ts'
import type { JobSpec, Resources } from '../spec.ts'
import type { Destination } from './destinations.ts'
import type { Route } from './routing.ts'

/** A spec with all defaults, and a warning for every value of the submitter that was changed. */
export interface Normalised {
  spec: JobSpec
  warnings: string[]
}

const resourceDefaults: Resources = {
  cpu: 1,
  memoryBytes: GiB,
  gpu: 0,
  gpuMemoryBytes: null,
  gpuTensorCores: null,
  cudaVersion: null,
  cpuModel: [],
  gpuModel: [],
  infiniband: false,
  replicas: 1,
  replicaMasterPort: null,
  gpuIds: null,
  anyGpu: false,
  nodeCount: null,
  processCount: null,
  processesPerNode: null,
  cpuCoresPerProcess: null,
  gpuCoresPerProcess: null,
  exclusiveNodeUse: false,
}

type Settled =
  | 'interactive'
  | 'preemptable'
  | 'restartable'
  | 'resumable'
  | 'executor'
  | 'queue'
  | 'account'
  | 'internalDns'
  | 'x11'
  | 'resources'
  | 'maxRunTimeSeconds'
  | 'notBefore'
  | 'dependsOn'
  | 'retry'

const plainDefaults: Omit<JobSpec, Settled> = {
  name: null,
  labels: [],
  command: null,
  executable: null,
  arguments: null,
  handler: null,
  input: null,
  image: null,
  pull: null,
  snapshot: null,
  outputs: [],
  workdir: null,
  environment: [],
  secrets: [],
  inheritEnvironment: true,
  stdinPath: null,
  stdoutPath: null,
  stderrPath: null,
  preLaunch: null,
  postLaunch: null,
  launcher: 'single',
  data: [],
  networkIsolation: null,
  team: null,
  project: null,
  capacityReservationId: null,
  bid: null,
  durationSeconds: null,
  estimatedCost: null,
  onDependencyFailure: 'CANCEL',
  customAttributes: null,
}

interface Target {
  route: Route
  account: string
  /** undefined: the machines of the destination are unknown. */
  destination: Pick<Destination, 'nodes'> | undefined
}

export function normaliseSpec(input: SpecInput, { route, account, destination }: Target): Normalised {
  const warnings: string[] = []
  const flags = preemptionFlags(input, warnings)
  if (isOneText(input.command))
    warnings.push(
      `command has one word with spaces, so it is run as the name of a program; for a shell command give ["sh", "-c", ${JSON.stringify(input.command?.[0])}]`,
    )
  const spec: JobSpec = {
    ...applyDefaults(plainDefaults, input),
    ...flags,
    executor: route.executor,
    queue: route.queue,
    account,
    internalDns: normaliseDns(input, account),
    x11: input.x11 ? { gpu: input.x11.gpu === true } : null,
    resources: normaliseResources(input.resources ?? {}, destination?.nodes ?? [], warnings),
    maxRunTimeSeconds:
      input.maxRunTimeSeconds ??
      input.durationSeconds ??
      (flags.preemptable || flags.interactive ? 0 : defaultRunSeconds),
    notBefore: input.notBefore ? new Date(input.notBefore).toISOString() : null,
    dependsOn: (input.dependsOn ?? []).map(({ jobId, on }) => ({ jobId, on: on ?? 'SUCCEEDED' })),
    retry: input.retry ? { maxAttempts: input.retry.maxAttempts, onExitCodes: input.retry.onExitCodes ?? null } : null,
  }
  return { spec, warnings }
}

/** Fills in defaults for missing values and nulls; omits fields without a default. */
function applyDefaults<T extends object>(defaults: T, given: { [K in keyof T]?: T[K] | null | undefined }): T {
  const overlaid = { ...defaults }
  for (const key of Object.keys(defaults) as (keyof T)[]) overlaid[key] = given[key] ?? defaults[key]
  return overlaid
}

/** true: the command is a single word with spaces, because GraphQL coerced `command: "echo hi"` to a list. */
const isOneText = (command: SpecInput['command']): boolean => command?.length === 1 && /^[^/]+\s/.test(command[0] ?? '')

/**
 * The strongest flag wins: interactive, then restartable or resumable, then preemptable. Restartable jobs are also
 * preemptable.
 */
function preemptionFlags(input: SpecInput, warnings: string[]) {
  const interactive = input.interactive === true
  const restartable = input.restartable === true
  const preemptable = input.preemptable === true
  const resumable = input.resumable === true
  if (interactive && preemptable) warnings.push('preemptable was set to false: interactive jobs are never preempted')
  if (interactive && restartable) warnings.push('restartable was set to false: interactive jobs are not restarted')
  if (interactive && resumable) warnings.push('resumable was set to false: interactive jobs are not restarted')
  if (!interactive && restartable && input.preemptable === false)
    warnings.push('preemptable was set to true: restartable jobs may be preempted')
  return {
    interactive,
    restartable: !interactive && restartable,
    resumable: !interactive && resumable,
    preemptable: !interactive && (preemptable || restartable),
  }
}

function normaliseDns(input: SpecInput, account: string): JobSpec['internalDns'] {
  const { internalDns: dns } = input
  if (!dns) return null
  const ports = (dns.ports ?? []).map(({ port, targetPort, protocol }) => ({
    port,
    targetPort: targetPort ?? port,
    protocol: protocol ?? 'TCP',
  }))
  return { name: addDnsPrefix(dns.name ?? '', account), ports }
}

/** The default memory is the same fraction of the machine as the requested cores. */
function normaliseResources(
  given: NonNullable<SpecInput['resources']>,
  nodes: readonly FreeNode[],
  warnings: string[],
): Resources {
  const gpuIds = given.gpuIds && [...new Set(given.gpuIds)]
  if (gpuIds && gpuIds.length < (given.gpuIds?.length ?? 0))
    warnings.push('gpuIds had a device twice; the duplicate was removed')
  const memoryBytes = given.memoryBytes ?? (given.memoryGib ? given.memoryGib * GiB : null)
  const gpuMemoryBytes = given.gpuMemoryBytes ?? (given.gpuMemoryGib ? given.gpuMemoryGib * GiB : null)
  const resources = applyDefaults(resourceDefaults, { ...given, gpuIds, memoryBytes, gpuMemoryBytes })
  if (memoryBytes !== null) return resources
  return { ...resources, memoryBytes: indexMachines(nodes).memoryShare(toShape(resources)) ?? resources.memoryBytes }
}
