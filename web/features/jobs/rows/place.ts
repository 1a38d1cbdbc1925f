import { formatBytes } from '../../../parts/format.ts'
import { formatServerText } from '../../../parts/server-text.ts'
import type { JobRow } from './job-store.ts'

/** Captures the end of a job id, because ids of the same time differ only there. */
const jobId = /\bjob_\w{20}(\w{6})\b/g

/** Shortens `describePlace` for a column: drops "Waiting", which the state says, and abbreviates job ids. */
export const abridgePlace = (job: JobRow): string =>
  describePlace(job)
    .replace(/Waiting (?=for |behind )/, '')
    .replaceAll(jobId, 'job …$1')

/** Returns the nodes and GPUs of a run or, for a waiting job, its position and the reason why it waits. */
export function describePlace(job: JobRow): string {
  const { currentRun, scheduling, stateCategory, pool } = job
  if (stateCategory !== 'WAITING') {
    const gpus = currentRun.gpuIds.length > 0 ? `:${currentRun.gpuIds.join(',')}` : ''
    return currentRun.nodeNames.length > 0 ? `${currentRun.nodeNames.join(', ')}${gpus}` : pool.name
  }
  const [reason] = scheduling?.reasons ?? []
  const position = job.position === null ? '' : `#${job.position} `
  return `${position}${reason ? formatServerText(reason.message) : pool.name}`
}

const hundredth = 100

/** "2 × a100 · 40 GiB each" or "4 cores · 16 GiB". */
export function describeRequest({ resources }: Pick<JobRow, 'resources'>): string {
  if (!resources) return ''
  const { cpu, memoryBytes, gpu, gpuModel, gpuMemoryBytes, replicas } = resources
  const model = gpuModel.length === 1 ? ` ${gpuModel[0]}` : ' GPU'
  const parts =
    gpu > 0
      ? [`${gpu}${model}`, gpuMemoryBytes !== null ? `≥ ${formatBytes(gpuMemoryBytes)}` : formatBytes(memoryBytes)]
      : [`${Math.round(cpu * hundredth) / hundredth} ${cpu === 1 ? 'core' : 'cores'}`, formatBytes(memoryBytes)]
  const one = parts.join(' · ')
  return replicas > 1 ? `${replicas} × (${one})` : one
}
