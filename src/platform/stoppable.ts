/**
 * A plain `async function*` cannot be stopped while it waits: `return()` queues behind the pending `next()`. Here
 * `return()` fires `signal` first, which ends every wait in `source`. After 16 items in a row the wrapper yields to the
 * event loop, because a source that reads from memory would starve the sockets. The source is created at the first
 * `next()`, so a source that opens a resource is always ended.
 */

export function stoppable<T>(
  source: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  const abort = new AbortController()
  let inner: AsyncGenerator<T, void, void> | undefined
  let items = 0
  const outer: AsyncGenerator<T, void, void> = {
    async next() {
      if (++items % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (abort.signal.aborted) return { done: true, value: undefined }
      inner ??= source(abort.signal)
      return inner.next()
    },
    async return() {
      abort.abort()
      await inner?.return()
      return { done: true, value: undefined }
    },
    async throw(error) {
      abort.abort()
      await inner?.return()
      throw error
    },
    [Symbol.asyncIterator]: () => outer,
    [Symbol.asyncDispose]: async () => void (await outer.return()),
  }
  return outer
}
