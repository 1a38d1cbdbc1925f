import type { RunUsageQuery } from '../../generated/graphql.ts'
import { bytesUnit, type ChartUnit, numberUnit, percentUnit } from '../../parts/chart-units.ts'
import type { Spec } from '../spec/spec-input.ts'

type Sample = NonNullable<Extract<NonNullable<RunUsageQuery['node']>, { samples: unknown }>['samples']>[number]

/** A measured value of the usage samples, and the amount that the job requested. */
interface Measure {
  title: string
  unit: ChartUnit
  read: (sample: Sample) => number | null
  /** Returns the requested amount; null: the spec does not request this. */
  asked: (spec: Spec) => number | null
}

const replicas = (spec: Spec) => spec.resources.replicas

export const measures: readonly Measure[] = [
  {
    title: 'Processor, cores',
    unit: numberUnit,
    read: ({ cpu }) => cpu,
    asked: (spec) => spec.resources.cpu * replicas(spec),
  },
  {
    title: 'Memory',
    unit: bytesUnit,
    read: ({ memoryBytes }) => memoryBytes,
    asked: (spec) => spec.resources.memoryBytes * replicas(spec),
  },
  { title: 'GPUs, busy on average', unit: percentUnit, read: ({ gpuPercent }) => gpuPercent, asked: () => null },
  {
    title: 'Memory of the GPUs',
    unit: bytesUnit,
    read: ({ gpuMemoryBytes }) => gpuMemoryBytes,
    asked: ({ resources }) => (resources.gpuMemoryBytes === null ? null : resources.gpuMemoryBytes * resources.gpu),
  },
]

/** "asked 64 GiB, peak 11 GiB". */
export function compareAsked({ unit, read, asked }: Measure, samples: readonly Sample[], spec: Spec): string {
  const values = samples.map(read).filter((value) => value !== null)
  const amount = asked(spec)
  const parts = [
    amount !== null && `asked ${unit.format(amount)}`,
    values.length > 0 && `peak ${unit.format(Math.max(...values))}`,
  ]
  return parts.filter(Boolean).join(', ')
}
