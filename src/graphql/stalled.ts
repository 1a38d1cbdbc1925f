import type { ServerResponse } from 'node:http'

/**
 * Cuts HTTP streams whose reader takes nothing: bytes waited for twice `everyMs`, and none was taken. (A WebSocket is cut
 * when it does not answer a ping.) Returns the function that stops watching.
 */
export function cutWhenStalled(response: ServerResponse, everyMs: number): () => void {
  let takenBefore = -1
  const timer = setInterval(() => {
    const { socket } = response
    const waits = socket !== null && socket.writableLength > 0
    const taken = socket === null ? 0 : socket.bytesWritten - socket.writableLength
    if (waits && taken === takenBefore) response.destroy()
    takenBefore = waits ? taken : -1
  }, everyMs)
  return () => clearInterval(timer)
}

/** Unsent bytes of the answers of one user. */
const unsentBytesMax = 64 * 1024 * 1024
/** Less is in the buffers of the system. */
const watchedBytesMin = 65_536

/**
 * Watches ordinary answers from their end on: one whose reader takes nothing is cut, and of a user whose answers wait with
 * more than `unsentBytesMax` the oldest are. Such an answer is kept as a whole, and a connection costs its user nothing.
 */
export function createAnswerWatch(everyMs: number, bytesMax = unsentBytesMax) {
  const stalledMs = 2 * everyMs
  const unsent = new Map<string, Set<ServerResponse>>()

  function watch(userId: string, response: ServerResponse) {
    // An answer is one write, whose parts only the timeout of a socket sees go.
    response.setTimeout(stalledMs, () => response.destroy())
    const ofUser = unsent.get(userId) ?? new Set()
    unsent.set(userId, ofUser.add(response))
    response.once('close', () => {
      ofUser.delete(response)
      if (ofUser.size === 0) unsent.delete(userId)
    })
    let bytes = [...ofUser].reduce((sum, each) => sum + unsentBytesOf(each), 0)
    for (const oldest of ofUser) {
      if (bytes <= bytesMax) break
      bytes -= unsentBytesOf(oldest)
      oldest.destroy()
    }
  }

  return (userId: string, response: ServerResponse) => {
    response.once('prefinish', () => {
      if (unsentBytesOf(response) >= watchedBytesMin) watch(userId, response)
    })
  }
}

const unsentBytesOf = ({ socket }: ServerResponse) => socket?.writableLength ?? 0
