import { useState } from 'react'
import { type Folded, foldRows } from './fold-rows.ts'
import styles from './folds.module.css'

export type { Folded }

interface FoldOptions<Row> {
  getKey: (row: Row) => string
  /** Rows with the same text are equal. */
  describe: (row: Row) => string
  /** This row is shown. */
  shownKey?: string | undefined
}

/** Folds equal rows until a person opens them. */
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

/** "12 ×", which shows the equal rows or hides them. */
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
