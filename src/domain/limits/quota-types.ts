import { listExecutorsWhere, startsProcesses } from '../executors.ts'
import { holdingSql } from '../state.ts'

/** The quantities that quotas limit. Each type is one row. */

interface TypeRow {
  /** The description of the enum value in the schema. */
  description: string
  /** Follows the limit in refusals: "Maximum 5 jobs per day allowed". */
  words: string
  /** UNFINISHED: jobs that are not final. `hours`: jobs submitted in the last hours, deleted or not. */
  counts: 'UNFINISHED' | { hours: number }
  /**
   * SQL of the usage: over jobs `t` in pools `p`, or over entries `t` of the ledger. `filter` selects the rows that the
   * type counts; it follows each aggregate.
   */
  usage(filter: string): string
  /** The amount that a job adds to the usage. null: 1, and nothing but a submission raises the usage. */
  takes: ((job: Taking, executors: readonly string[]) => number) | null
  isCost?: true
  /** Active slot reservations count as well. */
  countsSlots?: true
}

export interface Taking {
  cost: number | null
  /** Maximum number of GPUs that all copies of the job may hold. */
  gpu: number
}

const countSql = (filter: string) => `count(*) ${filter}::int`
/** Adds costs as decimals. The total is limited to the range of a double. */
const costSql = (filter: string) => `least(coalesce(sum(t.cost::text::numeric) ${filter}, 0), 1e300)::float8`
const costOf = ({ cost }: Taking) => cost ?? 0

/** For an exclusive job: the GPUs that it holds; before it starts, the maximum that it may hold. */
const gpusSql = `CASE WHEN t.gpu_most IS NULL THEN t.gpu WHEN t.state NOT IN ${holdingSql} THEN t.gpu_most ELSE (
  SELECT count(*) FROM run r JOIN held_device h ON h.run_id = r.id WHERE r.job_id = t.id AND r.number = t.run_number) END`
const isLocalSql = `p.executors && '{${listExecutorsWhere((each) => each.startsProcesses)}}'`

const table = {
  CONCURRENT_JOBS: {
    description: 'Jobs that are not final, and active slot reservations.',
    words: 'concurrent jobs',
    counts: 'UNFINISHED',
    usage: countSql,
    takes: null,
    countsSlots: true,
  },
  JOBS_PER_HOUR: {
    description: 'Submissions in the last 60 minutes.',
    words: 'jobs per hour',
    counts: { hours: 1 },
    usage: countSql,
    takes: null,
  },
  JOBS_PER_DAY: {
    description: 'Submissions in the last 24 hours.',
    words: 'jobs per day',
    counts: { hours: 24 },
    usage: countSql,
    takes: null,
  },
  COST_PER_DAY: {
    description: 'Cost of the jobs submitted in the last 24 hours.',
    words: 'per day',
    counts: { hours: 24 },
    usage: costSql,
    takes: costOf,
    isCost: true,
  },
  COST_PER_MONTH: {
    description: 'Cost of the jobs submitted in the last 30 days.',
    words: 'per month',
    counts: { hours: 720 },
    usage: costSql,
    takes: costOf,
    isCost: true,
  },
  LOCAL_GPUS: {
    description: 'GPUs requested by jobs that are not final, in pools with the executor `local` or `handler`.',
    words: 'local GPUs',
    counts: 'UNFINISHED',
    usage: () => `coalesce(sum(${gpusSql}) FILTER (WHERE ${isLocalSql}), 0)::bigint`,
    takes: ({ gpu }, executors) => (startsProcesses(executors) ? gpu : 0),
  },
} as const satisfies Record<string, TypeRow>

export type QuotaType = keyof typeof table
export const quotaTypes = Object.keys(table) as readonly QuotaType[]
export const findQuotaType = (type: QuotaType): TypeRow => table[type]

export type Amounts = Readonly<Record<QuotaType, number>>
export const mapQuotaTypes = <T>(each: (row: TypeRow, type: QuotaType) => T) =>
  Object.fromEntries(quotaTypes.map((type) => [type, each(table[type], type)])) as Readonly<Record<QuotaType, T>>

/** The hours of the ledger that a type counts; 0: it counts jobs that are not final. */
export const windowHours = mapQuotaTypes(({ counts }) => (counts === 'UNFINISHED' ? 0 : counts.hours))
export const isCost = ({ type }: { type: QuotaType }): boolean => findQuotaType(type).isCost === true
export const countsSlots = (type: QuotaType): boolean => findQuotaType(type).countsSlots === true
export const countsJobs = (type: QuotaType): boolean => findQuotaType(type).takes === null

export const computeAmounts = (job: Taking, executors: readonly string[]): Amounts =>
  mapQuotaTypes(({ takes }) => takes?.(job, executors) ?? 1)
