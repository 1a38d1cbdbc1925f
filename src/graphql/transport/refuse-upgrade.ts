import type { Duplex } from 'node:stream'

export interface UpgradeRefusal {
  /** Status line without the version: `403 Forbidden`. */
  status: string
  reason: string
}

/** Time for the peer to read the refusal. */
const closeMsMax = 1_000

/**
 * Refuses an upgrade with a status and closes the connection. The timeouts of the HTTP server do not cover upgraded sockets: a
 * peer that never reads, or never closes its half, would keep the connection.
 */
export function refuseUpgrade(socket: Duplex, { status, reason }: UpgradeRefusal): void {
  const timer = setTimeout(() => socket.destroy(), closeMsMax)
  socket.once('close', () => clearTimeout(timer))
  // Drops further bytes: unread bytes would turn the end into a reset, and the response could be lost.
  socket.resume()
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(reason)}\r\n\r\n${reason}`,
  )
}
