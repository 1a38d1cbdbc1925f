import type { JobOrderField, OrderDirection } from '../generated/graphql.ts'
import type { JobRow } from './job-store.ts'

export interface ListOrder {
  field: Extract<JobOrderField, 'CREATED_AT' | 'FINISHED_AT'>
  direction: OrderDirection
}

/** A job at its place in a list: all that a list needs of rows that are far away. */
export interface Entry {
  id: string
  key: number
}

/** What a list is ordered by; jobs that are not final come after all others. */
export function toEntry({ id, createdAt, finishedAt }: JobRow, { field, direction }: ListOrder): Entry {
  if (field === 'CREATED_AT') return { id, key: Date.parse(createdAt) }
  const last = direction === 'DESC' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return { id, key: finishedAt === null ? last : Date.parse(finishedAt) }
}

/** As the server orders; ids decide between equal keys. */
export function compareEntries({ direction }: ListOrder): (a: Entry, b: Entry) => number {
  const sign = direction === 'ASC' ? 1 : -1
  return (a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -sign : sign
    return a.id === b.id ? 0 : a.id < b.id ? -sign : sign
  }
}

interface Merge {
  entries: readonly Entry[]
  arrivals: readonly Entry[]
  order: ListOrder
  /** The entries are the whole list: an arrival may come last. */
  isWhole: boolean
}

/** Puts arrivals at their places. */
export function mergeArrivals({ entries, arrivals, order, isWhole }: Merge): readonly Entry[] {
  const compare = compareEntries(order)
  const last = entries.at(-1)
  const within = isWhole || !last ? arrivals : arrivals.filter((entry) => compare(entry, last) < 0)
  const known = new Set(entries.map(({ id }) => id))
  return [...entries, ...within.filter(({ id }) => !known.has(id))].toSorted(compare)
}
