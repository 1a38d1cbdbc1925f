import type { Chunk } from './chunk.ts'

/**
 * Output that this process has just stored and committed. Readers in the same process take it from here; all others,
 * and readers that missed some, read the table.
 */
export interface FreshChunks {
  readonly jobId: string
  readonly run: number
  readonly runId: string
  readonly from: number
  /** The chunks from there on, without a hole; empty if a stored gap grew instead. */
  readonly chunks: readonly Chunk[]
}

export type FreshOutput = ReturnType<typeof createFreshOutput>

type Listener = (fresh: FreshChunks) => Promise<void> | undefined

export function createFreshOutput() {
  const listeners = new Set<Listener>()
  return {
    /** Resolves when a reader is close behind, or soon: a reader that falls behind reads the table, which costs more. */
    tell: (fresh: FreshChunks): Promise<unknown> => Promise.all([...listeners].map((listener) => listener(fresh))),
    /** Returns the function that removes the listener. */
    on(listener: Listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
