import { findOptionRefusal, isOptionValue, type OptionRules } from '../../domain/executors.ts'
import { matchesAll } from '../../domain/shape.ts'
import { countProcesses, type Resources } from '../../domain/spec.ts'
import { type RunSpec, StartFailed } from '../executor.ts'

/** The options of sbatch for a run. They contain no secrets, because every account can read them. */

export interface ClusterLimits {
  /** Time after the maximum run time at which Slurm ends a run, in case no server did. */
  deadlineSlackSeconds: number
  /** The maximum time of a partition in minutes; null: unlimited or unknown. */
  minutesMax(partition: string): number | null
  /** The GPU types of a partition, or `untypedGpu`; null: Slurm has not reported them yet. */
  gpuTypes(partition: string): readonly string[] | null
}

/**
 * Options that jobs may set by custom attributes `slurm.NAME`. No option among them changes amounts, which quotas and
 * costs count, affects other users, or keeps a job waiting in Slurm, where it keeps its amounts.
 */
const ofJobs = words(
  `acctg-freq batch constraint contiguous cpu-freq deadline delay-boot dependency distribution exclude gpu-bind
  gpu-freq gres-flags kill-on-invalid-dep licenses mail-type mcs-label mem-bind nice no-kill nodelist overcommit
  oversubscribe prefer profile qos spread-job switches tmp use-min-nodes wckey`,
)
/** Options that only the operator may set, by `queues[].native`. */
const ofOperators = words(
  `account bb begin cluster-constraint core-spec cores-per-socket cpus-per-gpu extra-node-info gpus gpus-per-node
  gpus-per-socket gpus-per-task gres hint hold mail-user mem-per-cpu mem-per-gpu mincpus network ntasks-per-core ntasks-per-gpu
  ntasks-per-socket power priority reboot sockets-per-node thread-spec threads-per-core`,
)

const insteads: readonly (readonly [string, string])[] = [
  ['gpus gpus-per-node gpus-per-socket gpus-per-task gres ntasks-per-gpu', 'gpu, gpuModel and gpuCoresPerProcess'],
  ['core-spec cpus-per-gpu cpus-per-task mincpus thread-spec', 'cpu or cpuCoresPerProcess'],
  ['mem mem-per-cpu mem-per-gpu', 'memoryGib'],
  ['nodes ntasks ntasks-per-node', 'nodeCount, processCount and processesPerNode'],
  ['exclusive', 'exclusiveNodeUse'],
]
const insteadOf: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...ofOperators].map((name) => [name, 'the operator may set it by queues[].native'])),
  ...Object.fromEntries(
    insteads.flatMap(([names, fields]) => [...words(names)].map((name) => [name, `set resources: ${fields}`])),
  ),
  begin: 'set notBefore',
  hold: 'set notBefore',
  'mail-user': 'Slurm sends mail to the account of the job',
  account: 'set project',
  'job-name': 'set name',
  partition: 'set queue',
  reservation: 'set capacityReservationId',
  time: 'set maxRunTimeSeconds',
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}

const prefix = 'slurm.'
export const optionRules: OptionRules = { attributes: [...ofJobs].toSorted(), insteadOf }
export const untypedGpu = 'gpu'
export const infinibandFeature = 'infiniband'

interface Tasks {
  total: number
  perNode: number
  nodes: number
}

/** Without nodeCount and processesPerNode, all processes run on one node, as with the other executors. */
export function countTasks(r: Resources): Tasks {
  const total = countProcesses(r)
  const perNode = r.nodeCount === null ? Math.min(r.processesPerNode ?? total, total) : (r.processesPerNode ?? 1)
  return { total, perNode, nodes: r.nodeCount ?? Math.ceil(total / perNode) }
}

export const choosePartition = ({ queueNative, spec }: RunSpec) => queueNative['partition'] ?? spec.queue

export function makeOptions(run: RunSpec, limits: ClusterLimits): string[] {
  const { spec, queueNative, reservationNativeId } = run
  const own = new Map<string, string | true>([
    ['job-name', spec.name ?? run.jobId],
    ['comment', run.runId],
    ['no-requeue', true],
    ['chdir', '/'],
    ['input', '/dev/null'],
    ['output', '/dev/null'],
    ['error', '/dev/null'],
    ['partition', choosePartition(run)],
    ['time', String(limitMinutes(run, limits))],
    ...(spec.project === null ? [] : [['account', spec.project] as const]),
    ...(reservationNativeId === null ? [] : [['reservation', reservationNativeId] as const]),
    ...amountsOf(spec.resources, limits.gpuTypes(choosePartition(run))),
  ])
  const operator = Object.entries(queueNative).filter(([name]) => name !== 'partition')
  for (const [name, value] of operator) own.set(...givenByOperator(name, value))
  for (const [attribute, value] of Object.entries(spec.customAttributes ?? {}))
    if (attribute.startsWith(prefix)) own.set(...givenByJob(attribute, value))
  return [...own].flatMap(([name, value]) => (value === true ? `--${name}` : value === '' ? [] : `--${name}=${value}`))
}

