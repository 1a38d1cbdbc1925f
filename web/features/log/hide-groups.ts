import type { Group } from './groups.ts'
import { findFirst, type Rows } from './rows.ts'

/** Rows without those behind the first line of folded groups. A group whose first line is not shown stays open. */
export function hideGroups(rows: Rows, folded: readonly Group[]): Rows {
  /** Hides rows from `begin` up to, but not including, `end`. `before`: hidden rows above; `sum`: `before` and these. */
  const parts: { begin: number; end: number; before: number; sum: number }[] = []
  for (const { from, to } of folded) {
    const first = rows.indexOf(from)
    const [begin, end] = [first + 1, rows.indexOf(to + 1)]
    const before = parts.at(-1)?.sum ?? 0
    if (rows.at(first)?.number === from && end > begin) parts.push({ begin, end, before, sum: before + end - begin })
  }
  if (parts.length === 0) return rows
  const begins = parts.map(({ begin }) => begin)
  const shownBegins = parts.map(({ begin, before }) => begin - before)
  const count = rows.count - (parts.at(-1)?.sum ?? 0)
  const at = (index: number) => rows.at(index + (parts[findFirst(shownBegins, index + 1) - 1]?.sum ?? 0))
  return {
    count,
    at,
    indexOf(line) {
      const row = rows.indexOf(line)
      const part = parts[findFirst(begins, row + 1) - 1]
      if (!part) return row
      return row < part.end ? part.begin - 1 - part.before : row - part.sum
    },
    slice: (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => at(from + i)).filter((row) => !!row),
  }
}
