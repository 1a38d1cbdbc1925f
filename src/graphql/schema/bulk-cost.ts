import { limits, questionCost } from '../caller-limits.ts'

/** Cost of a bulk mutation: 1,000 results with a few fields per job fit into the budget of one request. */
export const bulkCost = (items: readonly unknown[], field = 1) => ({
  field,
  multiplier: Math.min(items.length, limits.bulkMax),
})

interface Wish {
  dryRun?: boolean | null | undefined
  noWait?: boolean | null | undefined
}

/** Dry runs and submissions with `noWait` wait for the leader of their pool. */
export const submissionCost = (inputs: readonly Wish[]) =>
  1 + questionCost * inputs.filter(({ dryRun, noWait }) => dryRun || noWait).length
