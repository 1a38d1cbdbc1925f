import type { Chunk } from './chunk.ts'

/**
 * Output that this process has just stored. Readers in the same process take it from here instead of reading it back; all
 * others, and readers that missed some, read the table. Output comes here after its commit, so readers see only stored bytes.
 */
export interface FreshChunks {
  readonly jobId: string
  /** Number of the run. */
  readonly run: number
  readonly runId: string
  /** Where the log ended before. */
  readonly from: number
  /** The chunks stored from there on, without a hole; empty if a stored gap grew instead. */
  readonly chunks: readonly Chunk[]
}

export interface FreshOutput {
  /** Resolves when a reader is close behind, or soon: one that falls behind reads the table, which costs all more. */
  tell(fresh: FreshChunks): Promise<unknown>
  /** Returns the function that removes the listener. */
  on(listener: Listener): () => void
}

type Listener = (fresh: FreshChunks) => Promise<void> | undefined

export function createFreshOutput(): FreshOutput {
  const listeners = new Set<Listener>()
  return {
    tell: (fresh) => Promise.all([...listeners].map((listener) => listener(fresh))),
    on(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
