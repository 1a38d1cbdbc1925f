import type { Lane } from '../../domain/lanes.ts'
import type { JobClass } from './model.ts'

export type ClassOrBand = JobClass | 'INTERACTIVE'

/** Classifies jobs by the total number of GPUs of their copies. */
export function classifyLane({ interactive, preemptable, shape }: Lane): ClassOrBand {
  if (interactive) return 'INTERACTIVE'
  const gpus = shape.gpu * shape.copies
  const size = gpus === 0 ? 'CPU' : gpus === 1 ? 'GPU1' : 'GPUN'
  return preemptable ? `${size}_PREEMPTABLE` : size
}

export const isForGpus = (jobClass: ClassOrBand): boolean => jobClass.startsWith('GPU')
