import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { JobList, ListView } from '../../features/jobs/rows/job-list.ts'
import { rememberList } from '../../features/jobs/rows/last-list.ts'
import { type OrderName, orders } from '../../features/jobs/rows/order.ts'
import { findKeptList, useJobList } from '../../features/jobs/rows/use-job-list.ts'
import type { JobFilter } from '../../generated/graphql.ts'
import { onReturn } from '../../ground/server-return.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { plural } from '../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { JobTable, useRowHeight } from './job-table.tsx'
import styles from './jobs.module.css'
import { useRowKeys } from './row-keys.ts'
import { SelectionBar, useActionKeys } from './selection-bar.tsx'
import { useHeld } from './use-held.ts'
import { useRowSelection } from './use-row-selection.ts'
import { countStates, type StateCounts } from './use-state-counts.ts'

interface JobRowsProps {
  filter: JobFilter
  order: OrderName
  hasFilter: boolean
  counts: StateCounts | null
  peekId: string | undefined
  onPeek: (id: string | undefined) => void
}

const listName = 'jobs'

/** The live job list. After a change of the filter, the old rows stay until the new ones have loaded. */
export function JobRows(props: JobRowsProps) {
  const { filter, order, hasFilter } = props
  const [fromEnd, setFromEnd] = useState(() => findKeptList(listName)?.isFromEnd ?? false)
  const [attempt, setAttempt] = useState(0)
  const wanted = JSON.stringify([filter, order])
  // A new filter starts at the beginning of its list.
  const [shownFor, setShownFor] = useState(wanted)
  if (shownFor !== wanted) {
    setShownFor(wanted)
    setFromEnd(false)
  }
  const key = `${wanted} ${fromEnd} ${attempt}`
  const { key: shownKey, list, view } = useJobList(listName, key, { filter, order: orders[order], fromEnd })
  const readAgain = () => setAttempt((each) => each + 1)
  if (!list || view.isLoading) return <Loading />
  if (view.failure && view.ids.length === 0) return <Failed failure={view.failure} onRetry={readAgain} />
  if (view.ids.length === 0 && view.changes === 0) return hasFilter ? <NoMatch /> : <NoJobs />
  return (
    <div className={styles.rows} aria-busy={shownKey !== key}>
      {view.failure && <FailedInline failure={view.failure} onRetry={readAgain} />}
      <Rows key={shownKey} {...props} list={list} view={view} isFromEnd={fromEnd} onFromEnd={setFromEnd} />
    </div>
  )
}

interface RowsProps extends JobRowsProps {
  list: JobList
  view: ListView
  isFromEnd: boolean
  onFromEnd: (isFromEnd: boolean) => void
}

const refreshMs = 5_000

function Rows(props: RowsProps) {
  const { list, view, filter, counts, peekId, onPeek } = props
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const { height } = useRowHeight()
  const { selected, select, selectAll, clear } = useRowSelection(view.ids)
  const [focusedId, setFocusedId] = useState(peekId ?? list.place.focusedId)
  useEffect(() => {
    list.place.focusedId = focusedId
  }, [list, focusedId])
  useLayoutEffect(() => void box.current?.scrollTo({ top: list.place.top }), [list])
  const { setScrolled, pointer } = useHeld(list, selected.size > 0)
  const show = useShow(list)
  useEffect(() => rememberList(view.ids), [view.ids])
  const onNearEdge = useCallback(
    (edge: 'START' | 'END') => void (edge === 'END' ? list.loadMore() : list.loadBefore()),
    [list],
  )
  const toEdge = useEdges(props, box)
  const peek = (id: string) => onPeek(id === peekId ? undefined : id)
  useRowKeys({
    ids: view.ids,
    focusedId,
    onMove: (id, index) => {
      setFocusedId(id)
      reveal(box.current, index, height)
      if (peekId !== undefined) onPeek(id)
    },
    onSelect: select,
    onPeek: peek,
    onEdge: toEdge,
  })
  useActionKeys(selected, focusedId, clear)
  return (
    <div className={styles.held} {...pointer}>
      <JobTable
        box={box}
        view={view}
        selected={selected}
        focusedId={focusedId}
        peekId={peekId}
        onSelect={select}
        onSelectAll={selectAll}
        onFocus={setFocusedId}
        onOpen={(id) => void navigate({ to: '/jobs/$id', params: { id } })}
        onPeek={peek}
        onNearEdge={onNearEdge}
        onShow={show}
        onScrolled={(top) => {
          list.place.top = top
          setScrolled(top > 0)
        }}
      />
      {view.changes > 0 && (
        <Button look="primary" className={styles.pill ?? ''} onClick={() => list.apply()}>
          {plural(view.changes, 'change')}
        </Button>
      )}
      {selected.size > 0 && (
        <SelectionBar
          selected={selected}
          filter={filter}
          matching={counts && { count: countStates(counts, filter.states), isExact: counts.isExact }}
          onClear={clear}
        />
      )}
    </div>
  )
}

/** Loads the visible rows, and refreshes the waiting jobs among them. */
function useShow(list: JobList) {
  const range = useRef({ from: 0, to: 0 })
  useEffect(() => {
    const refresh = () => {
      if (!document.hidden) list.refreshWaiting(range.current.from, range.current.to)
    }
    const timer = setInterval(refresh, refreshMs)
    return () => clearInterval(timer)
  }, [list])
  useEffect(() => onReturn(() => void list.refresh(Math.max(1, range.current.to))), [list])
  return useCallback(
    (from: number, to: number) => {
      range.current = { from, to }
      list.show(from, to)
    },
    [list],
  )
}

/** Handles Home and End. If the list was not read up to that end, it is read from there. */
function useEdges({ list, view, isFromEnd, onFromEnd }: RowsProps, box: { current: HTMLDivElement | null }) {
  const wasAtEnd = useRef(list.place.top > 0)
  useEffect(() => {
    if (!isFromEnd || wasAtEnd.current) return
    wasAtEnd.current = true
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [isFromEnd, box])
  return (edge: 'START' | 'END') => {
    if (edge === 'END' && view.hasMore) onFromEnd(true)
    else if (edge === 'START' && view.hasBefore) onFromEnd(false)
    else box.current?.scrollTo({ top: edge === 'END' ? box.current.scrollHeight : 0 })
  }
}

const headHeight = 28

/** Scrolls just far enough to show the row. */
function reveal(box: HTMLElement | null, index: number, height: number) {
  if (!box) return
  const top = index * height
  if (top < box.scrollTop) box.scrollTop = top
  const bottom = top + height + headHeight
  if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight
}

function NoMatch() {
  const navigate = useNavigate()
  const clear = () => void navigate({ to: '/jobs', search: {} })
  return (
    <Empty title="No job matches" actions={<Button onClick={clear}>Clear the filter</Button>}>
      Jobs that match later appear here by themselves.
    </Empty>
  )
}

function NoJobs() {
  const may = useMay()
  return (
    <Empty title="No jobs yet" actions={may('JOB_SUBMIT') && <Button href="./jobs/new">New job</Button>}>
      Jobs of the command line, of CI and of programs appear here as they are submitted.
      {may('JOB_SUBMIT') && (
        <>
          {' '}
          Try <code>berth submit -- echo Hello</code>.
        </>
      )}
    </Empty>
  )
}
