import type { Answer } from './http.ts'
import type { Open } from './streams.ts'

const placesMax = 4
const stayMs = 10_000

/**
 * Shares few connections between many SSE streams. Over HTTP/1.1 a browser opens six connections per host for all tabs,
 * and an SSE stream occupies one. So a page connects at most `placesMax` streams at a time. A stream yields its
 * connection to a waiting stream `stayMs` after a message, and resumes from its cursor later. A stream without a cursor
 * would lose messages, so it keeps its connection.
 */
export function rotateStreams(open: Open, isNeeded: () => boolean): Open {
  const take = createPlaces(placesMax)
  return async function* <Result>(...[operation, signal, onOpen]: Parameters<Open>) {
    if (!isNeeded()) return yield* open<Result>(operation, signal, onOpen)
    let tell = onOpen
    for (let isOver = false; !isOver; tell = () => {}) {
      const giveBack = await take(signal)
      try {
        const connect = (stay: AbortSignal) => open<Result>(operation, stay, () => tell())
        isOver = yield* readUntilYield(connect, operation.variables, signal)
      } finally {
        giveBack()
      }
    }
  }
}

/** Reads the stream while it has a connection. Returns true if the stream is over. */
async function* readUntilYield<Result>(
  connect: (stay: AbortSignal) => AsyncGenerator<Answer<Result>, void, void>,
  variables: unknown,
  signal: AbortSignal,
): AsyncGenerator<Answer<Result>, boolean, void> {
  const left = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    for await (const answer of connect(AbortSignal.any([signal, left.signal]))) {
      yield answer
      if (hasCursor(variables)) timer ??= setTimeout(() => left.abort(), stayMs)
    }
    return true
  } catch (error) {
    if (signal.aborted || !left.signal.aborted) throw error
    return false
  } finally {
    clearTimeout(timer)
  }
}

const hasCursor = (variables: unknown) =>
  typeof variables === 'object' && variables !== null && 'after' in variables && Boolean(variables.after)

/** Grants up to `count` connections in the order of requests. The returned function releases the connection. */
function createPlaces(count: number): (signal: AbortSignal) => Promise<() => void> {
  const waiting: (() => void)[] = []
  let free = count
  const giveBack = () => {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
  return async (signal) => {
    signal.throwIfAborted()
    if (free > 0) free -= 1
    else
      await new Promise<void>((resolve, reject) => {
        const begin = () => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = () => {
          waiting.splice(waiting.indexOf(begin), 1)
          reject(signal.reason)
        }
        waiting.push(begin)
        signal.addEventListener('abort', leave, { once: true })
      })
    return giveBack
  }
}
