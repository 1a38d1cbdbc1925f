import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { createServers } from '../../../src/client/connection/servers.ts'
import { subscribeOverSse } from '../../../src/client/connection/sse.ts'
import { createTokens } from '../../../src/client/connection/tokens.ts'
import { createClient } from '../../../src/client/jobs/client.ts'

/** Streams of a server, or of a proxy before it, that sends too little. */
const leaving = new AbortController()
const closing: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) close()
})

async function listening(serve: RequestListener) {
  const server = createServer(serve).listen(0, '127.0.0.1')
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function openAt(serve: RequestListener) {
  const { server, url } = await listening(serve)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const servers = createServers(url)
  const asked = once(server, 'request')
  let onOpen = () => {}
  const opened = new Promise<void>((resolve) => {
    onOpen = resolve
  })
  const stream = subscribeOverSse(
    { servers, tokens: createTokens(undefined), onOpen },
    { query: '{ a }' },
    leaving.signal,
  )
  return { stream, asked, opened }
}

/** Checks that `next` rejects exactly after this time. */
async function demandEnd(next: Promise<unknown>, afterMs: number) {
  await new Promise((resolve) => setImmediate(resolve))
  let failure: unknown
  const ended = next.catch((error: unknown) => {
    failure = error
  })
  await vi.advanceTimersByTimeAsync(afterMs - 1)
  expect(failure).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  await ended
  expect(failure).toMatchObject({ code: 'UNREACHABLE' })
}

const head = { 'content-type': 'text/event-stream' }
const event = 'event: next\ndata: {"data":{"a":1}}\n\n'

it.each<['asked' | 'opened', RequestListener]>([
  ['asked', () => {}],
  ['asked', (_, response) => response.writeHead(502).write('Bad Gateway')],
  ['opened', (_, response) => response.writeHead(200, head).flushHeaders()],
])('a stream is closed if it is %s and silent for 15 s, because a proxy may buffer it', async (state, serve) => {
  const begun = await openAt(serve)
  const next = begun.stream.next()
  await begun[state]
  await demandEnd(next, 15_000)
})

it('a stream that has received a message may be silent for 45 s', async () => {
  const { stream } = await openAt((_, response) => void response.writeHead(200, head).write(event))
  expect(await stream.next()).toEqual({ done: false, value: { data: { a: 1 } } })
  await demandEnd(stream.next(), 45_000)
})

const page: RequestListener = (_, response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>')
const missing: RequestListener = (_, response) => void response.writeHead(404).end('default backend')
const cutAfterOne: RequestListener = (_, response) => void response.writeHead(200, head).end(event)

async function streamOver(...answers: RequestListener[]) {
  const { url } = await listening((request, response) => (answers.shift() ?? missing)(request, response))
  const client = createClient({ url, transports: ['sse'], sleep: () => new Promise((done) => setImmediate(done)) })
  closing.push(() => void client.close())
  return client.stream({ query: 'subscription { a }' })
}

it('a stream that has received a message reconnects after error pages of a proxy', async () => {
  const stream = await streamOver(cutAfterOne, page, missing, page, missing, page, cutAfterOne)
  for (let messages = 0; messages < 2; messages++) expect(await stream.next()).toMatchObject({ done: false })
  await stream.return()
})

it.each([page, missing])(
  'a stream that has received no message fails if the URL is not that of a Berth server',
  async (answer) => {
    const stream = await streamOver(answer)
    await expect(stream.next()).rejects.toMatchObject({ code: 'BAD_REQUEST', isForeign: true })
  },
)

it('a stream fails with the same message as a request if no server listens', async () => {
  const servers = createServers('http://127.0.0.1:1')
  const stream = subscribeOverSse(
    { servers, tokens: createTokens(undefined), onOpen: () => {} },
    { query: '{ a }' },
    leaving.signal,
  )
  const failure = await stream.next().catch((error: unknown) => error)
  const client = createClient({ url: 'http://127.0.0.1:1' })
  const { message } = (await client.request('{ a }', {}).catch((error: unknown) => error)) as Error
  expect(message).toMatch(/^No server answers at http:\/\/127\.0\.0\.1:1: ./)
  expect(failure).toMatchObject({ code: 'UNREACHABLE', message })
  await client.close()
})
