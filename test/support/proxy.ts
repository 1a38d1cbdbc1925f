import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'

/** A proxy in front of servers that cuts connections, blocks some kinds of them, and can move to another server. */
export interface CuttingProxy {
  readonly url: string
  /** Connections of these kinds are cut as soon as they are recognised. */
  readonly blocked: Set<'websocket' | 'sse'>
  /** Number of forwarded connections of each kind. */
  readonly passed: Record<'websocket' | 'sse', number>
  /** Each connection is cut after this number of bytes from the server. */
  bytesMax: number
  /** Cuts every connection without a closing message. */
  cut(): void
  moveTo(url: string): void
  close(): Promise<void>
}

const kinds = { websocket: /^upgrade: websocket/im, sse: /^accept: text\/event-stream/im } as const

/** Closes each of the two sockets when the other closes. `open`: sockets that are not closed. */
export function closeTogether(near: Socket, far: Socket, open: Set<Socket>): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(one)
    one.on('error', () => other.destroy())
    one.once('close', () => {
      open.delete(one)
      other.destroy()
    })
  }
}

/** `host`: address of this machine to listen on. */
export async function startProxy(target: string, host = '127.0.0.1'): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  const blocked: CuttingProxy['blocked'] = new Set()
  const passed = { websocket: 0, sse: 0 }
  let to = new URL(target)
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname)
    closeTogether(near, far, open)
    near.on('data', (data) => {
      const text = data.toString('latin1')
      for (const [kind, pattern] of Object.entries(kinds) as [keyof typeof kinds, RegExp][]) {
        if (!pattern.test(text)) continue
        if (blocked.has(kind)) return void near.destroy()
        passed[kind]++
      }
      far.write(data)
    })
    far.pipe(near)
    let bytes = 0
    far.on('data', (data) => {
      bytes += data.length
      if (bytes < proxy.bytesMax) return
      far.unpipe(near).destroy()
      near.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  const proxy: CuttingProxy = {
    bytesMax: Number.POSITIVE_INFINITY,
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    blocked,
    passed,
    cut,
    moveTo(url) {
      to = new URL(url)
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      cut()
      await closed
    },
  }
  return proxy
}

/** A proxy in front of a Unix socket. `freeze` stops all traffic during the work, without closing connections. */
export async function startFreezingProxy(target: string, path: string) {
  let thawed: Promise<void> = Promise.resolve()
  async function* hold(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      await thawed
      yield piece
    }
  }
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: target, allowHalfOpen: true })
    for (const [from, to] of [[near, far] as const, [far, near] as const])
      pipeline(from, hold, to).catch(() => from.destroy())
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    async freeze(work: () => Promise<void>): Promise<void> {
      const thaw = Promise.withResolvers<void>()
      thawed = thaw.promise
      await work().finally(thaw.resolve)
    },
    close: () => void server.close(),
  }
}
