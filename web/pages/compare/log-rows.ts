import { type ChangeObject, diffArrays } from 'diff'

export interface LogRow {
  kind: 'BOTH' | 'FIRST' | 'SECOND'
  text: string
  /** Number of the line in the first and in the second log; null: this log does not have the line. */
  lines: readonly [number | null, number | null]
}

/** A range of equal lines that is not shown. */
export interface Fold {
  kind: 'FOLD'
  count: number
}

export interface LogRows {
  rows: readonly (LogRow | Fold)[]
  added: number
  removed: number
  /** true: there are more rows. */
  isCut: boolean
}

const shownAround = 3
const rowsMax = 1_000
/** Maximum number of edits. The time grows with its square, up to about half a second. */
const editsMax = 3_000

/** Compares two logs by lines; null: the logs differ in more than `editsMax` lines. */
export function diffLogs(first: readonly string[], second: readonly string[]): LogRows | null {
  const changes = diffArrays([...first], [...second], { maxEditLength: editsMax })
  if (!changes) return null
  const rows = foldEqual(listRows(changes))
  const count = (kind: LogRow['kind']) =>
    changes.reduce((sum, { count: lines, added, removed }) => {
      const isOf = kind === 'SECOND' ? added : removed
      return isOf ? sum + lines : sum
    }, 0)
  return {
    rows: rows.slice(0, rowsMax),
    added: count('SECOND'),
    removed: count('FIRST'),
    isCut: rows.length > rowsMax,
  }
}

function listRows(changes: readonly ChangeObject<string[]>[]): LogRow[] {
  let [first, second] = [0, 0]
  return changes.flatMap(({ value, added, removed }) =>
    value.map((text): LogRow => {
      if (added) return { kind: 'SECOND', text, lines: [null, ++second] }
      if (removed) return { kind: 'FIRST', text, lines: [++first, null] }
      return { kind: 'BOTH', text, lines: [++first, ++second] }
    }),
  )
}

/** Folds equal lines, except a few around each change. */
function foldEqual(rows: readonly LogRow[]): (LogRow | Fold)[] {
  const isNear = new Set<number>()
  for (const [i, { kind }] of rows.entries())
    if (kind !== 'BOTH') for (let at = i - shownAround; at <= i + shownAround; at++) isNear.add(at)
  const folded: (LogRow | Fold)[] = []
  for (const [i, row] of rows.entries()) {
    const last = folded.at(-1)
    if (isNear.has(i)) folded.push(row)
    else if (last?.kind === 'FOLD') last.count++
    else folded.push({ kind: 'FOLD', count: 1 })
  }
  return folded
}
