import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { it } from 'vitest'
import { WebSocket } from 'ws'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const messages = 20_000
const sent = {
  pings: () => ({ type: 'ping', payload: { text: 'x'.repeat(1_000) } }),
  'operations that are refused': (n: number) => ({
    id: `${n}`,
    type: 'subscribe',
    payload: { query: `{ ${'x'.repeat(1_000)} }` },
  }),
}

it.each(Object.entries(sent))(
  'of a socket that reads nothing no more %s are read than may wait',
  async (_what, messageOf) => {
    await using server = await startServer()
    let raw: Socket | undefined
    const hear = (message: unknown) => {
      raw ??= (message as { socket: Socket }).socket
    }
    subscribe('net.server.socket', hear)
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    await once(socket, 'open')
    unsubscribe('net.server.socket', hear)
    socket.send(JSON.stringify({ type: 'connection_init' }))
    await once(socket, 'message')

    let answers = 0
    socket.on('message', () => {
      answers += 1
    })
    socket.pause()
    for (let n = 0; n < messages; n++) socket.send(JSON.stringify(messageOf(n)))
    const isStopped = async () => {
      const read = raw?.bytesRead
      await new Promise((resolve) => setTimeout(resolve, 200))
      return raw?.isPaused() && raw.bytesRead === read
    }
    await until(isStopped, { what: 'the server reads no further' })
    socket.resume()
    await until(() => answers === messages, { what: 'all are answered' })
    socket.terminate()
  },
)
