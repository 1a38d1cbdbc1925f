import type { Writable } from 'node:stream'

/**
 * Returns a function that buffers the stream's writes until this turn of the event loop ends. The heartbeats of a hundred
 * subscriptions on one socket then need one system call; a hundred would cost more than making the messages.
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
