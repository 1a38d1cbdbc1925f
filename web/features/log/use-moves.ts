import { useEffect, useRef } from 'react'
import { type Found, findMatch } from './log-search.ts'

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
export function useMoves({ found, current, from, show }: MovesOptions): Moves {
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
