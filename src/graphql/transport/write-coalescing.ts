import type { Writable } from 'node:stream'

/** Returns a function that buffers the stream's writes until this turn of the event loop ends: many need one system call. */
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
