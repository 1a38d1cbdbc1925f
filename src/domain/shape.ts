import type { Violation } from './errors.ts'
import { countCopies, countProcesses, type Resources } from './spec.ts'

/** Requested resources of a job: a number of copies, each on one node. All amounts are integers. */
export interface Shape {
  copies: number
  /** true: the job requests nodes, so a backend that chooses nodes gives each copy a node of its own. */
  distinctNodes: boolean
  cpuMillis: number
  memoryBytes: number
  gpu: number
  gpuMemoryBytes: number | null
  gpuTensorCores: boolean
  cudaVersion: string | null
  cpuModel: readonly string[]
  gpuModel: readonly string[]
  infiniband: boolean
  gpuIds: readonly number[] | null
  anyGpu: boolean
  exclusive: boolean
}

/** The last copy may have fewer tasks, with the same amounts. */
function tasksPerCopy(r: Resources): number {
  if (r.nodeCount !== null) return r.processesPerNode ?? 1
  return Math.min(r.processesPerNode ?? Number.POSITIVE_INFINITY, countProcesses(r))
}

export function toShape(r: Resources): Shape {
  const tasks = tasksPerCopy(r)
  const perProcess = r.cpuCoresPerProcess !== null || r.gpuCoresPerProcess !== null
  return {
    copies: countCopies(r),
    distinctNodes: r.nodeCount !== null || r.processesPerNode !== null,
    cpuMillis: Math.ceil((perProcess ? tasks * (r.cpuCoresPerProcess ?? 1) : r.cpu) * 1000),
    memoryBytes: r.memoryBytes,
    gpu: perProcess ? tasks * (r.gpuCoresPerProcess ?? 0) : r.gpu,
    gpuMemoryBytes: r.gpuMemoryBytes,
    gpuTensorCores: r.gpuTensorCores === true,
    cudaVersion: r.cudaVersion,
    cpuModel: r.cpuModel,
    gpuModel: r.gpuModel,
    infiniband: r.infiniband,
    gpuIds: r.gpuIds,
    anyGpu: r.anyGpu,
    exclusive: r.exclusiveNodeUse,
  }
}

/** Computes the amounts of all copies together, for a job on one machine. */
export function toMachineAmounts(resources: Resources): Pick<Shape, 'cpuMillis' | 'memoryBytes'> {
  const { copies, cpuMillis, memoryBytes } = toShape(resources)
  return { cpuMillis: copies * cpuMillis, memoryBytes: copies * memoryBytes }
}

const coresMax = 1_000_000
const gpusMax = 1_000_000
const bytesMax = Number.MAX_SAFE_INTEGER

/** Lists totals over all copies that do not fit into the columns of the tables. */
export function listOversizedAmounts({ copies, cpuMillis, memoryBytes, gpu }: Shape): Violation[] {
  const found: Violation[] = []
  const refuse = (field: string, message: string) => found.push({ path: ['spec', 'resources', field], message })
  if (copies * cpuMillis > coresMax * 1000) refuse('cpu', 'All replicas together must request at most 1,000,000 cores')
  if (copies * memoryBytes > bytesMax) refuse('memoryBytes', 'All replicas together must request at most 8 PiB')
  if (copies * gpu > gpusMax) refuse('gpu', 'All replicas together must request at most 1,000,000 GPUs')
  return found
}

/** true: the name contains every filter, ignoring case. `!x` excludes names that contain x. */
export function matchesAll(filters: readonly string[], name: string): boolean {
  const lower = name.toLowerCase()
  return filters.every((filter) =>
    filter.startsWith('!') ? !lower.includes(filter.slice(1).toLowerCase()) : lower.includes(filter.toLowerCase()),
  )
}

export const GiB = 1024 ** 3

export const formatGib = (bytes: number): string => `${Math.round((bytes / GiB) * 10) / 10} GiB`

export function describeFilters({
  gpu,
  gpuMemoryBytes,
  gpuTensorCores,
  cudaVersion,
  gpuModel,
  gpuIds,
  anyGpu,
}: Shape): string {
  const like = [
    ...(gpuMemoryBytes === null ? [] : [`${formatGib(gpuMemoryBytes)} each`]),
    ...(gpuTensorCores ? ['tensor cores'] : []),
    ...(cudaVersion === null ? [] : [`CUDA ${cudaVersion}`]),
    ...(gpuModel.length === 0 ? [] : [`model ${gpuModel.join(', ')}`]),
    ...(gpuIds !== null && !anyGpu ? [idsInWords(gpuIds, gpu)] : []),
  ]
  return like.length === 0 ? '' : ` (${like.join('; ')})`
}

function idsInWords(gpuIds: readonly number[], gpu: number): string {
  if (gpuIds.length > gpu) return `with ids among ${gpuIds.join(', ')}`
  return `with id${gpuIds.length > 1 ? 's' : ''} ${gpuIds.join(', ')}`
}

export function describeShape(shape: Shape): string {
  const { copies, distinctNodes, cpuMillis, memoryBytes, gpu, cpuModel, infiniband } = shape
  const each = [
    `${cpuMillis / 1000} cpu${cpuModel.length === 0 ? '' : ` (model ${cpuModel.join(', ')})`}`,
    formatGib(memoryBytes),
    ...(gpu > 0 ? [`${gpu} GPU${gpu > 1 ? 's' : ''}${describeFilters(shape)} on one node`] : []),
    ...(infiniband ? ['InfiniBand'] : []),
  ].join(', ')
  return copies > 1 ? `${copies} × (${each})${distinctNodes ? ` on ${copies} nodes` : ''}` : each
}
