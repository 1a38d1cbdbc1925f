/** Properties of the executors on which code outside of src/executors and backends.ts depends. */

export interface ExecutorTraits {
  /**
   * MACHINE: the pool is one machine and is bound to the data directory there. DECLARED: the configuration names the
   * nodes. BACKEND: the backend reports the nodes and chooses the nodes and GPUs of a run; Berth only decides which run
   * is next.
   */
  nodes: 'MACHINE' | 'DECLARED' | 'BACKEND'
  /** Each node of a pool may have a container engine of its own (`engine`); then the pool is several machines. */
  takesEngines: boolean
  /** The backend begins runs only in passes, so a short job may wait there before a node is free. */
  plansInPasses: boolean
  /** Pools name a folder that the nodes and the server share (`sharedDir`). */
  needsSharedDir: boolean
  /** Runs are processes that the server starts on its own machine. */
  startsProcesses: boolean
  /** Jobs see the files of the caller's machine, so the caller's directory is a default for `workdir`. */
  sharesFiles: boolean
  /** Runs are processes of the account `User.unixUser`; without that, of the account of the server, which may be root. */
  takesUnixUser: boolean
  /**
   * A submission that has this field but names no executor goes to this executor. ALWAYS: even if its pool does not
   * have it.
   */
  preferredFor: { field: SpecialField; when: 'PRESENT' | 'ALWAYS' } | null
  /** Jobs run on machines that reach the server only at its public URL. */
  needsPublicUrl: boolean
  /** false: the backend does not support reservations, so pools with this executor have no capacity reservations. */
  hasReservations: boolean
  /** The kind of version that `System.executors` shows; null: none. */
  version: 'KERNEL' | 'BACKEND' | null
  launchers: readonly Launcher[]
  needsCommand: boolean
  /** A port of internalDns may differ from the port on which the job listens. */
  mapsPorts: boolean
  /** A job with networkIsolation may also have a DNS name: with OUT other jobs can reach it. */
  namesIsolated: boolean
  /** Special fields that the executor supports; a submission with another special field is refused. */
  honours: readonly SpecialField[]
  /** exec: sessions can run commands in running jobs. connect: they can reach ports. */
  sessions: readonly ('exec' | 'connect')[]
}

export const launchers = ['single', 'multiple', 'mpirun', 'srun'] as const
export type Launcher = (typeof launchers)[number]

/** true: the attribute value can be written as the value of a command-line option. */
export const isOptionValue = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' ? value !== '' && !/[\0\n]/.test(value) : ['number', 'boolean'].includes(typeof value)

/** Backend options that a job may set by custom attributes, by name; for other options, the field to use instead. */
export interface OptionRules {
  attributes: readonly string[]
  insteadOf: Readonly<Record<string, string>>
}

/** The reason why a job may not set an option of its backend; null: it may. */
export function findOptionRefusal(
  attribute: string,
  name: string,
  { attributes, insteadOf }: OptionRules,
): string | null {
  if (attributes.includes(name)) return null
  const [instead] = Object.entries(insteadOf).flatMap(([known, words]) => (known === name ? [words] : []))
  return `${attribute} is not an option that a job may set; ${instead ?? `use one of ${attributes.join(', ')}`}`
}

/** Fields of a spec that only some executors support; `replicas` is a field of its resources. */
export const specialFields = [
  'image',
  'pull',
  'data',
  'networkIsolation',
  'internalDns',
  'x11',
  'replicas',
  'handler',
  'input',
  'preLaunch',
  'postLaunch',
  'stdinPath',
  'stdoutPath',
  'stderrPath',
  'snapshot',
  'outputs',
] as const
export type SpecialField = (typeof specialFields)[number]

export type ExecutorName = 'local' | 'container' | 'slurm' | 'kubernetes' | 'handler' | 'simulated'

const containers = ['image', 'pull', 'data', 'networkIsolation', 'internalDns', 'x11'] as const
const scripts = ['preLaunch', 'postLaunch'] as const
const files = ['stdinPath', 'stdoutPath', 'stderrPath'] as const

