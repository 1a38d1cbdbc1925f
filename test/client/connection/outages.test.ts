import { describe, expect, it } from 'vitest'
import { RequestFailed } from '../../../src/client/connection/failure.ts'
import type { Answer, Operation } from '../../../src/client/connection/http.ts'
import { createOutages } from '../../../src/client/connection/outages.ts'
import { type Sleep, sleepFor } from '../../../src/client/connection/sleep.ts'
import { type Open, type Routes, streamAnswers, type Transport } from '../../../src/client/connection/streams.ts'
import { createTokens } from '../../../src/client/connection/tokens.ts'
import { createClient } from '../../../src/client/jobs/client.ts'
import { AnsweringSocket } from '../../support/answering-socket.ts'
import { until } from '../../support/until.ts'

/** The outages that a page sees while its client reconnects: one start and one end. */

const soon = () => new Promise<void>((resolve) => setImmediate(resolve))
const never = () => new Promise<never>(() => {})
/** Pauses between attempts end at once, but the 10 s after which a silent connection counts as good never end. */
const unsettled = (ms: number) => (ms === 10_000 ? never() : soon())

const message = { data: { jobUpdates: { __typename: 'StreamHeartbeat', cursor: 'c' } } }
const query = 'subscription { jobUpdates { ... on StreamHeartbeat { cursor } } }'

it('refused streams on open connections are one outage, which ends with the first message', async () => {
  const refusals = 6
  let asked = 0
  class Server extends AnsweringSocket {
    override subscribe(id: string) {
      if (asked++ < refusals) this.refuse(id)
      else this.answer({ type: 'next', id, payload: message })
    }
  }
  const client = createClient({ url: 'http://127.0.0.1:1', webSocket: Server, sleep: unsettled })
  const told: (string | undefined)[] = []
  client.onOutage(() => told.push(client.outage()?.code))
  const stream = client.stream({ query })
  expect((await stream.next()).value).toEqual(message)
  expect(told).toEqual([...Array(refusals).fill('UNAVAILABLE'), undefined])
  await stream.return()
  await client.close()
})

it('a stream above the limit of its user is retried with growing pauses until another stream ends', async () => {
  const refusals = 4
  let asked = 0
  class Server extends AnsweringSocket {
    override subscribe(id: string) {
      if (asked++ < refusals) this.refuse(id, 'SUBSCRIPTION_LIMIT')
      else this.answer({ type: 'next', id, payload: message })
    }
  }
  const client = createClient({ url: 'http://127.0.0.1:1', webSocket: Server, sleep: unsettled })
  const stream = client.stream({ query })
  expect((await stream.next()).value).toEqual(message)
  expect(asked).toBe(refusals + 1)
  await stream.return()
  await client.close()
})

it('an outage ends when a new connection stays open, even if no message arrives', async () => {
  let asked = 0
  class Server extends AnsweringSocket {
    override subscribe(id: string) {
      if (asked++ === 0) this.refuse(id)
    }
  }
  const settling: (() => void)[] = []
  const sleep = (ms: number) => (ms === 10_000 ? new Promise<void>((resolve) => settling.push(resolve)) : soon())
  const client = createClient({ url: 'http://127.0.0.1:1', webSocket: Server, sleep })
  const leave = new AbortController()
  const next = client.stream({ query }, leave.signal).next()
  await until(() => settling.length === 1, { what: 'the second connection is open' })
  expect(client.outage()?.code).toBe('UNAVAILABLE')
  settling[0]?.()
  await until(() => client.outage() === null, { what: 'the outage is over' })
  leave.abort()
  await expect(next).rejects.toThrow()
  await client.close()
})

