import type { Duplex } from 'node:stream'

/**
 * Sockets that have not logged in, of each address. Everyone behind a proxy has one address, so a full address must not
 * shut out log-ins: its oldest socket makes room. A client sends its `connection_init` at once, and is admitted long
 * before a thousand others come.
 */
export interface Strangers {
  /** Returns the function to call when the socket has logged in. */
  enter(address: string, socket: Duplex): () => void
}

export function createStrangers(perAddressMax: number): Strangers {
  const addresses = new Map<string, Set<Duplex>>()
  return {
    enter(address, socket) {
      const sockets = addresses.get(address) ?? new Set()
      const leave = () => {
        sockets.delete(socket)
        if (sockets.size === 0) addresses.delete(address)
      }
      const [oldest] = sockets
      if (oldest && sockets.size >= perAddressMax) {
        sockets.delete(oldest)
        oldest.destroy()
      }
      sockets.add(socket)
      addresses.set(address, sockets)
      socket.once('close', leave)
      return leave
    },
  }
}
