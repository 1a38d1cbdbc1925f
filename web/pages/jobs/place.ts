import type { JobRow } from '../../rows/job-store.ts'

/** Nodes and GPUs of a run; position and reason of a job that waits. */
export function describePlace(job: JobRow): string {
  const { currentRun, scheduling, queuePosition, stateCategory, pool } = job
  if (stateCategory !== 'WAITING') {
    const gpus = currentRun.gpuIds.length > 0 ? `:${currentRun.gpuIds.join(',')}` : ''
    return currentRun.nodeNames.length > 0 ? `${currentRun.nodeNames.join(', ')}${gpus}` : pool.name
  }
  const [reason] = scheduling?.reasons ?? []
  const position = queuePosition === null ? '' : `#${queuePosition} `
  return `${position}${reason?.message ?? pool.name}`
}
