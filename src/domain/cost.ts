import { Prisma } from '../platform/generated/client.ts'
import type { Tx } from '../platform/tx.ts'
import { storeAppliedSetting } from './applied.ts'
import type { JobSpec } from './spec.ts'

/**
 * Cost of jobs in pools with prices. The expected cost is the submitter's estimate, or the price of all resources for
 * the longest time of all attempts, whichever is greater. The measured cost of a run is that of its resources from
 * RUNNING to its end. Quotas count the expected cost until the job is over; runs after an interruption are added.
 */

export interface Rates {
  cpuHour: number
  gpuHour: number
  /** ISO 4217 code. Amounts are never converted between currencies. */
  currency: string
}

const hourSeconds = 3_600

interface ExpectedCost {
  /** null: unknown. */
  cost: number | null
  /** true: the job has no maximum run time on priced resources, so it exceeds every limit on cost. */
  isUnbounded: boolean
}

/** `cpuMillis`, `gpu`: maximum amounts that all copies of the job may hold. */
export function computeExpectedCost(
  spec: JobSpec,
  rates: Rates | null,
  { cpuMillis, gpu }: { cpuMillis: number; gpu: number },
): ExpectedCost {
  const perHour = rates ? (cpuMillis / 1_000) * rates.cpuHour + gpu * rates.gpuHour : 0
  if (perHour === 0) return { cost: spec.estimatedCost, isUnbounded: false }
  const seconds = spec.maxRunTimeSeconds > 0 ? spec.maxRunTimeSeconds : spec.durationSeconds
  if (seconds === null) return { cost: spec.estimatedCost, isUnbounded: true }
  const attempts = spec.retry?.maxAttempts ?? 1
  const price = roundToDigits((attempts * perHour * seconds) / hourSeconds)
  return { cost: Math.max(spec.estimatedCost ?? 0, price), isUnbounded: false }
}

/** Rounds to the 15 reliable digits of a double, so that 3 × 0.1 is 0.3. */
const roundToDigits = (amount: number) => Number(amount.toPrecision(15))

/** SQL for the cost of a run that ends at `ended`; 0: it was never RUNNING. The query must include `run` and `pool`. */
export const makeMeasuredCostSql = (ended: string) => `
  coalesce(greatest(extract(epoch FROM ${ended} - run.started_at)::float8, 0) / ${hourSeconds} * (
    (pool.rates->>'cpuHour')::float8 * (SELECT coalesce(sum(a.cpu_millis), 0) FROM allocation a WHERE a.run_id = run.id) / 1000
    + (pool.rates->>'gpuHour')::float8 * (SELECT count(*) FROM held_device c WHERE c.run_id = run.id)), 0)`

export async function applyRates(tx: Tx, pool: string, rates: Rates | null): Promise<boolean> {
  const applied = await storeAppliedSetting(tx, `rates/${pool}`, rates)
  if (!applied || (rates === null && applied.last === undefined)) return false
  await tx.prisma.pool.update({ where: { name: pool }, data: { rates: rates ? { ...rates } : Prisma.DbNull } })
  return true
}
