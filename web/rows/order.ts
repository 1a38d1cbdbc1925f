import type { JobOrderField, OrderDirection } from '../generated/graphql.ts'
import type { JobRow } from './job-store.ts'

export interface ListOrder {
  field: Extract<JobOrderField, 'CREATED_AT' | 'FINISHED_AT'>
  direction: OrderDirection
}

/** What a list is ordered by; jobs that are not final come after all others. */
function readKey(row: JobRow, field: ListOrder['field']): number {
  if (field === 'CREATED_AT') return Date.parse(row.createdAt)
  return row.finishedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(row.finishedAt)
}

/** As the server orders; ids decide between equal keys. */
export function compareRows({ field, direction }: ListOrder): (a: JobRow, b: JobRow) => number {
  const sign = direction === 'ASC' ? 1 : -1
  return (a, b) => {
    const [first, second] = [readKey(a, field), readKey(b, field)]
    if (first !== second) return first < second ? -sign : sign
    return a.id === b.id ? 0 : a.id < b.id ? -sign : sign
  }
}

interface Merge {
  rows: readonly JobRow[]
  arrivals: readonly JobRow[]
  order: ListOrder
  /** The rows are the whole list: an arrival may come last. */
  isWhole: boolean
}

/** Puts arrivals at their places. Rows keep their order among each other where it still holds. */
export function mergeArrivals({ rows, arrivals, order, isWhole }: Merge): readonly JobRow[] {
  const compare = compareRows(order)
  const last = rows.at(-1)
  const within = isWhole || !last ? arrivals : arrivals.filter((row) => compare(row, last) < 0)
  const known = new Set(rows.map(({ id }) => id))
  return [...rows, ...within.filter(({ id }) => !known.has(id))].toSorted(compare)
}
