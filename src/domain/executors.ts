/** The table of executors: every property of an executor that code outside of src/executors and backends.ts depends on. */

export interface ExecutorTraits {
  /**
   * MACHINE: the pool is one machine, bound to the data directory there. DECLARED: the nodes of the configuration. BACKEND:
   * the backend reports the nodes and chooses the nodes and GPUs of a run; Berth decides only which run is next.
   */
  nodes: 'MACHINE' | 'DECLARED' | 'BACKEND'
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
  /** A submission with this field and without an executor goes to this one. ALWAYS: even if its pool does not have it. */
  preferredFor: { field: SpecialField; when: 'PRESENT' | 'ALWAYS' } | null
  /** Jobs run on machines that reach the server only at its public URL. */
  needsPublicUrl: boolean
  /** false: its backend knows no reservations, so its pools have no capacity reservations. */
  hasReservations: boolean
  /** What `System.executors` shows as version; null: nothing. */
  version: 'KERNEL' | 'BACKEND' | null
  launchers: readonly Launcher[]
  needsCommand: boolean
  /** A port of internalDns may differ from the port of the job. */
  mapsPorts: boolean
  /** A job with networkIsolation may have a name as well: with OUT other jobs reach it. */
  namesIsolated: boolean
  /** Special fields; a submission with another one is refused. */
  honours: readonly SpecialField[]
}

export const launchers = ['single', 'multiple', 'mpirun', 'srun'] as const
export type Launcher = (typeof launchers)[number]

/** A custom attribute can be the value of an option of a command line. */
export const isOptionValue = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' ? value !== '' && !/[\0\n]/.test(value) : ['number', 'boolean'].includes(typeof value)

/** Options of a backend that a job may set by custom attributes, by name; of others, what a job uses instead. */
export interface OptionRules {
  attributes: readonly string[]
  insteadOf: Readonly<Record<string, string>>
}

/** Why a job may not set an option of its backend; null: it may. */
export function refuseOption(attribute: string, name: string, { attributes, insteadOf }: OptionRules): string | null {
  if (attributes.includes(name)) return null
  const [instead] = Object.entries(insteadOf).flatMap(([known, words]) => (known === name ? [words] : []))
  return `${attribute} is not an option that a job may set; ${instead ?? `use one of ${attributes.join(', ')}`}`
}

/** Fields of a spec that only some executors honour; `replicas` is a field of its resources. */
export const specialFields = [
  'image',
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
] as const
export type SpecialField = (typeof specialFields)[number]

export type ExecutorName = 'local' | 'container' | 'slurm' | 'kubernetes' | 'handler' | 'simulated'

const containers = ['image', 'data', 'networkIsolation', 'internalDns', 'x11'] as const
const scripts = ['preLaunch', 'postLaunch'] as const
const files = ['stdinPath', 'stdoutPath', 'stderrPath'] as const

/** Traits that a row of the table does not change. */
const base: ExecutorTraits = {
  nodes: 'DECLARED',
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
    honours: [...scripts, ...files],
  },
  container: {
    ...base,
    nodes: 'MACHINE',
    takesUnixUser: true,
    preferredFor: { field: 'image', when: 'PRESENT' },
    version: 'BACKEND',
    launchers: ['single', 'multiple', 'mpirun'],
    honours: [...containers, ...scripts, ...files],
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
    honours: [...scripts, ...files],
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
    honours: [...containers, 'replicas'],
  },
  handler: {
    ...base,
    nodes: 'MACHINE',
    startsProcesses: true,
    sharesFiles: true,
    takesUnixUser: true,
    preferredFor: { field: 'handler', when: 'ALWAYS' },
    version: 'KERNEL',
    honours: ['handler', 'input', ...files],
  },
  simulated: {
    ...base,
    launchers,
    mapsPorts: true,
    namesIsolated: true,
    honours: [...containers, 'replicas', ...scripts, ...files, 'handler', 'input'],
  },
}

/** The executors of a pool that names none, in order of preference. */
export const executorsDefault: readonly [ExecutorName, ...ExecutorName[]] = ['local', 'handler', 'container']
export const [executorDefault] = executorsDefault

const traits: ReadonlyMap<string, ExecutorTraits> = new Map(Object.entries(table))

export const findTraits = (executor: string): ExecutorTraits => traits.get(executor) ?? base

export const executorsWhere = (is: (traits: ExecutorTraits) => boolean): string[] =>
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
