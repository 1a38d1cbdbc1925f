import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import {
  cutStalledResponse,
  cutStalledStream,
  pingPeer,
  UnsentBytes,
} from '../../../src/graphql/transport/slow-readers.ts'
import { openLog } from '../../../src/logs/append.ts'
import { data } from '../../support/client.ts'
import { collectAcceptedSockets, openSocket } from '../../support/connections.ts'
import { append } from '../../support/log.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const readers: Socket[] = []
const responses: ServerResponse[] = []
/** More than the buffers of both kernels. */
const answerBytes = 16 * 1024 * 1024
const http = createServer((request, response) => {
  responses.push(response)
  whenAnswered(request.url ?? '', response)
  response.end(Buffer.alloc(answerBytes))
})
let whenAnswered: (user: string, response: ServerResponse) => void

beforeEach(() => new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve)))
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.destroy()
  responses.length = 0
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
})

/** Opens a connection that sends a request and never reads. */
function reader(port: number, request: string): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  readers.push(socket.on('error', () => undefined).pause())
  socket.write(request)
  return socket
}

async function asked(user: string): Promise<ServerResponse> {
  const { length } = responses
  reader((http.address() as AddressInfo).port, `GET ${user} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await until(() => responses.length > length, { what: 'the answer is begun' })
  return responses.at(-1) as ServerResponse
}

const hourMs = 3_600_000

it('connections of a user who does not read are cut, and those of other users stay open', async () => {
  const unsentBytes = new UnsentBytes(2.5 * answerBytes)
  whenAnswered = (user, response) => void unsentBytes.watch(user, response.socket as Socket, 'RESPONSE')
  const ann = [await asked('/ann'), await asked('/ann')]
  const bob = await asked('/bob')
  ann.push(await asked('/ann'))
  await until(() => ann.some(({ destroyed }) => destroyed), { what: 'one of them is cut' })
  expect(ann.filter(({ destroyed }) => destroyed)).toHaveLength(1)
  expect(bob.destroyed).toBe(false)
  unsentBytes.stop()
})

it('a WebSocket with too many unsent bytes is cut even if it is the only one, but not an HTTP response', async () => {
  const unsentBytes = new UnsentBytes(answerBytes / 2)
  whenAnswered = (user, response) =>
    void unsentBytes.watch(user, response.socket as Socket, user === '/ann' ? 'SUBSCRIPTIONS' : 'RESPONSE')
  const bob = await asked('/bob')
  const ann = await asked('/ann')
  await until(() => ann.destroyed, { what: 'it is cut' })
  expect(bob.destroyed).toBe(false)
  unsentBytes.stop()
})

it('an HTTP response is cut if its client stops reading', async () => {
  whenAnswered = (_user, response) => cutStalledResponse(response, 50)
  const response = await asked('/ann')
  await until(() => response.destroyed, { what: 'it is cut' })
})

/** Makes a document with a response of 16 MiB. */
async function largeQuery({ domain, submit, url }: TestServer): Promise<string> {
  const jobId = await submit()
  const { job } = await data(url, 'query ($id: ID!) { job(id: $id) { currentRun { id } } }', { id: jobId })
  const head = await openLog(domain.db.sql, job.currentRun.id)
  const pieces = [{ stream: 'STDOUT', bytes: Buffer.alloc(2 ** 20, `${'x'.repeat(1_000)}\n`) }] as const
  await append(domain.db.sql, head, { pieces, position: null, bytesMax: 2 ** 30 })
  const pages = Array.from({ length: 16 }, (_, n) => `p${n}: job(id: "${jobId}") { logs(first: 5000) { text } }`)
  return `{ ${pages.join(' ')} }`
}

it('an HTTP response of the API is cut if its client stops reading', async () => {
  await using server = await startServer({ keepAliveMs: 50 })
  const body = JSON.stringify({ query: await largeQuery(server) })
  let response: ServerResponse | undefined
  const hear = (message: unknown) => {
    response = (message as { response: ServerResponse }).response
  }
  subscribe('http.server.request.start', hear)
  const fields = 'POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json'
  reader(Number(new URL(server.url).port), `${fields}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await until(() => response?.destroyed, { what: 'it is cut' })
  unsubscribe('http.server.request.start', hear)
  expect(response?.writableFinished).toBe(false)
})

it('WebSockets of a user are cut if the client stops reading them', async () => {
  await using server = await startServer({ keepAliveMs: hourMs })
  const query = await largeQuery(server)
  const { made: opened, accepted } = await collectAcceptedSockets(() =>
    Promise.all(Array.from({ length: 8 }, () => openSocket(server.url))),
  )
  const unsent = () => accepted.reduce((sum, { writableLength }) => sum + writableLength, 0)
  const isCut = () => accepted.some(({ destroyed }) => destroyed)
  for (const socket of opened) {
    const before = unsent()
    const isAnswered = () => isCut() || unsent() > before + 2 ** 22
    socket.pause()
    // An overloaded database may refuse a large response: the request is repeated.
    for (let tries = 0; !isAnswered(); tries++) {
      socket.send(JSON.stringify({ id: `large ${tries}`, type: 'subscribe', payload: { query } }))
      await until(isAnswered, { what: 'it is answered', timeoutMs: 10_000 }).catch(() => undefined)
    }
  }
  await until(isCut, { what: 'one of them is cut' })
  for (const socket of opened) socket.terminate()
})

const messageBytes = 96 * 1024 * 1024
const lookMs = 2_000
const stepBytes = 2 * 1024 * 1024
const stepMs = 120

/** Reads in steps, so that one message lasts for several checks. Returns the bytes at the end of the connection. */
async function takeSlowly(socket: Socket): Promise<number> {
  let came = 0
  socket.on('data', ({ length }) => {
    came += length
    if (Math.floor(came / stepBytes) === Math.floor((came - length) / stepBytes)) return
    socket.pause()
    setTimeout(() => socket.resume(), stepMs)
  })
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  return came
}

/** Sends each caller one message in one write, and watches the connection as the server does. */
const sending = {
  'an HTTP stream': () =>
    createServer((_request, response) => {
      response.once('close', cutStalledStream(response, lookMs))
      response.end(Buffer.alloc(messageBytes))
    }),
  'a WebSocket': () => {
    const sockets = new WebSocketServer({ noServer: true })
    const server = createServer()
    server.on('upgrade', (request, raw, head) =>
      sockets.handleUpgrade(request, raw, head, (socket) => {
        socket.once('close', pingPeer(socket, request.socket, lookMs))
        socket.send(Buffer.alloc(messageBytes))
      }),
    )
    return server
  },
}
const upgrade = 'Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13'

it.each([
  ['an HTTP stream', 'Connection: close'],
  ['a WebSocket', `Connection: Upgrade\r\n${upgrade}`],
] as const)(
  '%s is not cut while a slow client reads a message, and is cut once the client stalls',
  async (name, fields) => {
    const server = sending[name]()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const request = `GET / HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n`
    const open = () => reader((server.address() as AddressInfo).port, request)
    expect(await takeSlowly(open())).toBeGreaterThan(messageBytes)
    const cut = new Promise((resolve) => server.once('connection', (raw) => raw.once('close', resolve)))
    const stalled = open()
    await cut
    expect(await takeSlowly(stalled)).toBeLessThan(messageBytes)
    await new Promise((resolve) => server.close(resolve))
  },
)
