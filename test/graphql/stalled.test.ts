import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createAnswerWatch } from '../../src/graphql/stalled.ts'
import { openLog } from '../../src/logs/append.ts'
import { data } from '../support/client.ts'
import { append } from '../support/log.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const readers: Socket[] = []
const responses: ServerResponse[] = []
/** More than the buffers of the two kernels hold. */
const answerBytes = 16 * 1024 * 1024
const http = createServer((request, response) => {
  responses.push(response)
  watchAnswer(request.url ?? '', response)
  response.end(Buffer.alloc(answerBytes))
})
let watchAnswer: ReturnType<typeof createAnswerWatch>

beforeEach(() => new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve)))
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.destroy()
  responses.length = 0
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
})

/** It asks, and reads nothing. */
function reader(port: number, request: string): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  readers.push(socket.on('error', () => undefined).pause())
  socket.write(request)
  return socket
}

async function asked(user: string): Promise<ServerResponse> {
  const { length } = responses
  reader((http.address() as AddressInfo).port, `GET ${user} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await until(() => responses.length > length, { what: 'the answer is begun' })
  return responses.at(-1) as ServerResponse
}

const hourMs = 3_600_000

it('of a user whose answers wait with too many bytes the oldest is cut, and of others none', async () => {
  watchAnswer = createAnswerWatch(hourMs, 2.5 * answerBytes)
  const [first, other, second, third] = [
    await asked('/ann'),
    await asked('/bob'),
    await asked('/ann'),
    await asked('/ann'),
  ]
  await until(() => first.destroyed, { what: 'the first is cut' })
  expect([other, second, third].map(({ destroyed }) => destroyed)).toEqual([false, false, false])
})

it('an answer whose reader takes nothing is cut', async () => {
  watchAnswer = createAnswerWatch(50)
  const response = await asked('/ann')
  await until(() => response.destroyed, { what: 'it is cut' })
})

it('so is an answer of the API', async () => {
  await using server = await startServer({ keepAliveMs: 50 })
  const jobId = await server.submit()
  const { job } = await data(server.url, 'query ($id: ID!) { job(id: $id) { currentRun { id } } }', { id: jobId })
  const head = await openLog(server.domain.db.sql, job.currentRun.id)
  const pieces = [{ stream: 'STDOUT', bytes: Buffer.alloc(2 ** 20, `${'x'.repeat(1_000)}\n`) }] as const
  await append(server.domain.db.sql, head, { pieces, position: null, bytesMax: 2 ** 30 })
  const pages = Array.from({ length: 16 }, (_, n) => `p${n}: job(id: "${jobId}") { logs(first: 5000) { text } }`)
  const body = JSON.stringify({ query: `{ ${pages.join(' ')} }` })
  let response: ServerResponse | undefined
  const hear = (message: unknown) => {
    response = (message as { response: ServerResponse }).response
  }
  subscribe('http.server.request.start', hear)
  const fields = 'POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json'
  reader(Number(new URL(server.url).port), `${fields}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await until(() => response?.destroyed, { what: 'it is cut' })
  unsubscribe('http.server.request.start', hear)
  expect(response?.writableFinished).toBe(false)
})
