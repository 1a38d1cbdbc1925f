import type { Executor, JobSpecInput } from '../../client/generated/graphql.ts'
import { JobFileError, translateEai } from '../../client/specs/eai.ts'
import { usageError } from '../frame/exit.ts'
import { readYaml } from './yaml.ts'

export interface SpecFlags {
  name?: string
  tag?: string[]
  label?: string[]
  env?: string[]
  secret?: string[]
  out?: string[]
  inheritEnv: boolean
  workdir?: string
  image?: string
  data?: string[]
  pull?: 'MISSING' | 'ALWAYS'
  networkIsolation?: 'IN' | 'OUT' | 'ALL'
  cpu?: number
  mem?: number
  gpu?: number
  gpuModel?: string[]
  gpuIds?: number[]
  anyGpu?: boolean
  queue?: string
  executor?: Executor
  project?: string
  account?: string
  maxRunTime?: number
  notBefore?: string
  after?: string[]
  restartable?: boolean
  preemptable?: boolean
  interactive?: boolean
  bid?: number
  reservation?: string
  duration?: number
  attempts?: number
  set?: string[]
}

export interface SpecSources {
  yaml: string | null
  flags: SpecFlags
  command: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  warn(text: string): void
}

const gibBytes = 2 ** 30

/**
 * Builds a spec from a YAML file, flags, and the command after `--`; later sources override earlier ones. The YAML uses the
 * field names of JobSpecInput or of the EAI Toolkit. The server validates the spec.
 */
export function buildSpec({ yaml, flags, command, env, warn }: SpecSources): JobSpecInput {
  const file = yaml === null ? {} : parseSpec(yaml, warn)
  const spec: JobSpecInput = { ...file, ...fromFlags(flags) }
  const resources = { ...file.resources, ...resourcesFromFlags(flags) }
  if (Object.keys(resources).length > 0) spec.resources = resources
  const labels = [...(file.labels ?? []), ...labelsFromFlags(flags)]
  if (labels.length > 0) spec.labels = labels
  const environment = [...(file.environment ?? []), ...(flags.env ?? []).map((item) => variable(item, env))]
  if (environment.length > 0) spec.environment = environment
  const secrets = [...(file.secrets ?? []), ...(flags.secret ?? [])]
  if (secrets.length > 0) spec.secrets = secrets
  const outputs = [...(file.outputs ?? []), ...(flags.out ?? [])]
  if (outputs.length > 0) spec.outputs = outputs
  if (command.length > 0) {
    delete spec.executable
    delete spec.arguments
    spec.command = [...command]
  }
  for (const assignment of flags.set ?? []) assign(spec, assignment)
  demandLists(spec)
  return spec
}

/** Refuses a text in place of a list. GraphQL would accept `echo hi` as a list with one item, the name of a program. */
function demandLists(spec: { command?: unknown; arguments?: unknown }): void {
  const { command, arguments: args } = spec
  if (typeof command === 'string') {
    const listed = (words: string[]) => `[${words.map((word) => JSON.stringify(word)).join(', ')}]`
    const next = `write command: ${listed(command.trim().split(/\s+/))}, or for a shell command: ${listed(['sh', '-c', command])}`
    throw usageError(`command is a text, not a list: ${command}`, next)
  }
  if (typeof args === 'string')
    throw usageError(`arguments is a text, not a list: ${args}`, 'write arguments: ["one", "two"]')
}

function parseSpec(yaml: string, warn: SpecSources['warn']): JobSpecInput {
  const parsed = readYaml(yaml, 'the job file')
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw usageError('the job file is not a YAML mapping', 'see what "berth submit --print-spec -- command" prints')
  const { spec, warnings } = translate(parsed as Record<string, unknown>)
  for (const warning of warnings) warn(warning)
  demandForms(spec)
  return spec
}

function translate(file: Record<string, unknown>) {
  try {
    return translateEai(file)
  } catch (error) {
    throw error instanceof JobFileError ? usageError(error.message, error.next) : error
  }
}

