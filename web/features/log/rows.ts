import type { Group } from './groups.ts'
import type { Gap } from './log-lines.ts'

/** A row of the log view: a line, or a gap between lines. */
export interface Row {
  key: string
  /** The number of the line, or of the line after the gap. */
  number: number
  gap: Gap | null
}

export interface Rows {
  count: number
  at(index: number): Row | undefined
  /** Returns the index of the row of a line or, if it is not shown, of the next shown line. */
  indexOf(line: number): number
  slice(from: number, to: number): Row[]
}

/** Finds the index of the first item >= `value` in a sorted array. */
export function findFirst(items: readonly number[], value: number): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Builds rows on demand, because a log may have billions of lines. `gaps` must be sorted. `only`: the lines to show. */
export function buildRows(lineCount: number, gaps: readonly Gap[], only: readonly number[] | null = null): Rows {
  const shownCount = only?.length ?? lineCount
  const numberAt = (index: number) => (only ? (only[index] ?? 0) : index + 1)
  const countBefore = (line: number) => (only ? findFirst(only, line) : Math.min(line, lineCount + 1) - 1)
  const places = gaps.map((gap, i) => countBefore(gap.beforeLine) + i)
  const at = (index: number): Row | undefined => {
    if (index < 0 || index >= shownCount + gaps.length) return undefined
    const before = findFirst(places, index)
    const gap = places[before] === index ? gaps[before] : undefined
    if (gap) return { key: `gap ${before}`, number: Math.min(gap.beforeLine, Math.max(1, lineCount)), gap }
    const number = numberAt(index - before)
    return { key: String(number), number, gap: null }
  }
  return {
    count: shownCount + gaps.length,
    at,
    indexOf: (line) => countBefore(line) + gaps.filter(({ beforeLine }) => beforeLine <= line).length,
    slice: (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => at(from + i)).filter((row) => !!row),
  }
}

/** Hides the lines of folded groups except the first. A group whose first line is not shown stays open. */
export function hideGroups(rows: Rows, folded: readonly Group[]): Rows {
  /** Hidden rows from `begin` to before `end`. `before`: number of hidden rows above; `sum`: `before` and these. */
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

const tickPx = 2

/** Returns an SVG path with a tick for each part of the scroll bar in which at least one of the lines lies. */
export function drawTicks(lines: readonly number[], rows: Pick<Rows, 'count' | 'at'>, heightPx: number): string {
  const steps = Math.floor(heightPx / tickPx)
  let path = ''
  for (let step = 0; step < steps && lines.length > 0; step++) {
    const [from, to] = [step, step + 1].map((each) => Math.ceil((each * rows.count) / steps)) as [number, number]
    const next = lines[findFirst(lines, rows.at(from)?.number ?? 0)]
    // Lines of a folded group are marked at its first line.
    if (to > from && next !== undefined && next < (rows.at(to)?.number ?? Number.POSITIVE_INFINITY))
      path += `M0 ${step * tickPx + tickPx / 2}h8`
  }
  return path
}
