import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { LogLines } from './log-lines.ts'
import { errorQuery, type Found, findMatch, type Query, toHighlighter } from './log-search.ts'
import { useLogSearch } from './use-log-search.ts'

export interface Finder {
  field: RefObject<HTMLInputElement | null>
  query: Query
  /** Searches, and shows the first match after the first visible line. */
  setQuery: (query: Query) => void
  found: Found | null
  /** Lines with errors; null: not searched. */
  errors: Found | null
  findErrors: () => void
  /** The line of the match that is shown. */
  current: number | null
  highlighter: RegExp | null
  move: (direction: 1 | -1) => void
  moveError: (direction: 1 | -1) => void
}

interface FinderOptions {
  jobId: string
  run: number
  lines: LogLines
  /** The streams to search: the shown ones. */
  streams: Query['streams']
  /** true: searches for errors at once, not on request. */
  findsErrors: boolean
  goTo: (line: number) => void
  /** The first line in sight. */
  from: number
}

const noQuery = { ...errorQuery, text: '', isRegex: false }

/** Searches a log for a query and for errors, and moves from match to match. */
export function useFinder({ jobId, run, lines, streams, findsErrors, goTo, from }: FinderOptions): Finder {
  const field = useRef<HTMLInputElement>(null)
  const [query, setQuery] = useState(noQuery)
  const [wantsErrors, setWantsErrors] = useState(findsErrors)
  const [current, setCurrent] = useState<number | null>(null)
  const log = { jobId, run, lines }
  const found = useLogSearch(log, query.text === '' ? null : { ...query, streams })
  const errors = useLogSearch(log, wantsErrors ? { ...errorQuery, streams } : null)
  const highlighter = useMemo(() => (query.text === '' ? null : toHighlighter(query)), [query])
  const show = (line: number) => {
    setCurrent(line)
    goTo(line)
  }
  const matches = useMoves({ found, current, from, show })
  const troubles = useMoves({ found: errors, current, from, show })
  return {
    field,
    query,
    setQuery: (next) => {
      setQuery(next)
      setCurrent(null)
      matches.expectFirst()
    },
    found,
    errors,
    findErrors: () => setWantsErrors(true),
    current,
    highlighter,
    move: (direction) => query.text !== '' && matches.move(direction),
    moveError: (direction) => {
      setWantsErrors(true)
      troubles.move(direction)
    },
  }
}

type Direction = 1 | -1

interface MovesOptions {
  found: Found | null
  /** The line of the match that is shown. */
  current: number | null
  /** The first line in sight. */
  from: number
  show: (line: number) => void
}

interface Moves {
  /** Goes to the next match, also if the search has yet to find it. */
  move: (direction: Direction) => void
  /** Goes to the first match of the next search. */
  expectFirst: () => void
}

/** Moves from match to match. If the search has not found the next match yet, the move waits. */
function useMoves({ found, current, from, show }: MovesOptions): Moves {
  const waiting = useRef<Direction[]>([])
  const expectsFirst = useRef(false)
  const settle = () => {
    let line: number | undefined
    for (let [direction] = waiting.current; found && direction; [direction] = waiting.current) {
      const next = findMatch(found, line ?? current ?? from - direction, direction)
      if (next === 'UNKNOWN') break
      waiting.current.shift()
      expectsFirst.current = false
      line = next ?? line
    }
    if (line !== undefined) show(line)
  }
  // Runs only when `found` changes, because waiting moves depend on nothing else.
  useEffect(settle, [found])
  return {
    move: (direction) => {
      // The waiting move to the first match is replaced, because this move goes there.
      if (expectsFirst.current) waiting.current = []
      expectsFirst.current = false
      waiting.current.push(direction)
      settle()
    },
    expectFirst: () => {
      waiting.current = [1]
      expectsFirst.current = true
    },
  }
}
