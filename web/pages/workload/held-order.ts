import { useRef, useState } from 'react'

export interface HeldOrder {
  /** Ids in the shown order. */
  ids: readonly string[]
  /** Number of arrivals, departures and moves that are not shown yet. */
  changes: number
  apply(): void
}

/** Freezes the rows of a short list and their order while it is held, until the changes are applied. */
export function useHeldOrder(next: readonly string[], isHeld: boolean): HeldOrder {
  const shown = useRef(next)
  const [, setRound] = useState(0)
  if (!isHeld) shown.current = next
  const apply = () => {
    shown.current = next
    setRound((round) => round + 1)
  }
  return { ids: shown.current, changes: countChanges(shown.current, next), apply }
}

/** Counts the ids that were added, removed or moved. */
export function countChanges(shown: readonly string[], next: readonly string[]): number {
  if (shown === next) return 0
  const known = new Set(shown)
  const kept = new Set(next)
  const staying = shown.filter((id) => kept.has(id))
  const moved = next.filter((id) => known.has(id)).filter((id, i) => staying[i] !== id).length
  return shown.length - staying.length + next.length - staying.length + moved
}
