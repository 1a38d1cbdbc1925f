import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { windowBytes } from '../../src/client/channel/channel.ts'
import { decodeFrame, encodeFrame, encodeJson, type Frame, type Kind, kinds } from '../../src/client/channel/frames.ts'
import type { TakenSession } from '../../src/domain/control/sessions.ts'
import type { ExecProcess, Executor } from '../../src/executors/executor.ts'
import { createLog } from '../../src/platform/log.ts'
import { LiveSession } from '../../src/sessions/live-session.ts'
import { createFakeClock } from '../support/clock.ts'
import { until } from '../support/until.ts'

/** Sessions without a database: what ends, and what is bounded. An unhandled rejection or error fails the test. */
const server = createServer({ allowHalfOpen: true })
const accepted: Socket[] = []
server.on('connection', (socket) => accepted.push(socket.on('error', () => undefined)))
await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address() as AddressInfo
afterEach(() => {
  for (const socket of accepted.splice(0)) socket.destroy()
})

function begin(executor: Partial<Executor>, session: Partial<TakenSession>) {
  const ends: { reason: string; exitCode: number | null }[] = []
  const live = new LiveSession({
    session: {
      id: 's',
      handle: 'h',
      pool: 'p',
      command: ['sh'],
      port: null,
      columns: null,
      rows: null,
      ...session,
    } as TakenSession,
    executor: executor as Executor,
    clock: createFakeClock(),
    log: createLog('silent'),
    onEnd: (end) => ends.push(end),
  })
  return { live, ends }
}

function peer() {
  const frames: Frame[] = []
  const send = (bytes: Uint8Array) => {
    const frame = decodeFrame(bytes)
    if (frame) frames.push(frame)
  }
  return { frames, send, close: () => undefined }
}
const toPort: Partial<Executor> = {
  async connect() {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    await once(socket, 'connect')
    return socket
  },
}

function fakeProcess(more: Partial<ExecProcess> = {}): ExecProcess {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const quiet = { resize: () => undefined, signal: () => undefined, end: () => undefined }
  return { stdin, stdout, stderr: null, exitCode: new Promise(() => undefined), ...quiet, ...more }
}

describe('a session with forwarded ports', () => {
  it('survives a connection that the job resets', async () => {
    const { live } = begin(toPort, { port })
    const line = live.findLine(1)
    const client = peer()
    line?.connect(client, 0)
    await until(() => accepted.length === 1, { what: 'the job is connected' })
    accepted[0]?.resetAndDestroy()
    const exit = await until(() => client.frames.find(({ kind }) => kind === kinds.exit), { what: 'the line ends' })
    expect(JSON.parse(Buffer.from(exit.payload).toString())).toMatchObject({
      reason: expect.stringContaining('ECONNRESET'),
    })
    await live.cut('over')
  })

  it('opens its connections in any order, each once, until its end', async () => {
    const { live } = begin(toPort, { port })
    for (const number of [3, 1, 2]) expect(live.findLine(number)).not.toBeNull()
    live.findLine(1)?.end(null)
    expect(live.findLine(1)).toBeNull()
    live.end('enough')
    expect(live.findLine(4)).toBeNull()
    await live.cut('over')
  })

  it('carries 64 connections at a time', async () => {
    const { live } = begin({ connect: async () => new PassThrough() }, { port })
    for (let number = 1; number <= 64; number++) expect(live.findLine(number)).not.toBeNull()
    expect(live.findLine(65)).toBeNull()
    live.findLine(1)?.end(null)
    expect(live.findLine(65)).not.toBeNull()
    expect(live.findLine(66)).toBeNull()
    await live.cut('over')
  })
})

describe('a command', () => {
  it('gets only the newest size after the previous one was set, and one signal at a time', async () => {
    const gates: (() => void)[] = []
    const calls: string[] = []
    const record = (call: string) => {
      calls.push(call)
      return new Promise<void>((resolve) => gates.push(resolve))
    }
    const process = fakeProcess({ resize: ({ columns }) => record(`${columns}`), signal: (name) => record(name) })
    const { live } = begin({ exec: async () => process }, {})
    const line = live.findLine(0)
    const client = peer()
    line?.connect(client, 0)
    let number = 0
    const send = (kind: Kind, payload: Uint8Array) => {
      number += 1
      line?.receive(client, encodeFrame({ kind, number, payload }))
    }
    for (let columns = 1; columns <= 100; columns++) send(kinds.resize, encodeJson({ columns, rows: 1 }))
    for (const name of ['INT', 'TERM']) send(kinds.signal, Buffer.from(name))
    await until(() => calls.length >= 2, { what: 'the first size and the first signal' })
    await new Promise(setImmediate)
    expect(calls).toEqual(['1', 'INT'])
    for (const open of gates.splice(0)) open()
    await until(() => calls.length >= 4, { what: 'the rest' })
    await new Promise(setImmediate)
    expect(calls).toEqual(['1', 'INT', '100', 'TERM'])
    await live.cut('over')
  })

  it('that prints without end waits for its client, also while the connection is broken', async () => {
    let bytes = 0
    const flood = new Readable({
      read() {
        bytes += 65_536
        this.push(Buffer.alloc(65_536))
      },
    })
    const process = fakeProcess({ stdout: flood, end: () => void flood.destroy() })
    const { live } = begin({ exec: async () => process }, {})
    const line = live.findLine(0)
    const client = peer()
    line?.connect(client, 0)
    const settle = async () => {
      for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    }
    await settle()
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(4 * windowBytes)
    const before = bytes
    line?.disconnect(client, false)
    await settle()
    expect(bytes).toBe(before)
    line?.connect(client, 0)
    line?.receive(client, encodeFrame({ kind: kinds.ack, number: 4, payload: new Uint8Array() }))
    await until(() => bytes > before, { what: 'it continues' })
    await settle()
    expect(bytes).toBeLessThan(before + 4 * windowBytes)
    await live.cut('over')
  })
})
