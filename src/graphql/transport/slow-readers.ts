import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { limits } from '../caller-limits.ts'

/** Cuts an SSE stream whose reader takes no bytes for twice `everyMs`. Returns the function that stops watching. */
export function cutStalledStream(response: ServerResponse, everyMs: number): () => void {
  const checkProgress = createProgressCheck(() => response.socket)
  const timer = setInterval(() => {
    if (checkProgress() === 'STUCK') response.destroy()
  }, everyMs)
  return () => clearInterval(timer)
}

/**
 * Pings a peer and cuts it if it sends no pong for `everyMs`. Pings queue behind data, so a peer that still reads is
 * not cut.
 */
export function pingPeer(socket: WebSocket, raw: Socket, everyMs: number): () => void {
  const checkProgress = createProgressCheck(() => raw)
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const timer = setInterval(() => {
    if (checkProgress() !== 'READS' && !answered) return socket.terminate()
    answered = false
    socket.ping()
  }, everyMs)
  return () => clearInterval(timer)
}

/** Returns a function that reports whether the peer has read any of the waiting bytes since the last call. */
function createProgressCheck(getSocket: () => Socket | null) {
  let before: number | undefined
  return (): 'NONE' | 'READS' | 'STUCK' => {
    const socket = getSocket()
    const now = socket && socket.writableLength > 0 ? countSentBytes(socket) : undefined
    const isSame = now === before
    before = now
    if (now === undefined) return 'NONE'
    return isSame ? 'STUCK' : 'READS'
  }
}

/** Includes the sent part of the current write, which only the internal handle knows: 1 MiB at 40 kB/s takes 26 s. */
const countSentBytes = (socket: Socket & { _handle?: { writeQueueSize: number } | null }) =>
  socket.bytesWritten - socket.writableLength - (socket._handle?.writeQueueSize ?? 0)

/** Fewer bytes than this fit into the buffers of the system, so a stall cannot be seen. */
const watchedBytesMin = 65_536

/**
 * Cuts a response whose reader takes no bytes for twice `everyMs`. A socket timeout would not do, because it sees no
 * progress within one write.
 */
export function cutStalledResponse(response: ServerResponse, everyMs: number): void {
  response.once('prefinish', () => {
    if ((response.socket?.writableLength ?? 0) >= watchedBytesMin)
      response.setTimeout(2 * everyMs, () => response.destroy())
  })
}

export type UnsentKind = 'SUBSCRIPTIONS' | 'RESPONSE'

const pollMs = 1_000

/**
 * Limits the unsent bytes of all connections of a user. Above the limit the connections with the most unsent bytes are
 * cut. A single response may exceed the limit, because a repeated request would have the same size.
 */
export class UnsentBytes {
  readonly #bytesMax: number
  readonly #users = new Map<string, Map<Socket, UnsentKind>>()
  readonly #timer = setInterval(() => this.#check(), pollMs)

  constructor(bytesMax: number = limits.unsentBytesPerUserMax) {
    this.#bytesMax = bytesMax
  }

  /** Watches a connection until the returned function is called. */
  watch(userId: string, socket: Socket, kind: UnsentKind): () => void {
    const sockets = this.#users.get(userId) ?? new Map<Socket, UnsentKind>()
    this.#users.set(userId, sockets.set(socket, kind))
    return () => {
      sockets.delete(socket)
      if (sockets.size === 0) this.#users.delete(userId)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check() {
    for (const sockets of this.#users.values()) {
      const waiting = [...sockets.keys()].filter((socket) => socket.writableLength > 0)
      let bytes = waiting.reduce((sum, socket) => sum + socket.writableLength, 0)
      waiting.sort((a, b) => a.writableLength - b.writableLength)
      while (bytes > this.#bytesMax) {
        const largest = waiting.pop() as Socket
        if (waiting.length === 0 && sockets.get(largest) === 'RESPONSE') break
        bytes -= largest.writableLength
        largest.destroy()
      }
    }
  }
}
