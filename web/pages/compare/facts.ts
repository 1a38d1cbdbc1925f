import { formatBytes, formatDuration, formatMoney } from '../../parts/format.ts'
import type { ComparedJob } from './compared-job.ts'

/** A number of a job that can be compared. `read` returns null if it is unknown. */
export interface Amount {
  title: string
  read: (job: ComparedJob, nowMs: number) => number | null
  format: (value: number, job: ComparedJob) => string
}

type Samples = NonNullable<ComparedJob['runs']['nodes'][number]['samples']>

const ms = (at: string) => Date.parse(at)

function readSamples(job: ComparedJob, read: (sample: Samples[number]) => number | null): number[] {
  return (job.runs.nodes[0]?.samples ?? []).map(read).filter((value) => value !== null)
}

const maximum = (values: readonly number[]) => (values.length === 0 ? null : Math.max(...values))
const mean = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

const readUsage = ({ runs }: ComparedJob) => runs.nodes[0]?.usage ?? null

/** Times, usage and cost of the last runs. */
export const amounts: readonly Amount[] = [
  {
    title: 'Waited',
    read: ({ createdAt, startedAt, finishedAt }, nowMs) =>
      Math.max(0, ((startedAt ?? finishedAt) ? ms(startedAt ?? finishedAt ?? '') : nowMs) - ms(createdAt)),
    format: formatDuration,
  },
  {
    title: 'Ran',
    read: ({ currentRun, finishedAt }, nowMs) =>
      currentRun.startedAt === null ? null : (finishedAt === null ? nowMs : ms(finishedAt)) - ms(currentRun.startedAt),
    format: formatDuration,
  },
  {
    title: 'Processor time',
    read: (job) => readUsage(job)?.cpuSeconds ?? null,
    format: (seconds) => `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`,
  },
  {
    title: 'Memory, at most',
    read: (job) => readUsage(job)?.maxMemoryBytes ?? maximum(readSamples(job, ({ memoryBytes }) => memoryBytes)),
    format: formatBytes,
  },
  {
    title: 'GPUs busy, on average',
    read: (job) => mean(readSamples(job, ({ gpuPercent }) => gpuPercent)),
    format: (value) => `${Math.round(value)} %`,
  },
  {
    title: 'GPU memory, at most',
    read: (job) => maximum(readSamples(job, ({ gpuMemoryBytes }) => gpuMemoryBytes)),
    format: formatBytes,
  },
  {
    title: 'Cost',
    read: ({ cost }) => cost?.amount ?? null,
    format: (amount, { cost }) => formatMoney({ amount, currency: cost?.currency ?? null }),
  },
]

const markedFrom = 0.1
const percent = 100
/** Above this factor the first value is too small for a useful percentage. */
const factorMax = 1_000

/** "+20 %" compared with the first job; null: equal, unknown, or above `factorMax`. */
export function describeChange(value: number | null, first: number | null): string | null {
  if (value === null || first === null || first === 0) return null
  const change = Math.round((percent * (value - first)) / first)
  if (change === 0) return null
  if (value > factorMax * first) return null
  return change > 10 * percent ? `× ${Math.round(value / first)}` : `${change > 0 ? '+' : '−'}${Math.abs(change)} %`
}

/** true: the numbers differ by at least a tenth of the greatest, or only some are known. */
export function differ(values: readonly (number | null)[]): boolean {
  const known = values.filter((value) => value !== null)
  if (known.length < values.length) return known.length > 0
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return high - low >= markedFrom * Math.abs(high) && high !== low
}
