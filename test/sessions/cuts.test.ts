import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { Random } from '../../simulate/random.ts'
import { ClientLine } from '../../src/client/channel/client-line.ts'
import { cutMsMax, encodeFrame, encodeJson, kinds } from '../../src/client/channel/frames.ts'
import { Line } from '../../src/sessions/line.ts'
import { createFakeClock } from '../support/clock.ts'
import { DownloadServer } from '../support/downloads.ts'
import { mutate, type Person } from '../support/people.ts'
import { isWhole } from '../support/whole.ts'
import { fakeExecutor, startJob } from './fake-executor.ts'

/** Sessions whose connections are cut. */
const users = await DownloadServer.start({ reached: new Map([['sim', new Map([['local', fakeExecutor]])]]) })
afterAll(() => users.server[Symbol.asyncDispose]())
const { server } = users
let ann: Person
let jobId: string
beforeAll(async () => {
  ann = await users.researcher('ann')
  jobId = (await startJob(server, ann)).jobId
})
afterEach(() => void vi.useRealTimers())

const open = async () =>
  (await mutate(ann, 'openSession', { input: { jobId, command: ['cat'] }, wanted: 'url' })).url as string
const socketUrl = (path: string, port = new URL(server.url).port) => `ws://127.0.0.1:${port}${path}`

/** A typed line, which `cat` prints. */
const makeLine = (number: number, padding: number) => Buffer.from(`${number} ${'y'.repeat(padding)}\n`)

describe('a session', () => {
  it.each([1, 2, 3])('delivers each line once and in order through 70 broken connections (seed %i)', async (seed) => {
    const random = new Random(seed)
    let cuts = 0
    class CutSocket extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols)
        let left = random.between(2, 6)
        this.on('message', () => {
          left -= 1
          if (left > 0) return
          cuts += 1
          this.terminate()
        })
      }
    }
    const received: Buffer[] = []
    const line = new ClientLine({
      url: socketUrl(await open()),
      webSocket: CutSocket as unknown as typeof globalThis.WebSocket,
      retryMs: 1,
      take: (_kind, payload) => void received.push(Buffer.from(payload)),
    })
    const sent: Buffer[] = []
    for (let number = 0; cuts < 70; number++) {
      sent.push(makeLine(number, random.between(0, 5_000)))
      await line.send(kinds.stdin, sent.at(-1))
      if (number % 4 === 0) await pause(1)
    }
    await line.send(kinds.eof)
    expect(await line.ended).toEqual({ exitCode: 0, reason: null })
    expect(Buffer.concat(received).equals(Buffer.concat(sent))).toBe(true)
  })

  it.runIf(isWhole)('loses no bytes while the network stands still for 30 s in both directions', async () => {
    const held = new Set<Socket>()
    let isStill = false
    const proxy = createServer((near) => {
      const far = connectTo(Number(new URL(server.url).port), '127.0.0.1')
      for (const socket of [near, far]) held.add(socket.on('error', () => undefined))
      near.pipe(far).pipe(near)
      if (isStill) for (const socket of [near, far]) socket.pause()
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const url = socketUrl(await open(), String((proxy.address() as AddressInfo).port))
    const received: Buffer[] = []
    const line = new ClientLine({ url, take: (_kind, payload) => void received.push(Buffer.from(payload)) })
    const sent: Buffer[] = []
    const typing = (async () => {
      for (let number = 0; number < 2_000; number++) {
        sent.push(makeLine(number, 1_000))
        await line.send(kinds.stdin, sent.at(-1))
        await pause(1)
      }
      await line.send(kinds.eof)
    })()
    await pause(1_000)
    isStill = true
    for (const socket of held) socket.pause()
    await pause(cutMsMax)
    isStill = false
    for (const socket of held) socket.resume()
    await typing
    expect(await line.ended).toEqual({ exitCode: 0, reason: null })
    expect(Buffer.concat(received).equals(Buffer.concat(sent))).toBe(true)
    proxy.close()
  })
})

it('a line that the server refuses ends, and its secret is empty', async () => {
  const line = new ClientLine({ url: socketUrl('/sessions/session_0/none'), take: () => undefined })
  expect(await line.ended).toEqual({ exitCode: null, reason: 'The server refused the connection' })
  expect(await Promise.race([line.secret, pause(1_000, 'still awaited')])).toBe('')
})

describe('a broken connection of 30 s', () => {
  it('does not end the session at the server', async () => {
    const clock = createFakeClock()
    const ends: unknown[] = []
    const line = new Line({ clock, secret: 's', take: () => undefined, onEnd: (reason) => ends.push(reason) })
    const peer = { send: () => undefined, close: () => undefined }
    line.connect(peer, 0)
    line.disconnect(peer, false)
    await clock.advance(cutMsMax + 1_000)
    expect(ends).toEqual([])
    line.connect(peer, 0)
    line.disconnect(peer, false)
    await clock.advance(2 * cutMsMax)
    expect(ends).toEqual(['The client did not come back'])
  })

  it('does not end the session at the client, which last heard of the server 5 s before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
    let isCut = false
    const sockets: FakeSocket[] = []
    class FakeSocket {
      onmessage?: (message: { data: Uint8Array<ArrayBuffer> }) => void
      onclose?: (end: { code: number; reason: string }) => void
      constructor() {
        sockets.push(this)
        if (isCut) setTimeout(() => this.onclose?.({ code: 1006, reason: '' }), 0)
        else setTimeout(() => this.greet(), 0)
      }
      greet() {
        const payload = encodeJson({ secret: 's', received: 0 })
        this.onmessage?.({ data: encodeFrame({ kind: kinds.hello, number: 0, payload }) })
      }
      send() {}
      close() {}
    }
    const connected = vi.fn()
    const webSocket = FakeSocket as unknown as typeof globalThis.WebSocket
    const line = new ClientLine({ url: 'ws://x', take: () => undefined, onConnect: connected, webSocket })
    const ended = vi.fn()
    void line.ended.then(ended)
    await vi.advanceTimersByTimeAsync(4_900)
    isCut = true
    sockets.at(-1)?.onclose?.({ code: 1006, reason: '' })
    await vi.advanceTimersByTimeAsync(cutMsMax)
    isCut = false
    await vi.advanceTimersByTimeAsync(1_000)
    expect([ended.mock.calls.length, connected.mock.calls.length]).toEqual([0, 2])
    isCut = true
    sockets.at(-1)?.onclose?.({ code: 1006, reason: '' })
    await vi.advanceTimersByTimeAsync(2 * cutMsMax)
    const reason = 'The connection was cut for more than 30 s, so the session is over'
    expect(ended).toHaveBeenCalledWith({ exitCode: null, reason })
  })
})
