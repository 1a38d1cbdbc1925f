import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'

/** Returns the result of `work`, and the connections that servers of this process accepted meanwhile. */
export async function collectAcceptedSockets<Made>(
  work: () => Promise<Made>,
): Promise<{ made: Made; accepted: Socket[] }> {
  const accepted: Socket[] = []
  const hear = (message: unknown) => void accepted.push((message as { socket: Socket }).socket)
  subscribe('net.server.socket', hear)
  const made = await work().finally(() => unsubscribe('net.server.socket', hear))
  return { made, accepted }
}

/** Opens a WebSocket that is logged in and never reads messages. */
export async function openSocket(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init' }))
  await once(socket, 'message')
  return socket
}
