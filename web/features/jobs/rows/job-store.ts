import { useCallback, useSyncExternalStore } from 'react'
import type { ListRowFragment } from '../../../generated/graphql.ts'
import { createListeners } from '../../../ground/store.ts'

export type JobRow = ListRowFragment

/** The rows of all lists by job id. An older version never replaces a newer one. */
export class JobStore {
  readonly #rows = new Map<string, JobRow>()
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #stateListeners = createListeners()

  get = (id: string): JobRow | undefined => this.#rows.get(id)

  put(row: JobRow): void {
    const known = this.#rows.get(row.id)
    if (known && known.version > row.version) return
    this.#rows.set(row.id, row)
    for (const listener of this.#listeners.get(row.id) ?? []) listener()
    if (known?.state !== row.state) this.noteChange()
  }

  /** Tells the listeners of `onStateChange` that the state of a job changed, or that a job was deleted. */
  readonly noteChange = this.#stateListeners.call
  readonly onStateChange = this.#stateListeners.add

  get size(): number {
    return this.#rows.size
  }

  /** Deletes all rows that are neither in `ids` nor visible. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#rows.keys()) if (!ids.has(id) && !this.#listeners.has(id)) this.#rows.delete(id)
  }

  subscribe(id: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set()
    this.#listeners.set(id, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(id)
    }
  }
}

export const jobStore = new JobStore()

/** Returns the newest stored row of a job, and updates the component when it changes; undefined: not stored. */
export function useJobRow(id: string): JobRow | undefined {
  const subscribe = useCallback((listener: () => void) => jobStore.subscribe(id, listener), [id])
  return useSyncExternalStore(subscribe, () => jobStore.get(id))
}
