import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { LogLines } from './log-lines.ts'
import { errorQuery, type Found, findMatch, type Query, toHighlighter } from './log-search.ts'
import { useLogSearch } from './use-log-search.ts'

export interface Finder {
  field: RefObject<HTMLInputElement | null>
  query: Query
  /** Searches, and shows the first match from the place of the reader on. */
  setQuery: (query: Query) => void
  found: Found | null
  /** null: nobody has looked for errors. */
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
  /** Streams that are shown. */
  streams: Query['streams']
  /** Errors are looked for without a click. */
  findsErrors: boolean
  goTo: (line: number) => void
  /** The first line in sight. */
  from: number
}

const noQuery = { ...errorQuery, text: '', isRegex: false }

/** Search and errors of a log, and the way from match to match. */
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

/** Moves from match to match. A move that the search cannot answer yet waits for its result. */
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
  // Not for a change of the place: a move waits for a result alone.
  useEffect(settle, [found])
  return {
    move: (direction) => {
      // The reader has seen no match yet, and asks for the first one.
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
