import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { createWriteCoalescer } from '../../../src/graphql/transport/write-coalescing.ts'
import { collectAcceptedSockets } from '../../support/connections.ts'
import { startServer } from '../../support/server.ts'

it('writes in one iteration of the event loop are combined into one', async () => {
  const calls: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      calls.push(chunk)
      done()
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => chunk).join(' '))
      done()
    },
  })
  const cork = createWriteCoalescer(stream)
  for (const text of ['one', 'two', 'three']) {
    cork()
    stream.write(text)
  }
  expect(calls).toEqual([])
  await turn()
  expect(calls).toEqual(['one two three'])
  cork()
  stream.write('four')
  await turn()
  expect(calls).toEqual(['one two three', 'four'])
})

/** Counts the system calls of a connection. */
function countWrites(socket: Socket): () => number {
  let count = 0
  const writev = socket._writev?.bind(socket)
  socket._writev = (chunks, done) => {
    count += 1
    writev?.(chunks, done)
  }
  return () => count
}

it('messages of many subscriptions of a WebSocket are combined into few writes', async () => {
  await using server = await startServer()
  const jobId = await server.submit()
  const client = createClient({ url: `${server.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket })
  const query = 'subscription ($jobId: ID!) { jobStatus(jobId: $jobId) { __typename } }'
  const streams = Array.from({ length: 50 }, () => client.iterate({ query, variables: { jobId } }))
  const { accepted } = await collectAcceptedSockets(() => Promise.all(streams.map((stream) => stream.next())))
  const writes = accepted.map(countWrites)

  await cancelJob(server.domain, server.admin, { jobId })
  for (const stream of streams) for await (const { data } of stream) expect(data).toBeTruthy()
  const written = writes.reduce((sum, count) => sum + count(), 0)
  expect(written).toBeGreaterThan(0)
  expect(written).toBeLessThan(streams.length / 2)
})