const base: ExecutorTraits = {
  nodes: 'DECLARED',
  takesEngines: false,
  plansInPasses: false,
  needsSharedDir: false,
  startsProcesses: false,
  sharesFiles: false,
  takesUnixUser: false,
  needsPublicUrl: false,
  hasReservations: true,
  preferredFor: null,
  version: null,
  launchers: ['single'],
  needsCommand: false,
  mapsPorts: false,
  namesIsolated: false,
  honours: [],
  sessions: [],
}

const table: Readonly<Record<ExecutorName, ExecutorTraits>> = {
  local: {
    ...base,
    nodes: 'MACHINE',
    startsProcesses: true,
    sharesFiles: true,
    takesUnixUser: true,
    version: 'KERNEL',
    launchers: ['single', 'multiple', 'mpirun'],
    honours: [...scripts, ...files, 'snapshot', 'outputs'],
    sessions: ['exec', 'connect'],
  },
  container: {
    ...base,
    nodes: 'MACHINE',
    takesEngines: true,
    takesUnixUser: true,
    preferredFor: { field: 'image', when: 'PRESENT' },
    version: 'BACKEND',
    launchers: ['single', 'multiple', 'mpirun'],
    honours: [...containers, ...scripts, ...files, 'snapshot', 'outputs'],
    sessions: ['exec', 'connect'],
  },
  slurm: {
    ...base,
    nodes: 'BACKEND',
    plansInPasses: true,
    needsSharedDir: true,
    sharesFiles: true,
    takesUnixUser: true,
    version: 'BACKEND',
    launchers,
    honours: [...scripts, ...files, 'snapshot', 'outputs'],
    sessions: ['exec', 'connect'],
  },
  kubernetes: {
    ...base,
    nodes: 'BACKEND',
    needsPublicUrl: true,
    hasReservations: false,
    version: 'BACKEND',
    needsCommand: true,
    mapsPorts: true,
    namesIsolated: true,
    honours: [...containers, 'replicas', 'snapshot'],
    sessions: ['exec', 'connect'],
  },
  handler: {
    ...base,
    nodes: 'MACHINE',
    startsProcesses: true,
    sharesFiles: true,
    takesUnixUser: true,
    preferredFor: { field: 'handler', when: 'ALWAYS' },
    version: 'KERNEL',
    honours: ['handler', 'input', ...files, 'snapshot', 'outputs'],
    sessions: ['exec', 'connect'],
  },
  simulated: {
    ...base,
    launchers,
    mapsPorts: true,
    namesIsolated: true,
    honours: [...containers, 'replicas', ...scripts, ...files, 'handler', 'input', 'snapshot', 'outputs'],
  },
}

/** Executors of a pool whose configuration has no `executors`, in order of preference. */
export const executorsDefault: readonly [ExecutorName, ...ExecutorName[]] = ['local', 'handler', 'container']
export const [executorDefault] = executorsDefault

const traits: ReadonlyMap<string, ExecutorTraits> = new Map(Object.entries(table))

export const findTraits = (executor: string): ExecutorTraits => traits.get(executor) ?? base

/** true: the executor supports the field of the spec at this path, such as `resources.replicas`. */
export function supportsField(executor: string, path: string): boolean {
  const special = specialFields.find((field) => field === path.replace(/^resources\./, ''))
  return special === undefined || findTraits(executor).honours.includes(special)
}

export const listExecutorsWhere = (is: (traits: ExecutorTraits) => boolean): string[] =>
  [...traits].flatMap(([name, each]) => (is(each) ? [name] : []))

export const executorNames = Object.keys(table) as readonly ExecutorName[]

export const isOneMachine = (executors: readonly string[]): boolean =>
  executors.some((name) => findTraits(name).nodes === 'MACHINE')

export const isDelegated = (executors: readonly string[]): boolean =>
  executors.some((name) => findTraits(name).nodes === 'BACKEND')

export const hasReservations = (executors: readonly string[]): boolean =>
  executors.every((name) => findTraits(name).hasReservations)

export const startsProcesses = (executors: readonly string[]): boolean =>
  executors.some((name) => findTraits(name).startsProcesses)
