/** A row of a list in which equal rows that follow each other are one row. */
export interface Folded<Row> {
  row: Row
  /** The equal rows, for the first of them; null: it stands alone, or follows the first. */
  equal: readonly Row[] | null
  isOpen: boolean
}

const foldFrom = 3

/** `open`: keys of rows whose equal rows are all shown. */
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
