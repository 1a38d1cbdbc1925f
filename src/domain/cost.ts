import { Prisma } from '../platform/generated/client.ts'
import type { Tx } from '../platform/tx.ts'
import { rememberApplied } from './applied.ts'
import { shapeOf } from './shape.ts'
import type { JobSpec } from './spec.ts'

/**
 * What jobs cost. A pool may say what holding a core and a GPU for an hour costs. Before a job runs its cost is what is
 * expected: the greater of what its submitter says and of what all of its resources cost for as long as it may run.
 * From the end of each run on it is what was measured: what the run held, from RUNNING to its end. Quotas count the one
 * until the other replaces it; a job that is to be run again is expected to cost the same once more.
 */
export interface Rates {
  /** One core for an hour. */
  cpuHour: number
  gpuHour: number
  /** Code of ISO 4217; nothing is converted. */
  currency: string
}

const hourSeconds = 3_600

export interface ExpectedCost {
  /** null: nothing is known of it. */
  cost: number | null
  /** It may run for ever on what has a price, so every limit on cost counts as exceeded. */
  isUnbounded: boolean
}

export function expectedCost(spec: JobSpec, rates: Rates | null): ExpectedCost {
  const { copies, cpuMillis, gpu } = shapeOf(spec.resources)
  const perHour = rates ? copies * ((cpuMillis / 1_000) * rates.cpuHour + gpu * rates.gpuHour) : 0
  if (perHour === 0) return { cost: spec.estimatedCost, isUnbounded: false }
  const seconds = spec.maxRunTimeSeconds > 0 ? spec.maxRunTimeSeconds : spec.durationSeconds
  if (seconds === null) return { cost: spec.estimatedCost, isUnbounded: true }
  return { cost: Math.max(spec.estimatedCost ?? 0, decimal((perHour * seconds) / hourSeconds)), isUnbounded: false }
}

/** Without the noise of binary fractions: 3 × 0.1 is 0.3. A double has no more digits to tell. */
const decimal = (amount: number) => Number(amount.toPrecision(15))

/** What a run costs that ends then, as an expression over `run` and a `pool` with rates; 0: it never was RUNNING. */
export const measuredCostSql = (ended: string) => `
  coalesce(greatest(extract(epoch FROM ${ended} - run.started_at)::float8, 0) / ${hourSeconds} * (
    (pool.rates->>'cpuHour')::float8 * (SELECT coalesce(sum(a.cpu_millis), 0) FROM allocation a WHERE a.run_id = run.id) / 1000
    + (pool.rates->>'gpuHour')::float8 * (SELECT count(*) FROM device_claim c WHERE c.run_id = run.id)), 0)`

/** The rates of a pool as the configuration says them, where that is new or changed; answers whether it is. */
export async function applyRates(tx: Tx, pool: string, rates: Rates | null): Promise<boolean> {
  const applied = await rememberApplied(tx, `rates/${pool}`, rates)
  if (!applied || (rates === null && applied.last === undefined)) return false
  await tx.prisma.pool.update({ where: { name: pool }, data: { rates: rates ? { ...rates } : Prisma.DbNull } })
  return true
}