type Option = [string, string | true]

function givenByOperator(name: string, value: unknown): Option {
  const where = `queues[].native.${name}`
  if (ofJobs.has(name) || ofOperators.has(name)) return given(where, name, value)
  const all = [...ofJobs, ...ofOperators].toSorted().join(', ')
  throw refuseSpec(`${where}: ${name} is not an option for operators; use one of ${all}`)
}

function givenByJob(attribute: string, value: unknown): Option {
  const name = attribute.slice(prefix.length)
  const refusal = findOptionRefusal(attribute, name, optionRules)
  if (refusal !== null) throw refuseSpec(refusal)
  return given(attribute, name, value)
}

/** Returns the option; '' if it is switched off. */
function given(where: string, name: string, value: unknown): Option {
  if (!isOptionValue(value))
    throw refuseSpec(`${where}: ${JSON.stringify(value)} must be one line of text, a number, true or false`)
  if (typeof value === 'boolean') return [name, value ? true : '']
  return [name, String(value)]
}

function amountsOf(r: Resources, gpuTypes: readonly string[] | null): [string, string | true][] {
  const { total, perNode, nodes } = countTasks(r)
  const isPerProcess = r.cpuCoresPerProcess !== null || r.gpuCoresPerProcess !== null
  const gpus = isPerProcess ? perNode * (r.gpuCoresPerProcess ?? 0) : r.gpu
  const options: [string, string | true][] = [
    ['nodes', String(nodes)],
    ['ntasks', String(total)],
    ['cpus-per-task', String(countCpusPerTask(r))],
    ['mem', `${Math.ceil(r.memoryBytes / 1024 ** 2)}M`],
  ]
  if (nodes > 1) options.push(['ntasks-per-node', String(perNode)])
  if (gpus > 0) options.push(['gres', gpusOf(r.gpuModel, gpuTypes, gpus)])
  if (r.infiniband) options.push(['constraint', infinibandFeature])
  if (r.exclusiveNodeUse) options.push(['exclusive', true])
  return options
}

/** Slurm allocates whole processors, and at least one to each process. */
export function countCpusPerTask(r: Resources): number {
  if (r.cpuCoresPerProcess !== null || r.gpuCoresPerProcess !== null) return Math.ceil(r.cpuCoresPerProcess ?? 1)
  return Math.max(1, Math.ceil(r.cpu / countTasks(r).perNode))
}

/** Translates GPU models to Slurm's types. A job requests one type, or any. */
function gpusOf(filters: readonly string[], types: readonly string[] | null, count: number): string {
  const matching = types?.filter((type) => matchesAll(filters, type)) ?? []
  const typed = matching.filter((type) => type !== untypedGpu)
  const named = typed.filter((type) => filters.some((filter) => filter.toLowerCase() === type.toLowerCase()))
  const isAny = named.length === 0 && matching.length > 0 && matching.length === types?.length
  if (filters.length === 0 || isAny) return `gpu:${count}`
  // If no type matches, the requested model is passed on unchanged.
  const [type = '', ...others] = matching.length === 0 ? filters : named.length > 0 ? named : typed
  if (others.length === 0 && type !== untypedGpu && /^[\w.-]+$/.test(type)) return `gpu:${type}:${count}`
  const given = `resources.gpuModel ${filters.join(', ')}`
  if (types === null) throw new StartFailed('NODE_TROUBLE', `${given}: Slurm has not reported its types of GPUs yet`)
  throw refuseSpec(`${given}: Slurm takes one type of GPU, and of ${namesOf(types)} this matches ${namesOf(matching)}`)
}

const namesOf = (types: readonly string[]) =>
  types.map((type) => (type === untypedGpu ? 'GPUs without a type' : type)).join(', ') || 'none'

/**
 * The time limit in minutes, rounded up; 0: unlimited. A partition never starts a job whose limit is above its own, so
 * the limit is at most that.
 */
export function limitMinutes(run: RunSpec, { deadlineSlackSeconds, minutesMax }: ClusterLimits): number {
  const { maxRunTimeSeconds } = run.spec
  const asked = maxRunTimeSeconds > 0 ? Math.ceil((maxRunTimeSeconds + deadlineSlackSeconds) / 60) : 0
  const most = minutesMax(choosePartition(run))
  if (most === null) return asked
  return asked === 0 ? most : Math.min(asked, most)
}

const refuseSpec = (message: string) => new StartFailed('BAD_SPEC', message)
