import { createStore } from '../../../ground/store.ts'

/** Ids of jobs that the user has opened, in localStorage. The overview does not list them as new failures. */
const storageKey = 'berth-seen-jobs'
const seenMax = 500

function readStoredIds(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}

const seen = createStore<ReadonlySet<string>>(new Set(readStoredIds()))

export function markSeen(ids: readonly string[]): void {
  const more = ids.filter((id) => !seen.read().has(id))
  if (more.length === 0) return
  const all = [...seen.read(), ...more].slice(-seenMax)
  localStorage.setItem(storageKey, JSON.stringify(all))
  seen.change(new Set(all))
}

export const useSeenJobs = seen.useValue
