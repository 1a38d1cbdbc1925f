import { z } from 'zod'
import { accountForm, accountRule } from './accounts.ts'
import { launchers } from './executors.ts'
import { parseInput } from './parse.ts'

/**
 * Validates each field of a submission. spec-rules.ts checks rules between fields, routing.ts and executor-violations.ts
 * rules of the pool.
 */

const text = (max: number) => z.string().min(1, 'must not be empty').max(max, `must have at most ${max} characters`)
const path = text(4096)
const anchored = /^(\/|~\/|~$)/
export const isAnchored = (workdir: string): boolean => anchored.test(workdir)
/** A pattern of `.gitignore`; # would begin a comment. */
const outputPattern = path
  .regex(/^(?!#)\P{Cc}+$/u, 'must not have control characters or begin with #')
  .refine((pattern) => !pattern.split('/').includes('..'), 'must be below the working directory')
const directory = path.regex(anchored, 'must be an absolute path or start with ~/')
const positive = z.int().min(1, 'must be at least 1')
const natural = z.int().min(0, 'must not be negative')
const json = z.record(z.string(), z.unknown())
const seconds = z.number().min(0, 'must not be negative').max(3_153_600_000, 'must be at most 100 years')

export const labelsMax = 64
export const argumentsMax = 10_000
export const variablesMax = 10_000
export const dataSetsMax = 256
export const portsMax = 1_024
export const modelsMax = 64
export const gpuIdsMax = 1_024
export const dependenciesMax = 100
export const retryExitCodesMax = 255

const listOf = <Item extends z.ZodType>(item: Item, itemsMax: number) =>
  z.array(item).max(itemsMax, `must have at most ${itemsMax.toLocaleString('en-US')} entries`)

export const secretsMax = 32
export const outputsMax = 64

/** Variables that Berth, the launcher of a job or its shell sets. */
const setByBerth =
  /^(BERTH_.*|LD_.*|(CUDA|NVIDIA)_VISIBLE_DEVICES|MASTER_(ADDR|PORT)|PSIJ_NODEFILE|PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|DISPLAY|XAUTHORITY|IFS|ENV|BASH_ENV)$/

export const secretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must have 1 … 128 letters, digits and _, and not begin with a digit')
  .refine((name) => !setByBerth.test(name), 'must not be a variable that Berth or the system sets')

const filter = text(255).refine((value) => value !== '!', 'must name what to exclude after !')
const dottedVersion = z.string().regex(/^\d+(\.\d+)*$/, 'must be a dotted version such as 11.8')
const port = z.int().min(1, 'must be 1 … 65535').max(65_535, 'must be 1 … 65535')

const bidMax = 2_147_483_647

/** Maximum cost; sums of costs stay finite. */
const costMax = 1e15

const resources = z.strictObject({
  cpu: z.number().min(0.001, 'must be at least 0.001').max(1_000_000, 'must be at most 1,000,000').nullish(),
  memoryGib: positive.max(1_048_576, 'must be at most 1,048,576').nullish(),
  memoryBytes: positive.nullish(),
  gpu: natural.max(100_000, 'must be at most 100,000').nullish(),
  gpuMemoryGib: positive.max(1_048_576, 'must be at most 1,048,576').nullish(),
  gpuMemoryBytes: positive.nullish(),
  gpuTensorCores: z.boolean().nullish(),
  cudaVersion: dottedVersion.nullish(),
  cpuModel: listOf(filter, modelsMax).nullish(),
  gpuModel: listOf(filter, modelsMax).nullish(),
  infiniband: z.boolean().nullish(),
  replicas: positive.max(10_000, 'must be at most 10,000').nullish(),
  replicaMasterPort: port.nullish(),
  gpuIds: listOf(natural, gpuIdsMax).nullish(),
  anyGpu: z.boolean().nullish(),
  nodeCount: positive.max(10_000, 'must be at most 10,000').nullish(),
  processCount: positive.max(1_000_000, 'must be at most 1,000,000').nullish(),
  processesPerNode: positive.max(100_000, 'must be at most 100,000').nullish(),
  cpuCoresPerProcess: positive.max(100_000, 'must be at most 100,000').nullish(),
  gpuCoresPerProcess: natural.max(1_000, 'must be at most 1,000').nullish(),
  exclusiveNodeUse: z.boolean().nullish(),
})

const spec = z.strictObject({
  name: text(255).nullish(),
  labels: listOf(z.strictObject({ key: text(255), value: z.string().max(1024) }), labelsMax).nullish(),
  command: listOf(z.string(), argumentsMax).min(1, 'must not be empty').nullish(),
  executable: path.nullish(),
  arguments: listOf(z.string(), argumentsMax).nullish(),
  handler: path.nullish(),
  input: json.nullish(),
  image: text(1024).nullish(),
  pull: z.enum(['MISSING', 'ALWAYS']).nullish(),
  snapshot: text(64).nullish(),
  outputs: listOf(outputPattern, outputsMax).nullish(),
  workdir: path.nullish(),
  environment: listOf(
    z.strictObject({
      name: text(1024).refine((name) => !name.includes('='), 'must not contain ='),
      value: z.string(),
    }),
    variablesMax,
  ).nullish(),
  secrets: listOf(secretName, secretsMax).nullish(),
  inheritEnvironment: z.boolean().nullish(),
  stdinPath: path.nullish(),
  stdoutPath: path.nullish(),
  stderrPath: path.nullish(),
  preLaunch: path.nullish(),
  postLaunch: path.nullish(),
  launcher: z.enum(launchers, `must be one of ${launchers.join(', ')}`).nullish(),
  data: listOf(path.regex(/^[^:]+:\/[^:]*$/, 'must be source:/path/in/job'), dataSetsMax).nullish(),
  networkIsolation: z.enum(['IN', 'OUT', 'ALL']).nullish(),
  internalDns: z
    .strictObject({
      name: z
        .string()
        .regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be an RFC 1035 label: a–z, 0–9 and -, starting with a letter')
        .nullish(),
      ports: listOf(
        z.strictObject({ port, targetPort: port.nullish(), protocol: z.enum(['TCP', 'UDP']).nullish() }),
        portsMax,
      )
        .min(1, 'needs at least one port')
        .nullish(),
    })
    .nullish(),
  x11: z.strictObject({ gpu: z.boolean().nullish() }).nullish(),
  resources: resources.nullish(),
  executor: text(64).nullish(),
  queue: text(255).nullish(),
  team: text(255).nullish(),
  project: text(255).nullish(),
  account: text(255).regex(accountForm, accountRule).nullish(),
  capacityReservationId: text(255).nullish(),
  bid: natural.max(bidMax, `must be at most ${bidMax.toLocaleString('en-US')}`).nullish(),
  interactive: z.boolean().nullish(),
  preemptable: z.boolean().nullish(),
  restartable: z.boolean().nullish(),
  resumable: z.boolean().nullish(),
  maxRunTimeSeconds: seconds.nullish(),
  durationSeconds: seconds.refine((value) => value > 0, 'must be more than 0').nullish(),
  notBefore: z.union([z.date(), z.iso.datetime({ offset: true })]).nullish(),
  estimatedCost: z.number().min(0, 'must not be negative').max(costMax, 'must be at most 10¹⁵').nullish(),
  dependsOn: listOf(
    z.strictObject({ jobId: text(64), on: z.enum(['SUCCEEDED', 'FAILED', 'FINISHED']).nullish() }),
    dependenciesMax,
  ).nullish(),
  onDependencyFailure: z.enum(['CANCEL', 'WAIT']).nullish(),
  retry: z
    .strictObject({
      maxAttempts: positive.max(1_000, 'must be at most 1,000'),
      onExitCodes: listOf(z.int().min(1, 'must be 1 … 255').max(255, 'must be 1 … 255'), retryExitCodesMax).nullish(),
    })
    .nullish(),
  customAttributes: json.nullish(),
})

/** Paths of all fields of a spec, such as `image` and `resources.gpu`. */
export const specFields: readonly string[] = [
  ...Object.keys(spec.shape).filter((field) => field !== 'resources'),
  ...Object.keys(resources.shape).map((field) => `resources.${field}`),
]

const key = z
  .string()
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')
  .refine((value) => value.length > 0 && [...value].length <= 255, 'must have 1 … 255 characters')

/** The fields of a submission besides its spec. */
export const submissionFields = {
  idempotencyKey: key.nullish(),
  idempotencyTtlSeconds: z.int().min(60, 'must be at least 60').max(2_592_000, 'must be at most 2,592,000').nullish(),
  slotReservationId: z.string().nullish(),
}

const submission = z.strictObject({
  spec,
  ...submissionFields,
  requiresApproval: z.boolean().nullish(),
  defaultWorkdir: directory.nullish(),
  /** Written only by a retry (retry.ts), which computed `spec` from these two. */
  retried: z.strictObject({ retryOf: z.string(), overrides: z.record(z.string(), z.unknown()).nullish() }).nullish(),
  /** Refuse the retry if the user has retried the job before. */
  unlessRetried: z.boolean().nullish(),
})
export type SubmissionInput = z.output<typeof submission>
export type SpecInput = SubmissionInput['spec']

export const parseSubmission = (input: unknown): SubmissionInput => parseInput(submission, input)
