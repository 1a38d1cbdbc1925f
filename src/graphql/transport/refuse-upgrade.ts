import type { Duplex } from 'node:stream'

export interface UpgradeRefusal {
  /** Status line without the version: `403 Forbidden`. */
  status: string
  reason: string
}

/** How long a peer may take to read why it was refused. */
const lastWordMsMax = 1_000

/**
 * Answers an upgrade with a status and closes the connection for good. An upgraded socket belongs to no HTTP server any
 * more, so none of its time-outs hold: a peer that never closes its own half, or never reads, would keep the
 * connection.
 */
export function refuseUpgrade(socket: Duplex, { status, reason }: UpgradeRefusal): void {
  const timer = setTimeout(() => socket.destroy(), lastWordMsMax)
  socket.once('close', () => clearTimeout(timer))
  // What the peer still sends is thrown away: unread bytes would turn the end into a reset, and the answer might be
  // lost.
  socket.resume()
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(reason)}\r\n\r\n${reason}`,
  )
}
