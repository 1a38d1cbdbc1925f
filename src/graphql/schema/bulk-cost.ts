import { limits, questionCost } from '../caller-limits.ts'

/** Mutations of many: a thousand answers with a few fields of each job fit into what one request may cost. */
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
