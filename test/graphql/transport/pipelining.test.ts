import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { createPipelines } from '../../../src/graphql/transport/pipelining.ts'
import { startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Many requests on one connection, sent without waiting for responses. */
let server: Server | undefined
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
  server = undefined
})

/** Returns the body of each request, and counts received and executing requests. `left`: the client disconnected. */
async function start(work: () => Promise<unknown> = breathe) {
  const inOrder = createPipelines()
  const seen = { there: 0, thereMax: 0, begun: 0, atWork: 0, atWorkMax: 0, done: 0 }
  const listening = createServer((request, response) => {
    seen.thereMax = Math.max(seen.thereMax, ++seen.there)
    void inOrder(response, async () => {
      seen.begun++
      seen.atWorkMax = Math.max(seen.atWorkMax, ++seen.atWork)
      const body = await text(request)
      await work()
      seen.atWork--
      seen.there--
      seen.done++
      response.end(body)
    })
  }).listen(0, '127.0.0.1')
  server = listening
  await once(listening, 'listening')
  const left = new Promise((resolve) => listening.once('connection', (accepted) => accepted.once('close', resolve)))
  const socket = connect((listening.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  return { socket, seen, left }
}

const posting = (body: string) =>
  `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

it('pipelined requests are executed one after the other, and read only as fast as they are executed', async () => {
  const { socket, seen } = await start()
  const count = 5_000
  const bodies = Array.from({ length: count }, (_, n) => `<${n}>`)
  socket.write(bodies.map(posting).join(''))
  let came = ''
  socket.on('data', (data) => {
    came += data
  })
  const far = () => ({
    done: seen.done,
    cut: socket.destroyed,
    reachedServer: socket.bytesWritten - socket.writableLength,
  })
  const reachedServer = Buffer.byteLength(bodies.map(posting).join(''))
  await expect.poll(far, { timeout: 90_000 }).toEqual({ done: count, cut: false, reachedServer })
  await until(() => came.includes(`<${count - 1}>`), { what: 'all are answered' })
  expect(came.match(/<\d+>/g)).toEqual(bodies)
  expect(seen.atWorkMax).toBe(1)
  // At most the requests that arrive with one read of the connection.
  expect(seen.thereMax).toBeLessThan(2_000)
  socket.destroy()
})

it('a connection is not read while a request is executed, whatever the size of the chunks', async () => {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const { socket, seen } = await start(() => mayGoOn)
  const count = 5_000
  const bytes = posting('body').repeat(count)
  const partBytes = posting('body').length * 100
  socket.setNoDelay(true)
  socket.resume()
  // Each chunk ends within a body.
  for (let at = -2; at < bytes.length; at += partBytes) {
    socket.write(bytes.slice(Math.max(at, 0), at + partBytes))
    await sleep(2)
  }
  expect(seen.thereMax).toBeLessThan(2_000)
  goOn()
  await expect.poll(() => seen.done, { timeout: 90_000 }).toBe(count)
  expect(seen.atWorkMax).toBe(1)
  expect(seen.thereMax).toBeLessThan(2_000)
  socket.destroy()
})

it('a long body that follows another request is read completely', async () => {
  const { socket, seen } = await start()
  const long = 'x'.repeat(2_000_000)
  socket.write(`${posting('first')}${posting(long)}${posting('last')}`)
  let came = ''
  socket.on('data', (data) => {
    came += data
  })
  await until(() => came.includes('last'), { what: 'all are answered' })
  expect(came.match(/first|x{2000000}|last/g)).toEqual(['first', long, 'last'])
  expect(seen.done).toBe(3)
  socket.destroy()
})

it('pipelined requests of a disconnected client are not executed', async () => {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const { socket, seen, left } = await start(async () => {
    if (seen.done === 5) await mayGoOn
  })
  socket.write(posting('x').repeat(500))
  await until(() => seen.begun === 6, { what: 'the sixth is executed' })
  socket.destroy()
  goOn()
  // The server does not read meanwhile: its next response fails.
  await left
  const { begun } = seen
  expect(begun).toBeLessThan(500)
  for (let turn = 0; turn < 1_000; turn++) await breathe()
  expect(seen.begun).toBe(begun)
})

it('the server executes one pipelined request of a connection at a time', async () => {
  await using berth = await startServer()
  const body = JSON.stringify({ query: '{ jobs { nodes { id } } }' })
  const headers = ['Host: a.localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`]
  const socket = connect(Number(new URL(berth.url).port), '127.0.0.1')
  const statements = berth.countStatements()
  const ofLists = () => statements.filter((each) => /FROM\s+job/.test(each)).length
  socket.write(`POST /graphql HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`.repeat(300))
  await once(socket, 'data')
  socket.destroy()
  expect(ofLists()).toBeGreaterThan(0)
  expect(ofLists()).toBeLessThan(10)
})
