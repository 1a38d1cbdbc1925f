import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, useCallback, useEffect, useRef, useState } from 'react'
import { useKeys } from '../../app/keys.ts'
import { useMedia } from '../../app/media.ts'
import { useSettings } from '../../app/settings.ts'
import type { ListView } from '../../rows/job-list.ts'
import { JobLine } from './job-line.tsx'
import styles from './job-table.module.css'

interface JobTableProps {
  view: ListView
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  onNearEnd: () => void
  onShow: (from: number, to: number) => void
  onPointer: (isOver: boolean) => void
  onScrolled: (isScrolled: boolean) => void
}

const heights = { COMPACT: 28, NORMAL: 36, TOUCH: 44 } as const
const phoneHeight = 56
const rowsAhead = 300
const overscan = 12

/** Rows of fixed height, of which only those in sight are in the page. */
export function JobTable(props: JobTableProps) {
  const { view, selected, onSelect, onNearEnd, onShow, onPointer, onScrolled } = props
  const { ids, departed, hasMore } = view
  const box = useRef<HTMLDivElement>(null)
  const { density } = useSettings()
  const isPhone = useMedia('(max-width: 640px)')
  const isCoarse = useMedia('(pointer: coarse)')
  const height = isPhone ? phoneHeight : isCoarse ? heights.TOUCH : heights[density]
  const rows = useVirtualizer({
    count: ids.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (i) => ids[i] ?? i,
    overscan,
  })
  // Another height is another layout.
  useEffect(() => rows.measure(), [height])
  const items = rows.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => onShow(first, last + 1), [first, last, onShow])
  useEffect(() => {
    if (hasMore && last >= ids.length - rowsAhead) onNearEnd()
  }, [hasMore, last, ids.length, onNearEnd])
  const { focused, move } = useRowKeys({ ids, selected, onSelect, reveal: (i) => rows.scrollToIndex(i) })
  const select = useSelection(ids, selected, onSelect)
  const isAll = selected.size > 0 && ids.every((id) => selected.has(id))
  return (
    <div
      ref={box}
      className={styles.box}
      onPointerEnter={({ pointerType }) => pointerType === 'mouse' && onPointer(true)}
      onPointerLeave={() => onPointer(false)}
      onScroll={({ currentTarget }) => onScrolled(currentTarget.scrollTop > 0)}
    >
      <div role="table" aria-label="Jobs" aria-rowcount={hasMore ? -1 : ids.length}>
        <TableHead isAll={isAll} onSelectAll={() => onSelect(new Set(isAll ? [] : ids))} />
        <div role="rowgroup" className={styles.rows} style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const id = ids[index] ?? ''
            return (
              <JobLine
                key={key}
                id={id}
                index={index}
                top={start}
                height={height}
                isPhone={isPhone}
                isSelected={selected.has(id)}
                isDeparted={departed.has(id)}
                isFocused={focused === index}
                onFocus={move}
                onSelect={select}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

function TableHead({ isAll, onSelectAll }: { isAll: boolean; onSelectAll: () => void }) {
  return (
    <div role="row" tabIndex={-1} className={`${styles.line} ${styles.head}`}>
      <span role="columnheader" className={styles.check}>
        <input type="checkbox" aria-label="Select all rows that were read" checked={isAll} onChange={onSelectAll} />
      </span>
      <span role="columnheader">State</span>
      <span role="columnheader">Name</span>
      <span role="columnheader" className={styles.who}>
        Who
      </span>
      <span role="columnheader" className={styles.where}>
        Where, or why it waits
      </span>
      <span role="columnheader" className={`${styles.waited} ${styles.number}`}>
        Waited
      </span>
      <span role="columnheader" className={`${styles.ran} ${styles.number}`}>
        Ran
      </span>
      <span role="columnheader" className={`${styles.ends} ${styles.number}`}>
        Submitted
      </span>
    </div>
  )
}

/** A click selects one row more; with Shift all rows from the last one. */
function useSelection(
  ids: readonly string[],
  selected: ReadonlySet<string>,
  onSelect: (ids: ReadonlySet<string>) => void,
) {
  const anchor = useRef(0)
  const latest = useRef({ ids, selected, onSelect })
  latest.current = { ids, selected, onSelect }
  return useCallback((index: number, event?: MouseEvent) => {
    const { ids, selected, onSelect } = latest.current
    const next = new Set(selected)
    const id = ids[index] ?? ''
    if (event?.shiftKey) {
      const [from, to] = [Math.min(anchor.current, index), Math.max(anchor.current, index)]
      for (const each of ids.slice(from, to + 1)) next.add(each)
    } else if (!next.delete(id)) next.add(id)
    anchor.current = index
    onSelect(next)
  }, [])
}

interface RowKeys {
  ids: readonly string[]
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  reveal: (index: number) => void
}

function useRowKeys({ ids, selected, onSelect, reveal }: RowKeys) {
  const navigate = useNavigate()
  const [focused, setFocused] = useState(-1)
  const step = (by: number) => {
    const next = Math.max(0, Math.min(ids.length - 1, focused + by))
    setFocused(next)
    reveal(next)
  }
  useKeys('Rows', [
    { keys: 'j', help: 'Next row', run: () => step(1) },
    { keys: 'k', help: 'Previous row', run: () => step(-1) },
    {
      keys: 'x',
      help: 'Select the row',
      run: () => {
        const id = ids[focused]
        if (id === undefined) return
        const next = new Set(selected)
        if (!next.delete(id)) next.add(id)
        onSelect(next)
      },
    },
    {
      keys: 'o',
      help: 'Open the row',
      run: () => {
        const id = ids[focused]
        if (id !== undefined) void navigate({ to: '/jobs/$id', params: { id } })
      },
    },
  ])
  return { focused, move: setFocused }
}
