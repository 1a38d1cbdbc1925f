import { isOptionValue } from '../../domain/executors.ts'
import { matchesAll } from '../../domain/shape.ts'
import { processCountOf, type Resources } from '../../domain/spec.ts'
import { type RunSpec, StartFailed } from '../executor.ts'

/** The options of sbatch for a run. None of them has a secret: every account can read them. */

/** What decides about them beside the run. */
export interface ClusterLimits {
  /** Time after its maximum run time at which a run is ended by Slurm, if no server did it. */
  deadlineSlackSeconds: number
  /** The longest time of a partition in minutes; null: it has no limit, or is not known. */
  minutesMax(partition: string): number | null
  /** The types of the GPUs of a partition, or `untypedGpu`; null: Slurm has not told them yet. */
  gpuTypes(partition: string): readonly string[] | null
}

/** Options that a job may set by custom attributes `slurm.NAME`, and an operator by `queues[].native`. */
const free = new Set(
  `acctg-freq batch bb begin cluster-constraint constraint contiguous core-spec cores-per-socket cpu-freq cpus-per-gpu
  deadline delay-boot dependency distribution exclude extra-node-info gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket
  gpus-per-task gres gres-flags hint hold immediate kill-on-invalid-dep licenses mail-type mail-user mcs-label mem-bind
  mem-per-cpu mem-per-gpu mincpus network nice no-kill nodelist ntasks-per-core ntasks-per-gpu ntasks-per-socket overcommit
  oversubscribe power prefer priority profile qos reboot sockets-per-node spread-job switches thread-spec
  threads-per-core tmp use-min-nodes wckey`.split(/\s+/),
)
const prefix = 'slurm.'
/** The names of these options, in order. */
export const freeOptions: readonly string[] = [...free].toSorted()
/** Model of GPUs to which Slurm gives no type: it cannot be asked for them alone. */
export const untypedGpu = 'gpu'
/** The feature of nodes with InfiniBand. */
export const infinibandFeature = 'infiniband'

interface Tasks {
  total: number
  perNode: number
  nodes: number
}

/** As the whole of Berth counts them: without nodeCount and processesPerNode, all processes are on one node. */
export function tasksOf(r: Resources): Tasks {
  const total = processCountOf(r)
  const perNode = r.nodeCount === null ? Math.min(r.processesPerNode ?? total, total) : (r.processesPerNode ?? 1)
  return { total, perNode, nodes: r.nodeCount ?? Math.ceil(total / perNode) }
}

export const partitionOf = ({ queueNative, spec }: RunSpec) => queueNative['partition'] ?? spec.queue

export function optionsOf(run: RunSpec, limits: ClusterLimits): string[] {
  const { spec, queueNative, reservationNativeId } = run
  const own = new Map<string, string | true>([
    ['job-name', spec.name ?? run.jobId],
    ['comment', run.runId],
    ['no-requeue', true],
    ['chdir', '/'],
    ['input', '/dev/null'],
    ['output', '/dev/null'],
    ['error', '/dev/null'],
    ['partition', partitionOf(run)],
    ['time', String(minutesOf(run, limits))],
    ...(spec.project === null ? [] : [['account', spec.project] as const]),
    ...(reservationNativeId === null ? [] : [['reservation', reservationNativeId] as const]),
    ...amountsOf(spec.resources, limits.gpuTypes(partitionOf(run))),
  ])
  const operator = Object.entries(queueNative).filter(([name]) => name !== 'partition')
  for (const [name, value] of operator) own.set(...given(`queues[].native.${name}`, name, value))
  for (const [attribute, value] of Object.entries(spec.customAttributes ?? {}))
    if (attribute.startsWith(prefix)) own.set(...given(attribute, attribute.slice(prefix.length), value))
  return [...own].flatMap(([name, value]) => (value === true ? `--${name}` : value === '' ? [] : `--${name}=${value}`))
}

