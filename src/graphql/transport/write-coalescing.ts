import type { Writable } from 'node:stream'

/**
 * Returns a function that buffers the stream's writes until the end of this turn of the event loop, so that many writes
 * need one system call.
 */
export function createWriteCoalescer(stream: Writable): () => void {
  let isCorked = false
  return () => {
    if (isCorked) return
    isCorked = true
    stream.cork()
    setImmediate(() => {
      isCorked = false
      stream.uncork()
    })
  }
}
