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
