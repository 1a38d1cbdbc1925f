import { type RefObject, useMemo, useRef, useState } from 'react'
import type { LogLines } from './log-lines.ts'
import { errorQuery, type Found, type Query, toHighlighter } from './log-search.ts'
import { useLogSearch } from './use-log-search.ts'
import { useMoves } from './use-moves.ts'

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