/** Checks the types of the fields that flags extend. The server validates the other fields. */
function demandForms({ resources, labels, environment, secrets, outputs }: JobSpecInput): void {
  if (resources != null && (typeof resources !== 'object' || Array.isArray(resources)))
    throw usageError('the job file: resources is not a YAML mapping', 'write resources: { cpu: 2, memoryGib: 4 }')
  if (labels != null && !Array.isArray(labels))
    throw usageError('the job file: labels is not a list', 'write labels: [{ key: team, value: ml }]')
  if (secrets != null && !Array.isArray(secrets))
    throw usageError('the job file: secrets is not a list', 'write secrets: [WANDB_API_KEY]')
  if (outputs != null && !Array.isArray(outputs))
    throw usageError('the job file: outputs is not a list', "write outputs: ['runs/**']")
  if (environment != null && !Array.isArray(environment))
    throw usageError('the job file: environment is not a list', 'write environment: [{ name: A, value: b }]')
}

function fromFlags(flags: SpecFlags): JobSpecInput {
  return given({
    name: flags.name,
    workdir: flags.workdir,
    image: flags.image,
    data: flags.data,
    pull: flags.pull,
    networkIsolation: flags.networkIsolation,
    inheritEnvironment: flags.inheritEnv ? undefined : false,
    queue: flags.queue,
    executor: flags.executor,
    project: flags.project,
    account: flags.account,
    maxRunTimeSeconds: flags.maxRunTime,
    durationSeconds: flags.duration,
    notBefore: flags.notBefore,
    dependsOn: flags.after?.map((jobId) => ({ jobId })),
    restartable: flags.restartable,
    preemptable: flags.preemptable,
    interactive: flags.interactive,
    bid: flags.bid,
    capacityReservationId: flags.reservation,
    retry: flags.attempts === undefined ? undefined : { maxAttempts: flags.attempts },
  })
}

function resourcesFromFlags(flags: SpecFlags): NonNullable<JobSpecInput['resources']> {
  const { cpu, mem, gpu, gpuModel, gpuIds, anyGpu } = flags
  const memoryBytes = mem === undefined ? undefined : Math.round(mem * gibBytes)
  return given({ cpu, memoryBytes, gpu, gpuModel, gpuIds, anyGpu })
}

/** Removes undefined values, because flags that were not given must not override values of the file. */
function given<T extends object>(values: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

function labelsFromFlags({ tag = [], label = [] }: SpecFlags) {
  const pairs = label.map((item) => {
    const [key = '', value] = splitOnce(item)
    if (value === undefined) throw usageError(`--label ${item} has no "="`, 'write --label key=value, or --tag key')
    return { key, value }
  })
  return [...tag.map((key) => ({ key, value: '' })), ...pairs]
}

/** Reads `NAME=value`, or `NAME` for the value in the environment of this command. */
function variable(item: string, env: SpecSources['env']) {
  const [name = '', value = env[name]] = splitOnce(item)
  if (value === undefined) throw usageError(`${name} is not set in your environment`, `write --env ${name}=value`)
  return { name, value }
}

const splitOnce = (text: string): [string, string?] => {
  const at = text.indexOf('=')
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** Sets a field of the spec by `path=value`, such as `resources.gpuModel=[a100]`. The value is YAML. */
function assign(spec: JobSpecInput, assignment: string): void {
  const [path = '', text] = splitOnce(assignment)
  if (text === undefined || path === '') throw usageError(`--set ${assignment} has no "="`, 'write --set field=value')
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let target = spec as Record<string, unknown>
  for (const key of keys) {
    const inner = (Object.hasOwn(target, key) ? target[key] : null) ?? {}
    if (typeof inner !== 'object' || Array.isArray(inner))
      throw usageError(`--set ${path}: ${key} is not a YAML mapping`)
    define(target, key, inner)
    target = inner as Record<string, unknown>
  }
  define(target, last, readYaml(text, `the value of --set ${path}`))
}

/** Defines a field, even `__proto__`, which the server then refuses by name. */
const define = (target: object, key: string, value: unknown) =>
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
