import type { JobSpecInput } from '../generated/graphql.ts'

type Fields = Record<string, unknown>

interface Translation {
  from: string
  to: string
  value?: (value: unknown, from: string, warnings: string[]) => unknown
}

const translations: readonly Translation[] = [
  { from: 'environmentVars', to: 'environment', value: variables },
  { from: 'tags', to: 'labels', value: (tags, from) => texts(tags, from).map((key) => ({ key, value: '' })) },
  { from: 'maxRunTime', to: 'maxRunTimeSeconds' },
  { from: 'cpu', to: 'resources.cpu' },
  { from: 'mem', to: 'resources.memoryGib' },
  { from: 'gpu', to: 'resources.gpu' },
  { from: 'resources.gpuMem', to: 'resources.gpuMemoryGib' },
  { from: 'resources.gpuCudaVersion', to: 'resources.cudaVersion', value: version },
  // A model such as 6154 is a number in YAML.
  { from: 'resources.cpuModel', to: 'resources.cpuModel', value: texts },
  { from: 'resources.gpuModel', to: 'resources.gpuModel', value: texts },
  { from: 'options.infiniband', to: 'resources.infiniband' },
  { from: 'options.alphabits.network-isolation', to: 'networkIsolation', value: upper },
  { from: 'options.sidecars.x11', to: 'x11' },
  { from: 'options.sidecars.internal-dns', to: 'internalDns', value: internalDns },
  { from: 'options.internal-dns', to: 'internalDns', value: internalDns },
]

/** The job file cannot be translated. */
export class JobFileError extends Error {
  override name = 'JobFileError'
  /** A hint for the author of the file. */
  readonly next: string | undefined

  constructor(message: string, next?: string) {
    super(message)
    this.next = next
  }
}

/** Translates fields of a job file of the EAI Toolkit that differ from JobSpecInput; docs/specs.md lists them. */
export function translateEai(file: Fields): { spec: JobSpecInput; warnings: string[] } {
  const rest = structuredClone(file)
  const warnings: string[] = []
  const found = translations.flatMap(({ from, to, value = (same) => same }) => {
    const theirs = take(rest, from.split('.'))
    return theirs === undefined ? [] : [{ from, to, ours: value(theirs, from, warnings) }]
  })
  const left = pathsOf(rest['options'], 'options')[0]
  if (left) throw new JobFileError(`the job file: ${left} is not a known option`, 'docs/specs.md lists the options')
  delete rest['options']
  for (const { from, to, ours } of found) put(rest, { from, to, path: to.split('.'), ours })
  masterPort(rest, warnings)
  return { spec: rest, warnings }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Removes the value at a path, and returns it. */
function take(fields: Fields, [key = '', ...more]: readonly string[]): unknown {
  const value = fields[key]
  if (more.length > 0) return isFields(value) ? take(value, more) : undefined
  delete fields[key]
  return value
}

interface Put {
  from: string
  to: string
  path: readonly string[]
  ours: unknown
}

function put(fields: Fields, { from, to, path: [key = '', ...more], ours }: Put): void {
  const there = fields[key]
  if (more.length > 0) {
    if (there != null && !isFields(there)) throw new JobFileError(`the job file: ${key} is not a YAML mapping`)
    const inner = there ?? {}
    fields[key] = inner
    put(inner, { from, to, path: more, ours })
  } else {
    if (there !== undefined)
      throw new JobFileError(`the job file: ${from} and ${to} are the same field`, 'remove one of them')
    fields[key] = ours
  }
}

const pathsOf = (value: unknown, path: string): string[] =>
  isFields(value)
    ? Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, `${path}.${key}`))
    : value == null
      ? []
      : [path]

function texts(value: unknown, from: string): string[] {
  const all = Array.isArray(value) ? value : [value]
  if (all.some((each) => typeof each !== 'string' && typeof each !== 'number'))
    throw new JobFileError(`the job file: ${from} must be a list of texts`)
  return all.map(String)
}

function variables(value: unknown, from: string) {
  return texts(value, from).map((assignment) => {
    const at = assignment.indexOf('=')
    if (at < 1) throw new JobFileError(`the job file: ${from}: ${assignment} is not NAME=value`)
    return { name: assignment.slice(0, at), value: assignment.slice(at + 1) }
  })
}

function version(value: unknown, from: string, warnings: string[]): unknown {
  if (typeof value !== 'number') return value
  warnings.push(`${from} ${value} is read as version "${value}"; write it in quotes, because 11.10 is the number 11.1`)
  return String(value)
}

function upper(value: unknown): unknown {
  return typeof value === 'string' ? value.toUpperCase() : value
}

function internalDns(value: unknown): unknown {
  if (!isFields(value) || !Array.isArray(value['ports'])) return value
  const ports = value['ports'].map((port) => {
    if (!isFields(port) || port['target-port'] === undefined) return port
    const { 'target-port': targetPort, ...rest } = port
    return { ...rest, targetPort }
  })
  return { ...value, ports }
}

/** With replicas, an internal-dns without a name only sets the port of the first replica, which MASTER_ADDR names. */
function masterPort(spec: Fields, warnings: string[]): void {
  const { internalDns: dns, resources } = spec
  if (!isFields(dns) || dns['name'] !== '' || !isFields(resources) || resources['replicas'] === undefined) return
  const [first, ...others] = Array.isArray(dns['ports']) ? dns['ports'] : []
  if (!isFields(first) || others.length > 0) return
  resources['replicaMasterPort'] ??= first['port']
  delete spec['internalDns']
  warnings.push(`options.internal-dns without a name is read as resources.replicaMasterPort ${first['port']}`)
}