it('an outage does not end when a connection opens and then fails again', async () => {
  const settling: (() => void)[] = []
  const outages = createOutages(() => new Promise((resolve) => settling.push(() => resolve(undefined))))
  const outage = outages.track()
  outage.opens()
  expect(settling).toEqual([]) // There is no outage that could be over.
  outage.begins(new RequestFailed('UNREACHABLE', 'first'))
  outage.opens()
  outage.begins(new RequestFailed('UNREACHABLE', 'second'))
  settling[0]?.()
  await soon()
  expect(outages.current()?.message).toBe('second')
})

it('a stream that waits for its next retry is retried at once when the machine is online again', async () => {
  const network = new EventTarget()
  const asleep: number[] = []
  const sleep: Sleep = (ms, signal) => {
    asleep.push(ms)
    return sleepFor(1_000_000, signal)
  }
  let tries = 0
  const closing = new AbortController()
  const stream = streamAnswers<object, { after?: string }>(
    {
      transports: ['sse'],
      async *websocket() {},
      async *sse<Result>() {
        if (++tries <= 5) throw new RequestFailed('UNREACHABLE', 'offline')
        yield message as Answer<Result>
      },
      tokens: createTokens(undefined),
      sleep,
      network,
      nowMs: () => 0,
      silence: { untilMs: 0 },
      outages: createOutages(never),
      closed: closing.signal,
    },
    { query, variables: {} },
    {},
  )
  const next = stream.next()
  for (let times = 1; times <= 5; times++) {
    await until(() => asleep.length === times, { what: `the stream waits, ${times}` })
    network.dispatchEvent(new Event('online'))
  }
  expect(await next).toEqual({ done: false, value: message })
  expect(Math.max(...asleep)).toBeLessThan(1_000)
  closing.abort()
  await stream.return()
})

it('many streams that wait for a retry cause no warnings of Node', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  process.on('warning', note)
  const client = createClient({ url: 'http://127.0.0.1:1', transports: ['sse'], sleep: never })
  const leave = new AbortController()
  const streams = Array.from({ length: 20 }, () => client.stream({ query }, leave.signal).next())
  let away = 0
  client.onOutage(() => away++)
  await until(() => away === 20, { what: 'every stream waits' })
  await soon()
  process.off('warning', note)
  expect(warnings).toEqual([])
  leave.abort()
  void Promise.allSettled(streams)
  await client.close()
})

describe('a stream over server-sent events after WebSockets failed', () => {
  const path = (works: Partial<Record<Transport, () => boolean>>) => {
    const tries: Transport[] = []
    const over = (transport: 'websocket' | 'sse'): Open =>
      async function* <Result>(_operation: Operation, signal: AbortSignal, onOpen: () => void) {
        tries.push(transport)
        if (!works[transport]?.()) throw new RequestFailed('UNREACHABLE', 'blocked')
        onOpen()
        signal.throwIfAborted()
        yield message as Answer<Result>
        throw new RequestFailed('UNREACHABLE', 'cut')
      }
    const closing = new AbortController()
    const routes: Routes = {
      transports: ['websocket', 'sse'],
      websocket: over('websocket'),
      sse: over('sse'),
      tokens: createTokens(undefined),
      sleep: soon,
      network: new EventTarget(),
      nowMs: () => 0,
      silence: { untilMs: 0 },
      outages: createOutages(never),
      closed: closing.signal,
    }
    return { tries, closing, stream: streamAnswers<object, { after?: string }>(routes, { query, variables: {} }, {}) }
  }

  it('returns to a WebSocket after an outage of the server', async () => {
    const { tries, closing, stream } = path({ websocket: () => tries.length > 4, sse: () => tries.length > 4 })
    await stream.next()
    expect(tries).toEqual(['websocket', 'websocket', 'websocket', 'sse', 'sse', 'websocket'])
    closing.abort()
    await stream.return()
  })

  it('tries a WebSocket once for each new connection while WebSockets are blocked', async () => {
    const { tries, closing, stream } = path({ sse: () => true })
    await stream.next()
    expect(tries).toEqual(['websocket', 'websocket', 'websocket', 'sse', 'websocket', 'sse'])
    await stream.next()
    expect(tries.slice(6)).toEqual(['sse', 'websocket', 'sse'])
    closing.abort()
    await stream.return()
  })
})

