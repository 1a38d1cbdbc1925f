import { useLocation, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { formatCount } from '../../parts/format.ts'
import { showToast } from '../../parts/toasts.tsx'
import type { LogLines } from './log-lines.ts'
import { formatRange, parseRange, type Range, type Target } from './range.ts'
import type { Rows } from './rows.ts'
import type { Scroller } from './scroller.ts'
import type { LogGroups } from './use-log-groups.ts'

export interface Place {
  /** The selected lines, which the fragment of the URL names. */
  range: Range | null
  select: (number: number, isExtended: boolean) => void
  /** true: the view has scrolled to the place that the URL names or, without one, to the end. */
  isSettled: boolean
  isFollowing: boolean
  follow: (wanted: boolean) => void
  goTo: (line: number) => void
  /** Scrolls to a line or a time, and selects the line. */
  jump: (target: Target) => Promise<void>
  /** Lines shown in full length and, if they are JSON, formatted. */
  open: ReadonlySet<number>
  toggle: (line: number) => void
}

interface PlaceOptions {
  lines: LogLines
  rows: Rows
  folds: Pick<LogGroups, 'marks' | 'reveal'>
  scroller: Scroller
  /** true: the first rows have loaded, or the log has none. */
  isReady: boolean
}

/** The selected lines, kept in the fragment of the URL. `ownHash`: the fragment that this page wrote itself. */
function useSelection() {
  const [range, setRange] = useState<Range | null>(() => parseRange(location.hash))
  const ownHash = useRef('')
  const put = useCallback((next: Range) => {
    setRange(next)
    ownHash.current = formatRange(next)
    history.replaceState(history.state, '', `${location.pathname}${location.search}#${formatRange(next)}`)
  }, [])
  const select = useCallback(
    (number: number, isExtended: boolean) => {
      const before = parseRange(location.hash)
      const anchor = isExtended && before ? before.from : number
      put({ from: Math.min(anchor, number), to: Math.max(anchor, number) })
    },
    [put],
  )
  return { range, setRange, ownHash, put, select }
}

interface ShowLineOptions extends Pick<PlaceOptions, 'rows' | 'folds' | 'scroller'> {
  isFollowing: boolean
}

/** Returns a function that scrolls to a line, and opens its group if it is folded. */
function useShowLine({ rows, folds, scroller, isFollowing }: ShowLineOptions) {
  const { reveal, marks } = folds
  const { scrollTo } = scroller
  const latest = useRef(rows)
  latest.current = rows
  /** A line of a folded group. The view scrolls to it when the group has opened. */
  const hidden = useRef<number | null>(null)
  const showLine = useCallback(
    (line: number) => {
      if (reveal(line)) hidden.current = line
      else scrollTo(latest.current.indexOf(line))
    },
    [scrollTo, reveal],
  )
  useLayoutEffect(() => {
    if (hidden.current !== null) scrollTo(rows.indexOf(hidden.current))
    hidden.current = null
  }, [rows, scrollTo])
  const top = useRef(1)
  // When groups are found later, the first visible line stays visible and in its place.
  useLayoutEffect(() => {
    if (!marks || isFollowing) return
    if (reveal(top.current)) hidden.current = top.current
    else scrollTo(latest.current.indexOf(top.current), 'START')
  }, [marks, reveal, scrollTo])
  useLayoutEffect(() => {
    top.current = rows.at(Math.floor(scroller.place))?.number ?? 1
  })
  return showLine
}

/** Controls the position in the log: it follows the end, or shows the lines of the URL, or was scrolled by the user. */
export function usePlace({ lines, rows, folds, scroller, isReady }: PlaceOptions): Place {
  const { hash } = useLocation()
  const { at } = useSearch({ strict: false }) as { at?: string }
  const { range, setRange, ownHash, put, select } = useSelection()
  const moment = at === undefined ? null : readMoment(at)
  const [isFollowing, setFollowing] = useState(range === null && moment === null)
  const [isSettled, setSettled] = useState(false)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const { scrollToEnd } = scroller

  const isPlaced = isReady && scroller.geometry.windowPx > 0
  // Follows the end when rows are added.
  useEffect(() => {
    if (isFollowing) scrollToEnd()
    if (isFollowing && isPlaced) setSettled(true)
  }, [isPlaced, isFollowing, rows.count, scroller.geometry, scrollToEnd])

  const showLine = useShowLine({ rows, folds, scroller, isFollowing })
  const goTo = useCallback(
    (line: number) => {
      setFollowing(false)
      setSettled(true)
      showLine(line)
    },
    [showLine],
  )
  const jump = useCallback(
    async (target: Target) => {
      const line = 'line' in target ? target.line : await lines.findFirstLineAt(target.at)
      setSettled(true)
      if (line === null) return showToast('Nothing was printed at that time or later')
      const known = Math.min(line, Math.max(1, lines.state().lineCount))
      put({ from: known, to: known })
      goTo(known)
    },
    [lines, put, goTo],
  )

  useEffect(() => {
    const wanted = parseRange(`#${hash.replace(/^#/, '')}`)
    if (!isPlaced || !wanted || formatRange(wanted) === ownHash.current) return
    const { lineCount, isFinal } = lines.state()
    if (isFinal && wanted.from > lineCount)
      showToast(`This log has ${formatCount(lineCount)} lines`, { isTrouble: true })
    ownHash.current = formatRange(wanted)
    setRange(wanted)
    goTo(wanted.from)
  }, [hash, isPlaced, lines, goTo, ownHash, setRange])
  useEffect(() => {
    // Selected lines are newer than the time in the URL.
    if (!isPlaced || at === undefined || parseRange(location.hash)) return
    if (moment) void jump({ at: moment })
    else showToast(`The address has no moment, but “${at}”`, { isTrouble: true })
  }, [at, moment, isPlaced, jump])

  const follow = useCallback(
    (wanted: boolean) => {
      setFollowing(wanted)
      if (wanted) scrollToEnd()
    },
    [scrollToEnd],
  )
  const toggle = useCallback((line: number) => setOpen((before) => before.symmetricDifference(new Set([line]))), [])
  return { range, select, isSettled, isFollowing, follow, goTo, jump, open, toggle }
}

const readMoment = (text: string) => (Number.isNaN(Date.parse(text)) ? null : new Date(text).toISOString())
