import { type MouseEvent, type RefObject, useEffect, useRef, useState } from 'react'
import type { ListView } from '../../features/jobs/rows/job-list.ts'
import { useMedia } from '../../ground/media.ts'
import { useSettings } from '../../ground/settings.ts'
import { columns as allColumns, defaultColumns, type JobColumn } from './columns.tsx'
import { fitColumns } from './fit-columns.ts'
import { JobLine } from './job-line.tsx'
import styles from './job-table.module.css'
import { useVisibleRows } from './visible-rows.ts'

interface JobTableProps {
  box: RefObject<HTMLDivElement | null>
  view: ListView
  selected: ReadonlySet<string>
  focusedId: string | null
  peekId: string | undefined
  onSelect: (id: string, isRange: boolean) => void
  onSelectAll: () => void
  onFocus: (id: string) => void
  onOpen: (id: string) => void
  onPeek: (id: string) => void
  onNearEdge: (edge: 'START' | 'END') => void
  onShow: (from: number, to: number) => void
  onScrolled: (top: number) => void
}

const heights = { COMPACT: 28, NORMAL: 36, TOUCH: 44 } as const
const phoneHeight = 56
const headHeight = 28
/** The next rows are read when the user is this near to the end. */
const rowsAhead = 300

export function useRowHeight(): { height: number; isPhone: boolean } {
  const { density } = useSettings()
  const isPhone = useMedia('(max-width: 640px)')
  const isCoarse = useMedia('(pointer: coarse)')
  return { height: isPhone ? phoneHeight : isCoarse ? heights.TOUCH : heights[density], isPhone }
}

/** A virtual table: rows have a fixed height, and only visible rows are in the DOM. */
export function JobTable(props: JobTableProps) {
  const { box, view, selected, focusedId, peekId, onNearEdge, onShow } = props
  const { ids, departed, hasMore, hasBefore } = view
  const { height, isPhone } = useRowHeight()
  const shownColumns = useColumns(box, isPhone)
  const { from, to } = useVisibleRows(box, { ids, height, headHeight: isPhone ? 0 : headHeight })
  useEffect(() => onShow(from, to), [from, to, ids, onShow])
  useEffect(() => {
    if (hasMore && to >= ids.length - rowsAhead) onNearEdge('END')
    if (hasBefore && from <= rowsAhead) onNearEdge('START')
  }, [hasMore, hasBefore, from, to, ids, onNearEdge])
  const isAll = selected.size > 0 && ids.every((id) => selected.has(id))
  return (
    <div ref={box} className={styles.box} onScroll={({ currentTarget }) => props.onScrolled(currentTarget.scrollTop)}>
      <div
        role="table"
        aria-label="Jobs"
        aria-rowcount={hasMore || hasBefore ? -1 : ids.length}
        style={{ '--tracks': ['28px', ...shownColumns.map(({ track }) => track)].join(' ') } as object}
      >
        <TableHead columns={shownColumns} isAll={isAll} onSelectAll={props.onSelectAll} />
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links, buttons and boxes of the rows send clicks by key */}
        <div
          role="rowgroup"
          className={styles.rows}
          style={{ height: ids.length * height }}
          onClick={(event) => act(event, props)}
          onFocus={({ target }) => {
            const id = findRowId(target)
            if (id) props.onFocus(id)
          }}
        >
          {ids.slice(from, to).map((id, i) => (
            <JobLine
              key={id}
              id={id}
              index={from + i}
              top={(from + i) * height}
              height={height}
              columns={shownColumns}
              isPhone={isPhone}
              isSelected={selected.has(id)}
              isDeparted={departed.has(id)}
              isFocused={focusedId === id}
              isPeeked={peekId === id}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

const findRowId = (target: EventTarget) =>
  target instanceof Element ? target.closest<HTMLElement>('[data-id]')?.dataset['id'] : undefined

/** Handles a click on the row under it. */
function act(event: MouseEvent, { onSelect, onOpen, onPeek }: JobTableProps) {
  const id = findRowId(event.target)
  if (!id || !(event.target instanceof Element)) return
  if (event.target.closest('input')) return onSelect(id, event.shiftKey)
  if (event.target.closest('button')) return onPeek(id)
  // Leaves clicks with a modifier to the browser, which opens tabs and windows.
  if (!event.target.closest('a') || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  onOpen(id)
}

/** Returns the chosen columns that fit. */
function useColumns(box: RefObject<HTMLElement | null>, isPhone: boolean): readonly JobColumn[] {
  const { jobColumns } = useSettings()
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  const chosen = jobColumns ?? defaultColumns
  const shown = useRef<readonly JobColumn[]>([])
  const next = fitColumns(
    allColumns,
    new Set(isPhone ? [] : chosen),
    isPhone ? Number.POSITIVE_INFINITY : width || innerWidth,
  )
  // Keeps the same array if the columns are the same, so that rows are not drawn again.
  if (next.map(({ key }) => key).join() !== shown.current.map(({ key }) => key).join()) shown.current = next
  return shown.current
}

interface TableHeadProps {
  columns: readonly JobColumn[]
  isAll: boolean
  onSelectAll: () => void
}

const TableHead = ({ columns, isAll, onSelectAll }: TableHeadProps) => (
  <div role="row" tabIndex={-1} className={`${styles.line} ${styles.head}`}>
    <span role="columnheader" className={styles.check}>
      <input type="checkbox" aria-label="Select all rows that were read" checked={isAll} onChange={onSelectAll} />
    </span>
    {columns.map(({ key, title, isNumber }) => (
      <span key={key} role="columnheader" className={isNumber ? styles.number : undefined}>
        {title}
      </span>
    ))}
  </div>
)
