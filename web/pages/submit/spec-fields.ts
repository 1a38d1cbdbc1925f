import { type InputField, inputTypes } from '../../generated/spec-fields.ts'
import { type DraftSpec, type Edit, readField } from './spec-text.ts'

/** A field of JobSpecInput, with its path. */
export interface SpecField extends InputField {
  /** The path in YAML: `resources.cpu`. */
  path: string
  label: string
}

const isObject = (type: string) => Object.hasOwn(inputTypes, type)

function listFields(typeName: string, prefix: string): SpecField[] {
  return Object.entries(inputTypes[typeName] ?? {}).flatMap(([name, field]) => {
    const path = prefix + name
    return isObject(field.type) && path !== 'x11'
      ? listFields(field.type, `${path}.`)
      : [{ ...field, path, label: labels[path] ?? humanize(name) }]
  })
}

const acronyms = /\b(cpu|gpu|dns|cuda|id|ids)\b/gi

/** `gpuTensorCores` → "GPU tensor cores". */
function humanize(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  const text = words.replace(acronyms, (word) => (word.endsWith('s') ? 'IDs' : word.toUpperCase()))
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const labels: Readonly<Record<string, string>> = {
  'resources.cpu': 'CPU cores',
  'resources.memoryGib': 'Memory',
  'resources.gpu': 'GPUs',
  'resources.gpuMemoryGib': 'GPU memory',
  'resources.cudaVersion': 'CUDA version',
  'resources.infiniband': 'InfiniBand',
  maxRunTimeSeconds: 'Maximum run time',
  durationSeconds: 'Expected run time',
  workdir: 'Working directory',
  environment: 'Environment variables',
  data: 'Data sets',
  stdinPath: 'Input file',
  stdoutPath: 'Output file',
  stderrPath: 'Error output file',
  preLaunch: 'Script before the command',
  postLaunch: 'Script after the command',
  'retry.maxAttempts': 'Runs at most, if the command fails',
  'retry.onExitCodes': 'Exit codes after which it runs again',
  'internalDns.name': 'DNS name',
  'internalDns.ports': 'DNS ports',
  x11: 'X11 display',
  capacityReservationId: 'Capacity reservation',
}

const table = new Map(listFields('JobSpecInput', '').map((field) => [field.path, field]))

/** Fields without a control of their own, because the control of another field writes them. */
const written = ['resources.memoryBytes', 'resources.gpuMemoryBytes']

export const essentials = [
  'command',
  'queue',
  'image',
  'resources.cpu',
  'resources.memoryGib',
  'resources.gpu',
  'resources.gpuModel',
  'maxRunTimeSeconds',
  'name',
  'labels',
]

const named: readonly (readonly [string, readonly string[]])[] = [
  [
    'Program',
    [
      'executable',
      'arguments',
      'handler',
      'input',
      'workdir',
      'environment',
      'secrets',
      'inheritEnvironment',
      'data',
      'launcher',
      'preLaunch',
      'postLaunch',
      'stdinPath',
      'stdoutPath',
      'stderrPath',
    ],
  ],
  ['Resources', [...table.keys()].filter((path) => path.startsWith('resources.'))],
  [
    'Start and end',
    [
      'notBefore',
      'dependsOn',
      'onDependencyFailure',
      'durationSeconds',
      'retry.maxAttempts',
      'retry.onExitCodes',
      'preemptable',
      'restartable',
      'resumable',
      'interactive',
    ],
  ],
  ['Place and account', ['executor', 'capacityReservationId', 'team', 'account', 'project', 'bid', 'estimatedCost']],
  ['Image, network and display', ['pull', 'networkIsolation', 'internalDns.name', 'internalDns.ports', 'x11']],
]

const placed = new Set([...essentials, ...written, ...named.flatMap(([, paths]) => paths)])

export const moreGroups: readonly { title: string; fields: readonly SpecField[] }[] = [
  ...named,
  ['Others', [...table.keys()].filter((path) => !placed.has(path))] as const,
].map(([title, paths]) => ({
  title,
  fields: paths.filter((path) => !essentials.includes(path) && !written.includes(path)).map(findField),
}))

export function findField(path: string): SpecField {
  const field = table.get(path)
  if (!field) throw new Error(`The spec has no field ${path}`)
  return field
}

const splitPath = (path: string): string[] => path.split('.')

/** The schema has a field in GiB and one in bytes; the form has one control for both, in bytes. */
const inBytes: Readonly<Record<string, string>> = {
  'resources.memoryGib': 'resources.memoryBytes',
  'resources.gpuMemoryGib': 'resources.gpuMemoryBytes',
}
const gibBytes = 2 ** 30

export function readValue(spec: DraftSpec, path: string): unknown {
  const value = readField(spec, splitPath(path))
  const bytesPath = inBytes[path]
  if (bytesPath === undefined) return value
  if (value === undefined) return readField(spec, splitPath(bytesPath))
  return typeof value === 'number' ? value * gibBytes : value
}

export function writeValue(path: string, value: unknown): Edit[] {
  const own = splitPath(path)
  const bytesPath = inBytes[path]
  if (bytesPath === undefined) return [{ path: own, value }]
  const bytes = splitPath(bytesPath)
  const isGib = typeof value !== 'number' || value % gibBytes === 0
  return [
    { path: own, value: isGib ? (typeof value === 'number' ? value / gibBytes : value) : undefined },
    { path: bytes, value: isGib ? undefined : value },
  ]
}

/** Lists the paths at which the server may report violations of a form field. */
export const listViolationPaths = (path: string): string[] => [
  path,
  ...(inBytes[path] === undefined ? [] : [inBytes[path]]),
]

/** Converts a path to the name in an executor's list of supported fields: `retry.maxAttempts` → `retry`. */
export const toSupportName = (path: string): string =>
  path.startsWith('resources.') ? path : (path.split('.')[0] ?? path)
