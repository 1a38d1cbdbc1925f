import { useCallback, useRef, useState } from 'react'

interface RowSelection {
  selected: ReadonlySet<string>
  select: (id: string, isRange: boolean) => void
  selectAll: () => void
  clear: () => void
}

const none: ReadonlySet<string> = new Set()

/** A click selects or deselects a row; with Shift, all rows from the last clicked one. */
export function useRowSelection(ids: readonly string[]): RowSelection {
  const [selected, setSelected] = useState(none)
  const anchor = useRef<string | null>(null)
  const latest = useRef(ids)
  latest.current = ids
  const select = useCallback((id: string, isRange: boolean) => {
    const from = latest.current.indexOf(anchor.current ?? '')
    const to = latest.current.indexOf(id)
    anchor.current = id
    setSelected((before) => {
      const next = new Set(before)
      if (isRange && from >= 0 && to >= 0)
        for (const each of latest.current.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(each)
      else if (!next.delete(id)) next.add(id)
      return next
    })
  }, [])
  const selectAll = useCallback(
    () => setSelected((before) => (before.size === latest.current.length ? none : new Set(latest.current))),
    [],
  )
  const clear = useCallback(() => setSelected(none), [])
  return { selected, select, selectAll, clear }
}
