import { type RefObject, useMemo, useRef, useState } from 'react'
import type { LogLines } from './log-lines.ts'
import { errorQuery, type Found, findMatch, type Query, toHighlighter } from './log-search.ts'
import { useLogSearch } from './use-log-search.ts'

export interface Finder {
  field: RefObject<HTMLInputElement | null>
  query: Query
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
  const moveIn = (list: Found | null, direction: 1 | -1) => {
    const line = findMatch(list?.lines ?? [], current ?? from - direction, direction)
    if (line === undefined) return
    setCurrent(line)
    goTo(line)
  }
  return {
    field,
    query,
    setQuery,
    found,
    errors,
    findErrors: () => setWantsErrors(true),
    current,
    highlighter,
    move: (direction) => moveIn(found, direction),
    moveError: (direction) => {
      setWantsErrors(true)
      moveIn(errors, direction)
    },
  }
}
