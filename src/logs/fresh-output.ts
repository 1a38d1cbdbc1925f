import type { Chunk } from './chunk.ts'

/**
 * Output that this process has just stored and committed. Readers in this process take it from here; other readers, and
 * readers that missed some output, read the table `log_chunk`.
 */
export interface FreshChunks {
  readonly jobId: string
  readonly run: number
  readonly runId: string
  readonly from: number
  /** The stored chunks, without a hole. Empty if a stored gap grew instead. */
  readonly chunks: readonly Chunk[]
}

export type FreshOutput = ReturnType<typeof createFreshOutput>

type Listener = (fresh: FreshChunks) => Promise<void> | undefined

export function createFreshOutput() {
  const listeners = new Set<Listener>()
  return {
    /**
     * Waits a short time for the readers to catch up: a reader that falls behind must read the table, which costs more.
     */
    tell: (fresh: FreshChunks): Promise<unknown> => Promise.all([...listeners].map((listener) => listener(fresh))),
    /** Returns the function that removes the listener. */
    on(listener: Listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
