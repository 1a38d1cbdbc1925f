/** A row of a list that shows consecutive equal rows as one row. */
export interface Folded<Row> {
  row: Row
  /** Set in the first of several equal rows: all of them. null: the row has no equal neighbour, or is not the first. */
  equal: readonly Row[] | null
  isOpen: boolean
}

const foldFrom = 3

/** Folds consecutive equal rows. `open`: keys of first rows whose equal rows are all shown. */
export function foldRows<Row>(
  rows: readonly Row[],
  {
    getKey,
    describe,
    open,
  }: { getKey: (row: Row) => string; describe: (row: Row) => string; open: ReadonlySet<string> },
): Folded<Row>[] {
  const groups: Row[][] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last?.[0] && describe(last[0]) === describe(row)) last.push(row)
    else groups.push([row])
  }
  return groups.flatMap((equal) => {
    if (equal.length < foldFrom) return equal.map((row) => ({ row, equal: null, isOpen: false }))
    const isOpen = equal.some((row) => open.has(getKey(row)))
    return equal.slice(0, isOpen ? equal.length : 1).map((row, i) => ({ row, equal: i === 0 ? equal : null, isOpen }))
  })
}
