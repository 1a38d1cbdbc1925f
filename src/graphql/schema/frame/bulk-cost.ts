import { limits, questionCost, scanCost } from '../../caller-limits.ts'

/** Cost of a bulk mutation: 1,000 results with a few fields per job fit into the budget of one request. */
export const bulkCost = (items: readonly unknown[], field = 1) => ({
  field,
  multiplier: Math.min(items.length, limits.bulkMax),
})

interface Selection {
  jobIds?: readonly unknown[] | null | undefined
  matching?: { expectedCount: number } | null | undefined
}

/** Cost of a selection. A filter costs more, because it reads all matching jobs. */
export const selectionCost = ({ jobIds, matching }: Selection) => ({
  field: matching ? scanCost : 1,
  multiplier: countSelected({ jobIds, matching }),
})

export const countSelected = ({ jobIds, matching }: Selection): number =>
  Math.min(jobIds?.length ?? Math.max(matching?.expectedCount ?? 0, 1), limits.bulkMax)

interface Wish {
  noWait?: boolean | null | undefined
}

/** Cost of submissions. Those with `noWait` cost more, because they ask the leader of their pool. */
export const submissionCost = (inputs: readonly Wish[]) =>
  1 + questionCost * inputs.filter(({ noWait }) => noWait).length
