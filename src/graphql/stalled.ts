import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/**
 * Cuts HTTP streams whose reader takes nothing: bytes waited for twice `everyMs`, and none was taken. Returns the function
 * that stops watching.
 */
export function cutWhenStalled(response: ServerResponse, everyMs: number): () => void {
  const look = createLook(() => response.socket)
  const timer = setInterval(() => {
    if (look() === 'STUCK') response.destroy()
  }, everyMs)
  return () => clearInterval(timer)
}

/**
 * Drops a peer that answers no ping for `everyMs`, so a dead one is gone after twice that. A ping stands behind what was sent
 * before it: a reader that takes of this is not dropped. Returns the function that stops watching.
 */
export function keepAlive(socket: WebSocket, raw: Socket, everyMs: number): () => void {
  const look = createLook(() => raw)
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const timer = setInterval(() => {
    if (look() !== 'TAKES' && !answered) return socket.terminate()
    answered = false
    socket.ping()
  }, everyMs)
  return () => clearInterval(timer)
}

/** What became of the bytes that wait since the last look. */
function createLook(socketOf: () => Socket | null) {
  let before: number | undefined
  return (): 'NONE' | 'TAKES' | 'STUCK' => {
    const socket = socketOf()
    const now = socket && socket.writableLength > 0 ? takenOf(socket) : undefined
    const isSame = now === before
    before = now
    if (now === undefined) return 'NONE'
    return isSame ? 'STUCK' : 'TAKES'
  }
}

/**
 * Changes when the system takes bytes. A message is one write, and of its parts only the handle tells: a reader of 40 kB/s
 * needs 26 s for 1 MiB.
 */
const takenOf = (socket: Socket & { _handle?: { writeQueueSize: number } | null }) =>
  socket.bytesWritten - socket.writableLength - (socket._handle?.writeQueueSize ?? 0)

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