/** '': the option is left out, because it was switched off. */
function given(where: string, name: string, value: unknown): [string, string | true] {
  const isAccount = name === 'account' && where.startsWith('queues[]')
  if (!free.has(name) && !isAccount)
    throw refused(`${where}: ${name} is no option that a job may set; use one of ${freeOptions.join(', ')}`)
  if (!isOptionValue(value))
    throw refused(`${where}: ${JSON.stringify(value)} must be one line of text, a number, true or false`)
  if (typeof value === 'boolean') return [name, value ? true : '']
  return [name, String(value)]
}

function amountsOf(r: Resources, gpuTypes: readonly string[] | null): [string, string | true][] {
  const { total, perNode, nodes } = tasksOf(r)
  const isPerProcess = r.cpuCoresPerProcess !== null || r.gpuCoresPerProcess !== null
  const gpus = isPerProcess ? perNode * (r.gpuCoresPerProcess ?? 0) : r.gpu
  const options: [string, string | true][] = [
    ['nodes', String(nodes)],
    ['ntasks', String(total)],
    ['cpus-per-task', String(cpusPerTaskOf(r))],
    ['mem', `${Math.ceil(r.memoryBytes / 1024 ** 2)}M`],
  ]
  if (nodes > 1) options.push(['ntasks-per-node', String(perNode)])
  if (gpus > 0) options.push(['gres', gpusOf(r.gpuModel, gpuTypes, gpus)])
  if (r.infiniband) options.push(['constraint', infinibandFeature])
  if (r.exclusiveNodeUse) options.push(['exclusive', true])
  return options
}

/** Slurm gives whole processors, and at least one to each process. */
export function cpusPerTaskOf(r: Resources): number {
  if (r.cpuCoresPerProcess !== null || r.gpuCoresPerProcess !== null) return Math.ceil(r.cpuCoresPerProcess ?? 1)
  return Math.max(1, Math.ceil(r.cpu / tasksOf(r).perNode))
}

/** The type of a GPU of Slurm is what Berth calls its model. A job names one type, or takes any. */
function gpusOf(filters: readonly string[], types: readonly string[] | null, count: number): string {
  const matching = types?.filter((type) => matchesAll(filters, type)) ?? []
  const typed = matching.filter((type) => type !== untypedGpu)
  const named = typed.filter((type) => filters.some((filter) => filter.toLowerCase() === type.toLowerCase()))
  const isAny = named.length === 0 && matching.length > 0 && matching.length === types?.length
  if (filters.length === 0 || isAny) return `gpu:${count}`
  // What Slurm does not have yet is asked for as it is written.
  const [type = '', ...others] = matching.length === 0 ? filters : named.length > 0 ? named : typed
  if (others.length === 0 && type !== untypedGpu && /^[\w.-]+$/.test(type)) return `gpu:${type}:${count}`
  const given = `resources.gpuModel ${filters.join(', ')}`
  if (types === null) throw new StartFailed('NODE_TROUBLE', `${given}: Slurm has not told its types of GPUs yet`)
  throw refused(`${given}: Slurm takes one type of GPU, and of ${namesOf(types)} this matches ${namesOf(matching)}`)
}

const namesOf = (types: readonly string[]) =>
  types.map((type) => (type === untypedGpu ? 'GPUs without a type' : type)).join(', ') || 'none'

/**
 * Minutes, rounded up. Only a fallback: the server ends the run exactly. A partition never starts a job that asks for
 * more than its limit, so the limit of the partition is the most that is asked for. 0: no limit.
 */
export function minutesOf(run: RunSpec, { deadlineSlackSeconds, minutesMax }: ClusterLimits): number {
  const { maxRunTimeSeconds } = run.spec
  const asked = maxRunTimeSeconds > 0 ? Math.ceil((maxRunTimeSeconds + deadlineSlackSeconds) / 60) : 0
  const most = minutesMax(partitionOf(run))
  if (most === null) return asked
  return asked === 0 ? most : Math.min(asked, most)
}

const refused = (message: string) => new StartFailed('BAD_SPEC', message)
