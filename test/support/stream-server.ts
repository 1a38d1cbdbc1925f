import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema, execute, GraphQLError, subscribe, validate } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'

/**
 * A small server with Berth's protocols, whose connections can be cut. It counts from `after` to `last`, with `batch`
 * numbers per message.
 */
export interface StreamServer {
  url: string
  /** Variables of the subscriptions, in order. */
  readonly asked: { after?: string | null; lastLines?: number | null }[]
  readonly sent: () => number
  /** Cuts every connection without a closing message. */
  cut(): void
  close(): Promise<void>
}

export interface StreamOptions {
  last: number
  /** Number of padding bytes in each message. */
  padding?: number
  closeCode?: number
  /** Every second subscription gets UNAVAILABLE, and after this many messages the connection is cut. */
  awayEvery?: number
}

const schema = buildSchema(`
  type Query { ok: Boolean }
  type Message { number: Int! cursor: String! filling: String! }
  type Subscription { count(after: String, lastLines: Int): Message! }
`)

export async function startStreamServer({
  last,
  padding = 0,
  closeCode,
  awayEvery,
}: StreamOptions): Promise<StreamServer> {
  const asked: StreamServer['asked'] = []
  let sent = 0
  let cutAt = 0
  const http = createServer()
  const sockets = new WebSocketServer({ server: http, path: '/graphql' })
  const cut = () => {
    for (const socket of sockets.clients) socket.terminate()
  }
  function count(args: { after?: string; lastLines?: number }) {
    asked.push({ ...args })
    if (awayEvery && asked.length % 2 === 0)
      throw new GraphQLError('The database is not available', { extensions: { code: 'UNAVAILABLE' } })
    return counting(args)
  }
  async function* counting(args: { after?: string }) {
    for (let number = Number(args.after ?? 0) + 1; number <= last; number++) {
      await new Promise((resolve) => setImmediate(resolve))
      sent = number
      if (awayEvery && number % awayEvery === 0 && number > cutAt) {
        cutAt = number
        cut()
      }
      yield { count: { number, cursor: String(number), filling: 'x'.repeat(padding) } }
    }
  }
  const protocol = useServer({ schema, roots: { subscription: { count } }, execute, subscribe, validate }, sockets)
  if (closeCode !== undefined) sockets.on('connection', (socket: WebSocket) => socket.close(closeCode))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked,
    sent: () => sent,
    cut,
    close: async () => {
      await protocol.dispose()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}