it('a polling stream tries other transports again without an outage or a pause', async () => {
  const unreachable: Open = async function* () {
    yield* []
    throw new RequestFailed('UNREACHABLE', 'blocked')
  }
  const tries: Transport[] = []
  const noted = (transport: Transport): Open =>
    async function* (...asked) {
      tries.push(transport)
      yield* unreachable(...asked)
    }
  const pauses: number[] = []
  const outages = createOutages(never)
  const told: (string | undefined)[] = []
  outages.onChange(() => told.push(outages.current()?.code))
  const closing = new AbortController()
  let nowMs = 0
  const stream = streamAnswers<object, { after?: string }>(
    {
      transports: ['websocket', 'sse', 'polling'],
      websocket: noted('websocket'),
      sse: noted('sse'),
      tokens: createTokens(undefined),
      sleep: async (ms) => void pauses.push(ms),
      network: new EventTarget(),
      nowMs: () => nowMs,
      silence: { untilMs: 0 },
      outages,
      closed: closing.signal,
    },
    { query, variables: {} },
    {
      async *poll() {
        for (;;) {
          tries.push('polling')
          yield {}
          nowMs += 40_000
        }
      },
    },
  )
  await stream.next()
  expect(tries).toEqual(['websocket', 'websocket', 'websocket', 'sse', 'sse', 'sse', 'polling'])
  const [toldBefore, pausesBefore] = [told.length, pauses.length]
  tries.length = 0
  for (let n = 0; n < 4; n++) await stream.next()
  // The first answer shows that a server is there.
  expect(tries).toEqual(['websocket', 'sse', 'polling', 'polling', 'polling', 'websocket', 'sse', 'polling'])
  expect([told.length, pauses.length]).toEqual([toldBefore, pausesBefore])
  closing.abort()
  await stream.return()
})

it('once a stream of server-sent events stays silent, it and later streams poll instead', async () => {
  const tries: Transport[] = []
  const closing = new AbortController()
  let nowMs = 0
  const routes: Routes = {
    transports: ['sse', 'polling'],
    async *sse() {
      tries.push('sse')
      yield* []
      throw new RequestFailed('UNREACHABLE', 'silent', { isSilent: true })
    },
    tokens: createTokens(undefined),
    sleep: soon,
    network: new EventTarget(),
    nowMs: () => nowMs,
    silence: { untilMs: 0 },
    outages: createOutages(never),
    closed: closing.signal,
  }
  const open = () =>
    streamAnswers<object, { after?: string }>(
      routes,
      { query, variables: {} },
      {
        async *poll() {
          for (;;) {
            tries.push('polling')
            yield {}
          }
        },
      },
    )
  const first = open()
  await first.next()
  const second = open()
  await second.next()
  nowMs = 59_000
  await first.next()
  expect(tries).toEqual(['sse', 'polling', 'polling', 'polling'])
  nowMs = 600_000
  const third = open()
  await third.next()
  expect(tries.slice(4)).toEqual(['sse', 'polling'])
  closing.abort()
  await Promise.all([first, second, third].map((stream) => stream.return()))
})

it('a request that waits for its next attempt is reported as an outage', async () => {
  const told: (string | undefined)[] = []
  const client = createClient({ url: 'http://127.0.0.1:1', sleep: soon })
  client.onOutage(() => told.push(client.outage()?.code))
  await expect(client.request('{ serverInfo { release } }', {}, { attempts: 3 })).rejects.toThrow('No server answers')
  expect(told).toEqual(['UNREACHABLE', 'UNREACHABLE', undefined])
  told.length = 0
  await expect(client.request('{ serverInfo { release } }', {})).rejects.toThrow('No server answers')
  expect(told).toEqual([])
  await client.close()
})
