import type { Chunk } from './chunk.ts'

/**
 * Output that this process has just stored. Readers in the same process take it from here instead of reading it back; all
 * others, and readers that missed some, read the table. It is told after the commit, so nothing is shown that is not stored.
 */
export interface FreshChunks {
  readonly jobId: string
  /** Number of the run. */
  readonly run: number
  readonly runId: string
  /** Where the log ended before. */
  readonly from: number
  /** What was stored from there on, without a hole; empty if a stored gap grew instead. */
  readonly chunks: readonly Chunk[]
}

export interface FreshOutput {
  tell(fresh: FreshChunks): void
  /** Answers the function that removes the listener. */
  on(listener: (fresh: FreshChunks) => void): () => void
}

export function createFreshOutput(): FreshOutput {
  const listeners = new Set<(fresh: FreshChunks) => void>()
  return {
    tell(fresh) {
      for (const listener of listeners) listener(fresh)
    },
    on(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
