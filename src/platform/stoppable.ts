/**
 * A plain `async function*` cannot be stopped while it waits: `return()` queues behind the pending `next()`. Here
 * `return()` aborts first, so every wait inside ends, and then returns. Every wait in `source` must listen to `signal`,
 * which may have fired before the wait begins.
 *
 * A source that answers from memory without ever crossing a macrotask would starve the sockets and block the process
 * after its reader has died; so after 16 items in a row the wrapper yields to the event loop.
 */

export function stoppable<T>(
  source: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  const abort = new AbortController()
  const inner = source(abort.signal)
  let items = 0
  const outer: AsyncGenerator<T, void, void> = {
    async next() {
      if (++items % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
      return abort.signal.aborted ? { done: true, value: undefined } : inner.next()
    },
    async return() {
      abort.abort()
      await inner.return()
      return { done: true, value: undefined }
    },
    async throw(error) {
      abort.abort()
      await inner.return()
      throw error
    },
    [Symbol.asyncIterator]: () => outer,
    [Symbol.asyncDispose]: async () => void (await outer.return()),
  }
  return outer
}
