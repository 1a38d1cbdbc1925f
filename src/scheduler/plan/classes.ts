import type { Lane } from '../../domain/lanes.ts'
import type { JobClass } from './model.ts'

/** Interactive jobs are outside the classes: they come first and block no other job. */
export type ClassOrBand = JobClass | 'INTERACTIVE'

export const classesOfBatchJobs: readonly JobClass[] = [
  'CPU',
  'CPU_PREEMPTABLE',
  'GPU1',
  'GPU1_PREEMPTABLE',
  'GPUN',
  'GPUN_PREEMPTABLE',
]

/** The class of a job, by the GPUs of all copies together. */
export function classifyLane({ interactive, preemptable, shape }: Lane): ClassOrBand {
  if (interactive) return 'INTERACTIVE'
  const gpus = shape.gpu * shape.copies
  const size = gpus === 0 ? 'CPU' : gpus === 1 ? 'GPU1' : 'GPUN'
  return preemptable ? `${size}_PREEMPTABLE` : size
}

export const isForGpus = (jobClass: ClassOrBand): boolean => jobClass.startsWith('GPU')
