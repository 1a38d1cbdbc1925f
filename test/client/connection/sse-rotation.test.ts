import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Answer } from '../../../src/client/connection/http.ts'
import { hasFewConnections } from '../../../src/client/connection/http1-browser.ts'
import { rotateStreams } from '../../../src/client/connection/sse-rotation.ts'
import type { Open } from '../../../src/client/connection/streams.ts'

/** Streams of a page whose browser has six connections to the server. */
let leaving: AbortController
let now: number
let most: number
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  leaving = new AbortController()
  now = 0
  most = 0
})
afterEach(() => {
  leaving.abort()
  vi.useRealTimers()
})

interface Numbered {
  number: number
}

/** Each connection sends the message after the cursor, and then stays silent. */
const open: Open = async function* <Result>(...[{ variables }, signal, onOpen]: Parameters<Open>) {
  most = Math.max(most, ++now)
  try {
    onOpen()
    const { after = 0 } = variables as { after?: number }
    yield { data: { number: after + 1 } } as Answer<Result>
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  } finally {
    now -= 1
  }
}

function read(rotate: Open, { hasCursor = true } = {}) {
  const seen: number[] = []
  const variables: { after?: number } = {}
  const onOpen = vi.fn()
  const follow = async () => {
    for await (const { data } of rotate<Numbered>({ query: '', variables }, leaving.signal, onOpen)) {
      seen.push(data?.number ?? 0)
      if (hasCursor) variables.after = data?.number ?? 0
    }
  }
  follow().catch(() => {})
  return { seen, onOpen }
}

it('streams take turns if a page has fewer connections, and each resumes from its cursor', async () => {
  const rotate = rotateStreams(open, () => true)
  const streams = Array.from({ length: 9 }, () => read(rotate))
  await vi.advanceTimersByTimeAsync(65_000)
  expect(most).toBe(4)
  for (const { seen, onOpen } of streams) {
    expect(seen.length).toBeGreaterThan(1)
    expect(seen).toEqual(seen.map((_, index) => index + 1))
    expect(onOpen).toHaveBeenCalledTimes(1)
  }
})

it('a stream without a cursor keeps its connection when others take turns', async () => {
  const rotate = rotateStreams(open, () => true)
  const streams = Array.from({ length: 4 }, () => read(rotate, { hasCursor: false }))
  await vi.advanceTimersByTimeAsync(65_000)
  expect(streams.map(({ seen }) => seen)).toEqual(Array(4).fill([1]))
})

it('a stream that is closed while it waits does not take a connection', async () => {
  const rotate = rotateStreams(open, () => true)
  for (let n = 0; n < 4; n++) read(rotate)
  const left = new AbortController()
  const waiting = rotate({ query: '', variables: {} }, left.signal, () => {}).next()
  left.abort()
  await expect(waiting).rejects.toThrow()
  const { seen } = read(rotate)
  await vi.advanceTimersByTimeAsync(15_000)
  expect(seen).toEqual([1])
})

it('every stream has its own connection if the page has enough connections', async () => {
  const rotate = rotateStreams(open, () => false)
  const streams = Array.from({ length: 9 }, () => read(rotate))
  await vi.advanceTimersByTimeAsync(65_000)
  expect(most).toBe(9)
  expect(streams.map(({ seen }) => seen)).toEqual(Array(9).fill([1]))
})

it('the connections of a page are limited only in a browser over HTTP/1.1', () => {
  const [plain, secure] = [new URL('http://a.test/graphql'), new URL('https://a.test/graphql')]
  const pageOver = (nextHopProtocol: string) => ({
    location: {},
    performance: { getEntriesByName: () => [{ nextHopProtocol }] },
  })
  expect(hasFewConnections(plain)).toBe(false)
  expect(hasFewConnections(plain, pageOver(''))).toBe(true)
  expect(hasFewConnections(secure, pageOver('h2'))).toBe(false)
  expect(hasFewConnections(secure, pageOver('http/1.1'))).toBe(true)
})
