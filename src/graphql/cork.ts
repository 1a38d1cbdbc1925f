import type { Writable } from 'node:stream'

/**
 * The answer holds back what is written until this turn of the event loop ends: the heartbeats of a hundred subscriptions of one
 * socket leave in one system call, which costs more than making them.
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
