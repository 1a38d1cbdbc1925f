import { useEffect, useState } from 'react'

const pauseMs = 300

/** Returns the value debounced: it changes only when `value` has been the same for a moment. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
