import { afterEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from '../../../src/client/connection/connection.ts'
import { advancing } from '../../../src/client/connection/resume.ts'
import { TypedDocumentString } from '../../../src/client/generated/graphql.ts'
import { freePort } from '../../support/berth-server.ts'
import { type StreamOptions, type StreamServer, startStreamServer } from '../../support/stream-server.ts'
import { until } from '../../support/until.ts'

interface Counted {
  count: { number: number; cursor: string }
}
const document = new TypedDocumentString<Counted, { after?: string | null; lastLines?: number | null }>(
  'subscription ($after: String, $lastLines: Int) { count(after: $after, lastLines: $lastLines) { number cursor filling } }',
)

let server: StreamServer | undefined
let connection: Connection | undefined

async function open(options: StreamOptions) {
  server = await startStreamServer(options)
  // Attempts follow without waits, on which the results do not depend.
  connection = openConnection({ url: server.url, sleep: async () => undefined })
  return { server, connection }
}

afterEach(async () => {
  await connection?.close()
  await server?.close()
  connection = undefined
  server = undefined
})

const numbersTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

describe('a stream', () => {
  it('ends when the server completes it', async () => {
    const { connection } = await open({ last: 5 })
    const seen: number[] = []
    for await (const { count } of connection.subscribe(document, {})) seen.push(count.number)
    expect(seen).toEqual(numbersTo(5))
  })

  it('loses and repeats no message if its connection is lost repeatedly', async () => {
    const { server, connection } = await open({ last: 2_000 })
    const seen: number[] = []
    for await (const { count } of connection.subscribe(document, { lastLines: 7 })) {
      seen.push(count.number)
      if (seen.length % 300 === 0) server.cut()
    }
    expect(seen).toEqual(numbersTo(2_000))
    expect(server.asked.length).toBeGreaterThan(3)
    expect(server.asked[0]).toEqual({ lastLines: 7 })
    expect(server.asked.slice(1).every(({ after, lastLines }) => after && lastLines === undefined)).toBe(true)
  })

  it('ends without an error when its client is closed while the server is unreachable', async () => {
    connection = openConnection({ url: `http://127.0.0.1:${await freePort()}`, sleep: async () => undefined })
    const next = connection.subscribe(document, {}).next()
    await expect(connection.close()).resolves.toBeUndefined()
    expect(await next).toEqual({ done: true, value: undefined })
  })

  it('reconnects if the server reports an outage of its database', async () => {
    const { server, connection } = await open({ last: 300, awayEvery: 100 })
    const seen: number[] = []
    for await (const { count } of connection.subscribe(document, {})) seen.push(count.number)
    expect(seen).toEqual(numbersTo(300))
    expect(server.asked.length).toBeGreaterThan(4)
  })

  it('resumes after the last received message, even if the caller has not read it yet', async () => {
    const { server, connection } = await open({ last: 50 })
    const stream = connection.subscribe(document, {})
    const seen = [(await stream.next()).value?.count.number]
    await until(() => server.sent() === 50, { what: 'everything was sent' })
    server.cut()
    for await (const { count } of stream) seen.push(count.number)
    expect(seen).toEqual(numbersTo(50))
  })

  it('applies backpressure while the caller does not read, and continues afterwards', async () => {
    const last = 2_000
    const { server, connection } = await open({ last, padding: 64 * 1024 })
    const stream = connection.subscribe(document, {})
    await stream.next()
    // The sockets' buffers are full: the server has stopped long before the end.
    let before = -1
    await until(
      () => {
        const stopped = server.sent() === before
        before = server.sent()
        return stopped && before > 0
      },
      { what: 'the server stops sending' },
    )
    expect(before).toBeLessThan(last)
    let read = 1
    for await (const { count } of stream) expect(count.number).toBe(++read)
    expect(read).toBe(last)
  })

  it.each([4401, 4403])('fails without a retry if the server closes the WebSocket with %i', async (closeCode) => {
    const { connection } = await open({ last: 1, closeCode })
    await expect(connection.subscribe(document, {}).next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  it('reports the URL of the server if no WebSocket can be opened', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    connection = openConnection({ url, sleep: async () => undefined, transports: ['websocket'] })
    const outage = new Promise((resolve) => connection?.onOutage(() => resolve(connection?.outage()?.message)))
    void connection.subscribe(document, {}).next()
    expect(await outage).toBe(`No WebSocket can be opened to ${url}/graphql`)
  })

  it('fails with the errors of its operation', async () => {
    const { connection } = await open({ last: 1 })
    const wrong = new TypedDocumentString<Counted, object>('subscription { nothing }')
    await expect(connection.subscribe(wrong, {}).next()).rejects.toThrow(/Cannot query field/)
  })
})

describe('advancing() of the variables of a stream', () => {
  it('sets the cursor in the object that is sent at the next connection', () => {
    const moving = advancing({ jobId: 'job_1', lastLines: 3 })
    const { variables } = moving
    moving.advance({ tail: { cursor: 'c1' } })
    moving.advance({ tail: null })
    expect(variables).toEqual({ jobId: 'job_1', after: 'c1' })
  })
})
