import type { Writable } from 'node:stream'

/**
 * Makes a function that holds what is written to the stream until this turn of the event loop ends. The heartbeats of a
 * hundred subscriptions of one socket then leave in one system call; a hundred calls would cost more than making the
 * messages.
 */
export function createCork(stream: Writable): () => void {
  let isCorked = false
  const uncork = () => {
    isCorked = false
    stream.uncork()
  }
  return () => {
    if (isCorked) return
    isCorked = true
    stream.cork()
    setImmediate(uncork)
  }
}
