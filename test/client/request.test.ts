import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { TypedDocumentString } from '../../src/client/generated/graphql.ts'
import { retryWaitMs } from '../../src/client/retry.ts'
import { connect } from '../../src/client/transport.ts'

const document = new TypedDocumentString<{ answer: unknown }, { n: number }>('query ($n: Int) { answer(n: $n) }')

let server: Server | undefined
const waits: number[] = []

/** A server that gives these answers, one after the other, the last for ever. */
async function serve(...answers: { status?: number; body: unknown }[]) {
  let given = 0
  const listener: RequestListener = (request, response) => {
    const { status = 200, body } = answers[Math.min(given++, answers.length - 1)] ?? { body: null }
    request.resume()
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  server = createServer(listener)
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sleep = async (ms: number) => waits.push(ms)
  return { connection: connect({ url, sleep }), given: () => given }
}

afterEach(async () => {
  waits.length = 0
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
})

const refusal = (code: string) => ({ body: { errors: [{ message: 'no', extensions: { code, requestId: 'r1' } }] } })
const answered = { body: { data: { answer: 42 } } }

describe('a request', () => {
  it('answers the data', async () => {
    const { connection } = await serve(answered)
    expect(await connection.request(document, { n: 1 })).toEqual({ answer: 42 })
  })

  it('is tried again while the refusal is retryable', async () => {
    const problem = { body: { data: { answer: { __typename: 'UnavailableProblem', retryable: true } } } }
    const { connection, given } = await serve(refusal('UNAVAILABLE'), problem, answered)
    expect(await connection.request(document, { n: 1 }, { attempts: 5 })).toEqual({ answer: 42 })
    expect(given()).toBe(3)
    expect(waits).toHaveLength(2)
  })

  it('gives up after its attempts, with the refusal', async () => {
    const { connection, given } = await serve(refusal('UNAVAILABLE'))
    await expect(connection.request(document, { n: 1 }, { attempts: 3 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      requestId: 'r1',
      retryable: true,
    })
    expect(given()).toBe(3)
  })

  it.each(['INVALID_INPUT', 'FORBIDDEN', 'INTERNAL_SERVER_ERROR'])('is never tried again after %s', async (code) => {
    const { connection, given } = await serve(refusal(code))
    await expect(connection.request(document, { n: 1 }, { attempts: 5 })).rejects.toMatchObject({ code })
    expect(given()).toBe(1)
  })

  it('is tried once unless asked otherwise', async () => {
    const { connection, given } = await serve(refusal('UNAVAILABLE'))
    await expect(connection.request(document, { n: 1 })).rejects.toThrow()
    expect(given()).toBe(1)
  })

  it.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL_SERVER_ERROR'],
    [502, 'UNREACHABLE'],
  ])('understands a plain %i as %s', async (status, code) => {
    const { connection } = await serve({ status, body: 'plain words' })
    await expect(connection.request(document, { n: 1 })).rejects.toMatchObject({ code })
  })

  it('says so when nobody listens', async () => {
    const { connection } = await serve(answered)
    await new Promise((resolve) => server?.close(resolve))
    server = undefined
    await expect(connection.request(document, { n: 1 })).rejects.toMatchObject({ code: 'UNREACHABLE', retryable: true })
  })
})

describe('the wait', () => {
  it('is random up to 1, 2, 4 … 30 s', () => {
    for (const [attempt, max] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries())
      for (let i = 0; i < 50; i++) expect(retryWaitMs(attempt)).toBeLessThanOrEqual(max)
  })
})
