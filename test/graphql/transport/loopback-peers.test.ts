import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createPeerCheck } from '../../../src/graphql/transport/loopback-peers.ts'
import { createLog } from '../../../src/platform/log.ts'
import { Unavailable } from '../../../src/platform/tx.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const isLinux = process.platform === 'linux'
const isRoot = process.getuid?.() === 0
const nobody = 65_534

/** Opens a connection as an account. */
async function connectAs(uid: number, url: URL): Promise<Socket> {
  process.seteuid?.(uid)
  try {
    const socket = connect(Number(url.port), url.hostname.replace(/[[\]]/g, ''))
    await once(socket, 'connect')
    return socket
  } finally {
    process.seteuid?.(0)
  }
}

async function answerTo(socket: Socket, head: string, body = ''): Promise<string> {
  let answer = ''
  socket.on('data', (data) => (answer += data))
  socket.write(`${head}\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await once(socket, 'close')
  return answer
}

const body = JSON.stringify({ query: '{ viewer { user { name } } }' })
const post = 'POST /graphql HTTP/1.1\r\nContent-Type: application/json'
const upgrade =
  'GET /graphql HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='

describe.runIf(isLinux && isRoot).each(['127.0.0.1', '::1'])('single-user mode, listening on %s', (host) => {
  let server: TestServer
  let url: URL
  beforeAll(async () => {
    server = await startServer({ config: { host } })
    url = new URL(server.url)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  it('single-user mode refuses other accounts of the machine with a remedy, over HTTP and WebSocket', async () => {
    for (const [head, sent] of [[post, body], ['GET /graphql?query={__typename} HTTP/1.1'], [upgrade]] as const) {
      const answer = await answerTo(await connectAs(nobody, url), head, sent)
      expect(answer).toMatch(/^HTTP\/1.1 403 Forbidden/)
      expect(answer).toContain(
        `The account with uid ${nobody} is not allowed: in single-user mode Berth serves only the account that`,
      )
      expect(answer).not.toContain('local')
    }
  })

  it('single-user mode serves the account that runs the server', async () => {
    const answer = await answerTo(await connectAs(0, url), post, body)
    expect(answer).toMatch(/^HTTP\/1.1 200/)
    expect(answer).toContain('"name":"local"')
  })

  it('single-user mode serves /healthz and /readyz to every account', async () => {
    expect(await answerTo(await connectAs(nobody, url), 'GET /healthz HTTP/1.1')).toMatch(/^HTTP\/1.1 200/)
  })
})

describe.runIf(isLinux)('the account of the client of a loopback connection', () => {
  it('is unknown, and not taken for root, if the connection is closed', async () => {
    const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const accepted = once(listener, 'connection')
    const client = connect((listener.address() as { port: number }).port, '127.0.0.1')
    const [socket] = (await accepted) as [Socket]
    client.destroy()
    await once(socket, 'end', { signal: AbortSignal.timeout(5_000) }).catch(() => socket.resume())
    expect(await createPeerCheck(createLog('silent'))(socket)).toMatch(/^The account of this connection is unknown/)
    socket.destroy()
    listener.close()
  })

  it('is found for many connections at once', async () => {
    const check = createPeerCheck(createLog('silent'))
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as { port: number }
    const verdicts: Promise<string | null>[] = []
    listener.on('connection', (socket) => verdicts.push(check(socket)))
    const clients = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'))
    await Promise.all(clients.map((client) => once(client, 'connect')))
    while (verdicts.length < clients.length) await once(listener, 'connection')
    expect(await Promise.all(verdicts)).toEqual(clients.map(() => null))
    for (const client of clients) client.destroy()
    listener.close()
  })

  it('is found after the machine has been suspended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const check = createPeerCheck(createLog('silent'))
    const { socket, close } = await connection()
    const first = check(socket)
    await nextTurn()
    const other = await connection()
    const second = check(other.socket)
    vi.advanceTimersByTime(60_000)
    vi.useRealTimers()
    expect(await Promise.all([first, second])).toEqual([null, null])
    close()
    other.close()
  })

  it('is looked up again after the connection tables of the kernel could not be read', async () => {
    let reads = 0
    const check = createPeerCheck(createLog('silent'), async () => {
      if (reads++ === 0) throw new Unavailable('no more files')
      return null
    })
    const { socket, close } = await connection()
    await expect(check(socket)).rejects.toThrow('no more files')
    expect(await check(socket)).toBeNull()
    expect(await check(socket)).toBeNull()
    expect(reads).toBe(2)
    close()
  })
})

async function connection() {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const accepted = once(listener, 'connection')
  const client = connect((listener.address() as { port: number }).port, '127.0.0.1')
  const [socket] = (await accepted) as [Socket]
  const close = () => {
    client.destroy()
    listener.close()
  }
  return { socket, close }
}
