import type { JobOrder } from '../../../generated/graphql.ts'
import type { JobRow } from './job-store.ts'

export type OrderName = 'newest' | 'oldest' | 'priority' | 'start' | 'end'

/** Orders of the job list by their names in the URL. */
export const orders: Readonly<Record<OrderName, JobOrder & { words: string }>> = {
  newest: { field: 'CREATED_AT', direction: 'DESC', words: 'Newest first' },
  oldest: { field: 'CREATED_AT', direction: 'ASC', words: 'Oldest first' },
  priority: { field: 'PRIORITY', direction: 'DESC', words: 'Highest priority first' },
  start: { field: 'STARTED_AT', direction: 'DESC', words: 'Last started first' },
  end: { field: 'FINISHED_AT', direction: 'DESC', words: 'Last ended first' },
}

export const readOrder = (name: string | undefined): OrderName =>
  name !== undefined && name in orders ? (name as OrderName) : 'newest'

/** The id and sort key of a job, which is all that a list keeps of rows far from the visible ones. */
export interface Entry {
  id: string
  key: number
}

/** Takes the sort key from a row. Jobs without a time sort last. */
export function toEntry(row: JobRow, { field, direction }: JobOrder): Entry {
  if (field === 'PRIORITY') return { id: row.id, key: row.priorityOverride ?? row.basePriority }
  const time = { CREATED_AT: row.createdAt, STARTED_AT: row.startedAt, FINISHED_AT: row.finishedAt }[field]
  const last = direction === 'DESC' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return { id: row.id, key: time === null ? last : Date.parse(time) }
}

export type Compare = (a: Entry, b: Entry) => number

/** Returns a comparison in the order of the server. Equal keys are ordered by id. */
export function compareEntries({ direction }: JobOrder): Compare {
  const sign = direction === 'ASC' ? 1 : -1
  return (a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -sign : sign
    return a.id === b.id ? 0 : a.id < b.id ? -sign : sign
  }
}

/** Merges `few` entries into `many`. Both must be sorted. */
export function mergeEntries(many: readonly Entry[], few: readonly Entry[], compare: Compare): Entry[] {
  const merged: Entry[] = []
  let from = 0
  for (const entry of few) {
    const at = findPlace(many, entry, compare)
    for (; from < at; from++) merged.push(many[from] as Entry)
    merged.push(entry)
  }
  for (; from < many.length; from++) merged.push(many[from] as Entry)
  return merged
}

/** Finds the index of the first entry that does not sort before `entry`. */
function findPlace(entries: readonly Entry[], entry: Entry, compare: Compare): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(entries[middle] as Entry, entry) < 0) low = middle + 1
    else high = middle
  }
  return low
}
