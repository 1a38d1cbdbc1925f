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
  indexOf(line: number): number
  slice(from: number, to: number): Row[]
}

/** `gaps` in the order of their lines; there are few of them, and up to billions of lines. */
export function buildRows(lineCount: number, gaps: readonly Gap[]): Rows {
  const places = gaps.map((gap, i) => Math.min(gap.beforeLine, lineCount + 1) - 1 + i)
  const at = (index: number): Row | undefined => {
    if (index < 0 || index >= lineCount + gaps.length) return undefined
    let before = 0
    while (before < places.length && (places[before] ?? 0) < index) before++
    const gap = places[before] === index ? gaps[before] : undefined
    if (gap) return { key: `gap ${before}`, number: Math.min(gap.beforeLine, Math.max(1, lineCount)), gap }
    const number = index - before + 1
    return { key: String(number), number, gap: null }
  }
  return {
    count: lineCount + gaps.length,
    at,
    indexOf: (line) => line - 1 + gaps.filter(({ beforeLine }) => beforeLine <= line).length,
    slice: (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => at(from + i)).filter((row) => !!row),
  }
}
