import { useState } from 'react'
import { type Folded, foldRows } from './fold-rows.ts'
import styles from './folds.module.css'

export type { Folded }

interface FoldOptions<Row> {
  getKey: (row: Row) => string
  /** Returns a text that is the same for equal rows. */
  describe: (row: Row) => string
  /** The key of a row that must not be hidden. */
  shownKey?: string | undefined
}

/** Folds consecutive equal rows until the user opens them. */
export function useFolds<Row>(rows: readonly Row[], { getKey, describe, shownKey }: FoldOptions<Row>) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const all = shownKey === undefined ? open : new Set([...open, shownKey])
  const toggle = ({ equal, isOpen }: Folded<Row>) => {
    const next = new Set(open)
    for (const row of equal ?? []) isOpen ? next.delete(getKey(row)) : next.add(getKey(row))
    setOpen(next)
  }
  return { folded: foldRows(rows, { getKey, describe, open: all }), toggle }
}

/** The button "12 ×", which shows or hides the equal rows. */
export function FoldButton<Row>({ folded, toggle }: { folded: Folded<Row>; toggle: (folded: Folded<Row>) => void }) {
  if (!folded.equal) return null
  const { length } = folded.equal
  return (
    <button
      type="button"
      className={styles.fold}
      aria-expanded={folded.isOpen}
      aria-label={`${length} equal rows`}
      onClick={() => toggle(folded)}
    >
      {length} ×
    </button>
  )
}
