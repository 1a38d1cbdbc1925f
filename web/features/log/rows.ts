import type { Group } from './groups.ts'
import type { Gap } from './log-lines.ts'

/** Rows of a log view: the lines, and gaps at their places between them. */
export interface Row {
  key: string
  /** Of the line, or of the line after the gap. */
  number: number
  gap: Gap | null
}

export interface Rows {
  count: number
  at(index: number): Row | undefined
  /** The row of a line, or of the next one that is shown. */
  indexOf(line: number): number
  slice(from: number, to: number): Row[]
}

/** The index of the first item that is not smaller than a value. */
export function findFirst(items: readonly number[], value: number): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** `gaps` in the order of their lines; there are few of them, and up to billions of lines. `only`: these lines. */
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

const tickPx = 2

/** Ticks at the places that have some of these lines, in as many steps as there are pixels for ticks. */
export function drawTicks(lines: readonly number[], rows: Pick<Rows, 'count' | 'at'>, heightPx: number): string {
  const steps = Math.floor(heightPx / tickPx)
  let path = ''
  for (let step = 0; step < steps && lines.length > 0; step++) {
    const [from, to] = [step, step + 1].map((each) => Math.ceil((each * rows.count) / steps)) as [number, number]
    const next = lines[findFirst(lines, rows.at(from)?.number ?? 0)]
    // Lines of a folded group are ticks of its first line.
    if (to > from && next !== undefined && next < (rows.at(to)?.number ?? Number.POSITIVE_INFINITY))
      path += `M0 ${step * tickPx + tickPx / 2}h8`
  }
  return path
}
