import { type MouseEvent, useMemo } from 'react'
import type { Found } from './log-search.ts'
import { drawTicks, type Rows } from './rows.ts'
import styles from './tick-strip.module.css'

interface TickStripProps {
  rows: Rows
  /** The selected line, or the line of the current match. */
  current: number | null
  found: Found | null
  errors: Found | null
  gapLines: readonly number[]
  heightPx: number
  onGo: (line: number) => void
}

/** Marks matches, errors and gaps of the whole log beside the scroll bar. A click scrolls there. */
export function TickStrip({ rows, current, found, errors, gapLines, heightPx, onGo }: TickStripProps) {
  const draw = (lines: readonly number[] = []) => drawTicks(lines, rows, heightPx)
  const paths = {
    error: useMemo(() => draw(errors?.lines), [errors, rows.count, heightPx]),
    match: useMemo(() => draw(found?.lines), [found, rows.count, heightPx]),
    gap: useMemo(() => draw(gapLines), [gapLines, rows.count, heightPx]),
    current: useMemo(() => draw(current === null ? [] : [current]), [current, rows.count, heightPx]),
  }
  const go = ({ clientY, currentTarget }: MouseEvent) => {
    const { top, height } = currentTarget.getBoundingClientRect()
    const row = rows.at(Math.min(rows.count - 1, Math.floor(((clientY - top) / height) * rows.count)))
    if (row) onGo(row.number)
  }
  return (
    // Not focusable, because the keys n, e and `:` reach every tick.
    <button type="button" className={styles.strip} tabIndex={-1} aria-label="Go to a place of the log" onClick={go}>
      <svg className={styles.ticks} aria-hidden="true">
        {Object.entries(paths).map(([kind, path]) => (
          <path key={kind} className={styles[kind]} d={path} />
        ))}
      </svg>
    </button>
  )
}
