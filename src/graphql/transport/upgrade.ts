import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** true: an upgrade to WebSocket. Some clients offer HTTP/2 in their first request, which the server ignores. */
export const isWebSocket = ({ headers }: IncomingMessage) => /^websocket$/i.test(headers.upgrade ?? '')

export interface UpgradeRefusal {
  requestId: string
  status: string
  reason: string
}

const closeMsMax = 1_000

/**
 * Refuses an upgrade. The timeouts of the HTTP server do not apply to upgraded sockets, so a peer that never reads
 * would keep the connection.
 */
export function refuseUpgrade(socket: Duplex, { requestId, status, reason }: UpgradeRefusal): void {
  const timer = setTimeout(() => socket.destroy(), closeMsMax)
  socket.once('close', () => clearTimeout(timer))
  // Drops further bytes: unread bytes would turn the close into a reset, and the response could be lost.
  socket.resume()
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}\r\nContent-Length: ${Buffer.byteLength(reason)}\r\n\r\n${reason}`,
  )
}
