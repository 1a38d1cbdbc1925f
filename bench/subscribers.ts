import { once } from 'node:events'
import { WebSocket } from 'ws'

/** Many subscriptions over few sockets. The reader does as little work as possible, because the server is measured. */
export interface Subscribers {
  /** Calls `trigger`. Resolves when each subscription got another message, with the time of each. */
  spread(trigger: () => Promise<unknown>): Promise<number[]>
  close(): void
}

export interface Wanted {
  url: string
  sockets: number
  perSocket: number
  payload: { query: string; variables: object }
  tokenOf?: (socket: number) => string
}

export async function openSocket(url: string, token?: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws')
  await once(socket, 'open')
  const payload = token === undefined ? {} : { authorization: `Bearer ${token}` }
  socket.send(JSON.stringify({ type: 'connection_init', payload }))
  await once(socket, 'message')
  return socket
}

export async function subscribeAll({ url, sockets, perSocket, payload, tokenOf }: Wanted): Promise<Subscribers> {
  let heard = () => {}
  const next = (count: number) =>
    new Promise<number[]>((resolve) => {
      const began = performance.now()
      const tookMs: number[] = []
      heard = () => {
        tookMs.push(performance.now() - began)
        if (tookMs.length === count) resolve(tookMs)
      }
    })
  const open: WebSocket[] = []
  for (let n = 0; n < sockets; n++) {
    const socket = await openSocket(url, tokenOf?.(n))
    socket.on('message', (data: Buffer) => {
      if (data.includes('"transitions":[{')) heard()
      else if (data.includes('"errors"')) throw new Error(String(data))
    })
    const all = next(perSocket)
    for (let id = 0; id < perSocket; id++) socket.send(JSON.stringify({ id: `${id}`, type: 'subscribe', payload }))
    await all
    open.push(socket)
  }
  return {
    async spread(trigger) {
      const all = next(sockets * perSocket)
      await trigger()
      return all
    },
    close: () => {
      for (const socket of open) socket.terminate()
    },
  }
}
