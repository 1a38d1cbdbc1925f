import { once } from 'node:events'
import { createServer, request as openHttp, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HttpClient } from '../../../src/executors/backend/http-client.ts'
import { BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'
import { createFakeClock, type FakeClock } from '../../support/clock.ts'
import { until } from '../../support/until.ts'

const piece = Buffer.alloc(256 * 1024)
/** Larger than the buffers of both ends of a connection. */
const piecesMax = 400

let clock: FakeClock
let client: HttpClient
let server: Server
let answer: RequestListener
/** The pieces that the client read from its source, and whether it closed the source. */
let taken: number
let isClosed: boolean

beforeEach(async () => {
  clock = createFakeClock()
  client = new HttpClient('backend', clock)
  taken = 0
  isClosed = false
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  client.close()
  server.closeAllConnections()
  server.close()
})

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  try {
    for (; taken < count; taken++) yield piece
  } finally {
    isClosed = true
  }
}

function put(body: AsyncIterable<Uint8Array>, signal?: AbortSignal) {
  const { port } = server.address() as AddressInfo
  const target = { address: 'backend', open: openHttp, options: { host: '127.0.0.1', port, agent: false } }
  return client.send(target, { method: 'PUT', path: '/', body, signal })
}

/** Waits until the client waits for the backend: it has set a time limit, and reads no more from its source. */
const untilBlocked = (before = 0) => until(() => taken > before && clock.sleeping === 1, { what: 'the upload waits' })

describe('a request with a streamed body', () => {
  it('sends all pieces of the body', async () => {
    let bytes = 0
    answer = async (request, response) => {
      for await (const each of request as AsyncIterable<Buffer>) bytes += each.length
      response.end('taken')
    }
    expect(await client.readText(await put(pieces(piecesMax)))).toBe('taken')
    expect(bytes).toBe(piecesMax * piece.length)
    expect(clock.sleeping).toBe(0)
  })

  it('reads from its source only as fast as the backend reads, and continues as long as bytes are sent', async () => {
    let goOn: () => void = () => undefined
    const waitForTest = () =>
      new Promise<void>((resolve) => {
        goOn = resolve
      })
    answer = async (request, response) => {
      let bytes = 0
      for await (const each of request as AsyncIterable<Buffer>) {
        const before = Math.floor(bytes / 2 ** 25)
        bytes += each.length
        if (Math.floor(bytes / 2 ** 25) > before) await waitForTest()
      }
      response.end(String(bytes))
    }
    const sent = put(pieces(piecesMax))
    for (const _ of ['first', 'second']) {
      await untilBlocked(taken)
      expect(taken).toBeLessThan(piecesMax)
      await clock.advance(29_000)
      goOn()
    }
    const isAllSent = () => {
      goOn()
      return isClosed
    }
    await until(isAllSent, { what: 'all is sent' })
    expect((await sent).statusCode).toBe(200)
  })

  it('fails if the backend reads no byte for 30 s, and closes its source', async () => {
    answer = (request) => void request.pause()
    const sent = put(pieces(piecesMax)).catch((error: unknown) => error)
    await untilBlocked()
    await clock.advance(30_001)
    expect(await sent).toBeInstanceOf(BackendUnreachable)
    await until(() => isClosed, { what: 'the source is closed' })
  })

  it('fails if no response arrives within 30 s after the body was sent', async () => {
    answer = (request) => void request.resume()
    const sent = put(pieces(1)).catch((error: unknown) => error)
    await until(() => isClosed && clock.sleeping === 1, { what: 'the body is sent' })
    await clock.advance(30_001)
    expect(await sent).toMatchObject({ message: expect.stringContaining('no answer within 30 s') })
  })

  it('ends early if the response arrives before the end of the body', async () => {
    answer = (_, response) => void response.writeHead(507, { connection: 'close' }).end('no space')
    const response = await put(pieces(piecesMax))
    expect(response.statusCode).toBe(507)
    expect(await client.readText(response)).toBe('no space')
    await until(() => isClosed, { what: 'the source is closed' })
    expect(taken).toBeLessThan(piecesMax)
  })

  it('fails with the error of its source, and does not send the end of the body', async () => {
    let cuts = 0
    answer = (request) => void request.on('error', () => void cuts++).resume()
    const broken = async function* () {
      yield* pieces(3)
      throw new Error('the database is away')
    }
    await expect(put(broken())).rejects.toThrow('the database is away')
    await until(() => cuts > 0, { what: 'the backend sees a broken connection' })
  })

  it('ends when its signal is aborted', async () => {
    answer = (request) => void request.pause()
    const abort = new AbortController()
    const sent = put(pieces(piecesMax), abort.signal).catch((error: unknown) => error)
    await untilBlocked()
    abort.abort()
    expect(await sent).toBeInstanceOf(BackendUnreachable)
    await until(() => isClosed, { what: 'the source is closed' })
  })
})
