import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { closeTogether } from '../support/proxy.ts'

/** Where a connection to the database breaks: before PostgreSQL gets a request, or after a response that is lost. */
export type Side = 'unheard' | 'unanswered'

/** A proxy in front of PostgreSQL that counts the requests of all connections, and stops at one of them. */
export interface Wire {
  readonly url: string
  /** Resolves when the request with this number, counted from now, arrives; from then on no data passes. */
  stopAt(request: number, side: Side): Promise<void>
  /** Breaks all connections; new ones work. */
  cut(): void
  close(): Promise<void>
}

/**
 * Messages to which PostgreSQL responds: the first of a connection, a simple query, and the end of an extended query.
 */
const requests: ReadonlySet<string> = new Set(['', 'Q', 'S'])
/** The last message of a response. */
const answers: ReadonlySet<string> = new Set(['Z'])
const lengthBytes = 4

/** Counts the messages of these types that end in the data. The first message of a client has no type. */
function createCounter(types: ReadonlySet<string>, isClient: boolean): (data: Buffer) => number {
  let typeBytes = isClient ? 0 : 1
  let rest = Buffer.alloc(0)
  return (data) => {
    rest = Buffer.concat([rest, data])
    let count = 0
    while (rest.length >= typeBytes + lengthBytes) {
      const end = typeBytes + rest.readUInt32BE(typeBytes)
      if (rest.length < end) break
      if (types.has(rest.toString('latin1', 0, typeBytes))) count += 1
      rest = rest.subarray(end)
      typeBytes = 1
    }
    return count
  }
}

export async function startWire(target: string): Promise<Wire> {
  const to = new URL(target)
  const open = new Set<Socket>()
  let left = Number.POSITIVE_INFINITY
  let side: Side = 'unheard'
  let isStopped = false
  let atStop = Promise.withResolvers<void>()
  const stop = () => {
    isStopped = true
    atStop.resolve()
  }

  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname)
    closeTogether(near, far, open)
    const asked = createCounter(requests, true)
    const answered = createCounter(answers, false)
    let waiting = 0
    /** The number of the last response, which is not forwarded. */
    let last = Number.POSITIVE_INFINITY
    near.on('data', (data) => {
      if (isStopped) return
      const count = asked(data)
      const isHere = left > 0 && left <= count
      left -= count
      waiting += count
      if (isHere && side === 'unheard') return stop()
      if (isHere) last = waiting
      far.write(data)
    })
    far.on('data', (data) => {
      if (isStopped) return
      const count = answered(data)
      waiting -= count
      last -= count
      if (last <= 0) stop()
      else near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    isStopped = false
    left = Number.POSITIVE_INFINITY
    for (const socket of open) socket.destroy()
  }
  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    stopAt(request, where) {
      left = request
      side = where
      atStop = Promise.withResolvers<void>()
      return atStop.promise
    },
    cut,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      cut()
      await closed
    },
  }
}
