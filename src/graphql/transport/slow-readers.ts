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

/** Less is in the buffers of the system. */
const watchedBytesMin = 65_536

/**
 * Cuts an ordinary answer whose reader takes nothing for twice `everyMs`. It is one write, whose parts only the timeout of
 * a socket sees go.
 */
export function cutWhenUnread(response: ServerResponse, everyMs: number): void {
  response.once('prefinish', () => {
    if ((response.socket?.writableLength ?? 0) >= watchedBytesMin)
      response.setTimeout(2 * everyMs, () => response.destroy())
  })
}

export interface UnsentWatch {
  /** Until the function that it returns is called. */
  add(userId: string, socket: Socket, kind: UnsentKind): () => void
  stop(): void
}

/** The subscriptions of a WebSocket go on from their cursors on another one; an answer would have the same size again. */
export type UnsentKind = 'SUBSCRIPTIONS' | 'ANSWER'

const unsentBytesMax = 64 * 1024 * 1024
const unsentLookMs = 1_000

/**
 * Of a user whose connections hold more unsent bytes than `bytesMax` together, those with the most are cut. A message is
 * kept until its reader has taken it, and a connection costs its user nothing. A single answer may have more.
 */
export function createUnsentWatch(bytesMax = unsentBytesMax): UnsentWatch {
  const users = new Map<string, Map<Socket, UnsentKind>>()

  function look() {
    for (const sockets of users.values()) {
      const waiting = [...sockets.keys()].filter((socket) => socket.writableLength > 0)
      let bytes = waiting.reduce((sum, socket) => sum + socket.writableLength, 0)
      waiting.sort((a, b) => a.writableLength - b.writableLength)
      while (bytes > bytesMax) {
        const largest = waiting.pop() as Socket
        if (waiting.length === 0 && sockets.get(largest) === 'ANSWER') break
        bytes -= largest.writableLength
        largest.destroy()
      }
    }
  }

  const timer = setInterval(look, unsentLookMs)
  return {
    add(userId, socket, kind) {
      const sockets = users.get(userId) ?? new Map()
      users.set(userId, sockets.set(socket, kind))
      return () => {
        sockets.delete(socket)
        if (sockets.size === 0) users.delete(userId)
      }
    },
    stop: () => clearInterval(timer),
  }
}
