import { useSyncExternalStore } from 'react'

/** Jobs that the reader has opened, kept by the browser: failed ones are no news then. */
const storageKey = 'berth-seen-jobs'
const seenMax = 500

function readStored(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}

let seen: ReadonlySet<string> = new Set(readStored())
const listeners = new Set<() => void>()

export function markSeen(ids: readonly string[]): void {
  const more = ids.filter((id) => !seen.has(id))
  if (more.length === 0) return
  const all = [...seen, ...more].slice(-seenMax)
  seen = new Set(all)
  localStorage.setItem(storageKey, JSON.stringify(all))
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useSeenJobs = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => seen)
