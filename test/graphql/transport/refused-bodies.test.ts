import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToken } from '../../../src/domain/people/tokens.ts'
import { createResponseClass, sendPlain, type UnreadBounds } from '../../../src/graphql/transport/refused-bodies.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** The sender of a refused body gets its response, even if it sends first and reads later. */
let server: TestServer
let token: string
beforeAll(async () => {
  server = await startServer({ logIn: { oidc: null } })
  const made = await createToken(server.domain, server.admin, { name: 't' })
  token = made.secret
})
afterAll(() => server[Symbol.asyncDispose]())

const KiB = 1024
const MiB = 1024 * KiB
const bytesMax = 8 * MiB
const msMax = 300
const pieceBytes = 64 * KiB
const atOnce = 8

interface Refused {
  status: number
  path?: string
  method?: string
  headers?: Record<string, string>
  bytes: number
}

const json = { 'content-type': 'application/json' }
const known = () => ({ ...json, authorization: `Bearer ${token}` })

const refusals: [string, () => Refused][] = [
  ['no token, 20 KiB', () => ({ status: 401, headers: json, bytes: 20 * KiB })],
  ['no token, 1 MiB', () => ({ status: 401, headers: json, bytes: MiB })],
  ['an unknown token', () => ({ status: 401, headers: { ...json, authorization: 'Bearer x' }, bytes: MiB })],
  ['a body over the size limit', () => ({ status: 413, headers: known(), bytes: 5 * MiB })],
  ['a body with too many values', () => ({ status: 400, headers: known(), bytes: MiB })],
  ['a foreign origin', () => ({ status: 403, headers: { ...json, origin: 'https://a.example' }, bytes: MiB })],
  ['another Content-Type', () => ({ status: 415, headers: { 'content-type': 'text/plain' }, bytes: MiB })],
  ['an unknown path', () => ({ status: 404, path: '/nothing', headers: json, bytes: MiB })],
  ['another method', () => ({ status: 405, method: 'PUT', headers: json, bytes: MiB })],
  ['a path that ignores the body', () => ({ status: 200, path: '/healthz', headers: json, bytes: MiB })],
]

function bodyOf(bytes: number): Buffer {
  return Buffer.alloc(bytes, ',')
}

async function* piecesOf(body: Buffer) {
  for (let from = 0; from < body.length; from += pieceBytes) {
    yield body.subarray(from, from + pieceBytes)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const target = (path = '/graphql') => new URL(path, server.url)

interface Sender {
  body: BodyInit
  duplex?: 'half'
}

async function fetched({ path, method = 'POST', headers = {} }: Refused, sender: Sender): Promise<number> {
  const sent: RequestInit & Sender = { method, headers, redirect: 'manual', ...sender }
  const response = await fetch(target(path), sent)
  await response.text()
  return response.status
}

const byFetch = (refused: Refused) => fetched(refused, { body: new Uint8Array(bodyOf(refused.bytes)) })

const byFetchInPieces = (refused: Refused) =>
  fetched(refused, { body: Readable.toWeb(Readable.from(piecesOf(bodyOf(refused.bytes)))) as BodyInit, duplex: 'half' })

function headOf({ path = '/graphql', method = 'POST', headers = {} }: Refused, more: Record<string, string>): string {
  const lines = Object.entries({ host: target().host, ...headers, ...more }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Opens a socket. Also returns a promise that rejects if the socket fails. */
function opened(url = server.url) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const failed = once(socket, 'error').then(([error]) => {
    throw error
  })
  failed.catch(() => undefined)
  return { socket, failed }
}

/** Sends the whole request before reading, as many clients do. */
async function bySocket(refused: Refused, connection = 'keep-alive'): Promise<number> {
  const { socket, failed } = opened()
  const answered = async () => {
    socket.write(headOf(refused, { 'content-length': String(refused.bytes), connection }))
    for await (const piece of piecesOf(bodyOf(refused.bytes)))
      await new Promise((resolve) => socket.write(piece, resolve))
    const [first] = (await once(socket, 'data')) as [Buffer]
    return Number(/^HTTP\/1.1 (\d+)/.exec(first.toString())?.[1])
  }
  try {
    return await Promise.race([answered(), failed])
  } finally {
    socket.destroy()
  }
}

describe.each([
  ['fetch', byFetch],
  ['fetch without Content-Length', byFetchInPieces],
  ['a socket that reads after writing', bySocket],
  ['a socket that reads after writing, with Connection: close', (refused: Refused) => bySocket(refused, 'close')],
])('a refusal that is sent before the whole body has arrived, over %s', (_how, ask) => {
  it.each(refusals)('reaches each of many concurrent clients: %s', async (_what, refusal) => {
    const refused = refusal()
    const came = await Promise.all(Array.from({ length: atOnce }, () => ask(refused).catch(String)))
    expect(came).toEqual(Array(atOnce).fill(refused.status))
  })
})

describe('a client that never finishes its body', () => {
  const refuseAll = (bounds: UnreadBounds) => {
    const http = createServer({ ServerResponse: createResponseClass(bounds) }, (_request, response) =>
      sendPlain(response, 415, 'no'),
    )
    beforeAll(() => new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve)))
    afterAll(() => new Promise((resolve) => http.close(resolve)))
    return () => `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  }
  const boundedByBytes = refuseAll({ bytesMax, msMax: 60_000 })
  const boundedByTime = refuseAll({ bytesMax, msMax })
  const endless: Refused = { status: 415, headers: { 'content-type': 'text/plain' }, bytes: 0 }

  it('gets the response at once, and is disconnected above the limit of bytes', async () => {
    const { socket } = opened(boundedByBytes())
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.write(headOf(endless, { 'content-length': String(2 ** 40) }))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 415 .*connection: close.*\r\nno\n$/is)
    const piece = bodyOf(pieceBytes)
    while (!socket.destroyed) await new Promise((resolve) => socket.write(piece, resolve))
    await closed
    expect(socket.bytesWritten).toBeGreaterThan(bytesMax)
    expect(socket.bytesWritten).toBeLessThan(bytesMax + 16 * MiB)
  })

  it.each(['keep-alive', 'close'])(
    'gets the response, and is disconnected after the timeout if it stalls: Connection: %s',
    async (connection) => {
      const { socket } = opened(boundedByTime())
      const started = performance.now()
      const closed = once(socket, 'close')
      socket.write(headOf(endless, { 'content-length': '1000', connection }))
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 415 /)
      await closed
      expect(performance.now() - started).toBeGreaterThan(msMax)
    },
  )
})

it('a connection serves the next request after the body of a refused request was discarded', async () => {
  const { socket, failed } = opened()
  const body = bodyOf(MiB)
  socket.write(headOf({ status: 415, bytes: 0 }, { 'content-length': String(MiB) }))
  socket.write(body)
  socket.write(`GET /healthz HTTP/1.1\r\nhost: ${target().host}\r\n\r\n`)
  let told = ''
  const both = (async () => {
    for await (const part of socket) {
      told += part
      if (/415 .*HTTP\/1.1 200 OK/s.test(told)) return true
    }
    return told
  })()
  expect(await Promise.race([both, failed])).toBe(true)
})
