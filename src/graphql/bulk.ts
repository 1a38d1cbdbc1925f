import { limits } from './limits.ts'

/** Mutations of many: a thousand answers with a few fields of each job fit into what one request may cost. */
export const bulkCost = (items: readonly unknown[]) => ({
  field: 1,
  multiplier: Math.min(items.length, limits.bulkMax),
})
